#include "pipelines/tasks/segmentation/training_sides.h"

namespace voxshard {

TrainingSides::TrainingSides(const PreparePlan& plan)
    : names_(plan.class_names),
      orientation_(plan.orientation),
      pairs_(side_pairs(plan.class_names)),
      named_(pairs_.size()) {
  fitted_.rule.classes = plan.classes();
}

void TrainingSides::add_placed(const std::vector<CasePlaces>& cases) {
  const std::vector<SidePair> placed = pairs_by_place(cases, pairs_);
  pairs_.insert(pairs_.end(), placed.begin(), placed.end());
}

std::vector<std::string> TrainingSides::notes() const {
  std::vector<std::string> notes;
  for (std::size_t i = named_; i < pairs_.size() && settled_.value_or(Sides::kKeep) != Sides::kKeep; ++i)
    notes.push_back("sides: " + pair_text(pairs_[i], names_) +
                    " lie as left and right do in the training cases; their names do not say it");
  const std::vector<std::string> fitted = to_text(fitted_, names_);
  notes.insert(notes.end(), fitted.begin(), fitted.end());
  return notes;
}

void TrainingSides::settle(Sides sides, std::size_t cases, const std::function<CaseSides(std::size_t)>& case_at) {
  if (settled_ == sides) return;
  settled_ = sides;
  fitted_ = {.rule = {.classes = static_cast<int>(names_.size()), .pairs = {}}, .kept = {}};
  if (sides == Sides::kKeep || pairs_.empty()) return;
  std::vector<CaseSides> places;
  for (std::size_t item = 0; item < cases; ++item) places.push_back(case_at(item));
  fitted_ = fit_sides(places, pairs_, sides);
}

/// Letters of the orientation are those of x, y, z, while axes are listed as D, H, W: letter a belongs to axis 2 - a.
/// Where orientations were kept, any axis may run from left to right.
TrainingSides::Mirrored TrainingSides::left_to_right() const {
  const std::size_t a = orientation_.find_first_of("LR");
  if (orientation_ == "keep" || a > 2) return {true, true, true};
  Mirrored axes{};
  axes[2 - a] = true;
  return axes;
}

TrainingSides::Mirrored TrainingSides::mirrored(Mirrored asked) const {
  if (settled_.value_or(Sides::kKeep) == Sides::kKeep || fitted_.kept.empty()) return asked;
  for (std::size_t a = 0; a < 3; ++a) asked[a] = asked[a] && !left_to_right()[a];
  return asked;
}

std::vector<std::string> TrainingSides::warnings(const Mirrored& asked) const {
  const Mirrored sides = left_to_right();
  if (!((asked[0] && sides[0]) || (asked[1] && sides[1]) || (asked[2] && sides[2]))) return {};
  const bool keeps = settled_.value_or(Sides::kKeep) == Sides::kKeep;
  if (keeps && !pairs_.empty()) {
    const auto name_of = [&](int label) { return names_.at(label); };
    return mirror_warnings_of(name_of(pairs_.front().left), name_of(pairs_.front().right), {"{flip}"});
  }
  if (keeps || fitted_.kept.empty()) return one_sided_warnings(names_, {"{flip}"});
  return {
      "W_MIRROR {flip} is off along the axis from left to right: " + pair_text(fitted_.kept.front().classes, names_) +
      " stay two classes, and what is mirrored would teach the wrong one"};
}

}  // namespace voxshard
