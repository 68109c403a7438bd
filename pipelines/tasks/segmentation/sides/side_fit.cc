#include "pipelines/tasks/segmentation/sides/side_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/segmentation/sides/placed_pairs.h"

namespace voxshard {
namespace {

constexpr std::int64_t kMostVoxels = 256;  // of a sided class in a case
constexpr std::size_t kMostCases = 200;
constexpr std::size_t kFewestCases = 3;   // from which `auto` judges a pair
constexpr std::size_t kFewestOfMark = 5;  // cases in which a class must lie to be a mark, or all if they are fewer
constexpr std::size_t kMostMarks = 8;     // classes; beyond the third they stand in for those that are not there
constexpr double kBorder = 0.01;          // share of the voxels beyond the border of a class: stray ones
constexpr double kLeastOfAll = 0.995, kLeastOfCase = 0.95;
constexpr double kNormal = 1.4826;  // standard deviation / median absolute deviation of a normal distribution

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

const std::vector<float>& x_of(const CaseSides& item, int label) { return item.x_mm.at(label); }

const std::optional<ClassPlace>& place_of(const CaseSides& item, int label) { return item.marks.classes.at(label); }

/// Returns x half-way between the inner borders of the two, where a plane has most room on both sides.
double between(const CaseSides& item, const SidePair& pair) {
  const std::vector<float>&left = x_of(item, pair.left), &right = x_of(item, pair.right);
  const auto beyond = [](const std::vector<float>& x) {
    return static_cast<std::size_t>(kBorder * static_cast<double>(x.size()));
  };
  return (static_cast<double>(left[beyond(left)]) + static_cast<double>(right[right.size() - 1 - beyond(right)])) / 2;
}

class PairFit {
 public:
  PairFit(const std::vector<CaseSides>& cases, const SidePair& pair, const std::vector<SidePair>& pairs)
      : pair_(pair), is_mark_(cases.front().x_mm.size(), true) {
    for (const SidePair& one : pairs)
      for (const int label : {one.left, one.right}) is_mark_[label] = false;
    std::vector<const CaseSides*> all;
    for (const CaseSides& item : cases)
      if (!x_of(item, pair.left).empty() && !x_of(item, pair.right).empty()) all.push_back(&item);
    const std::size_t taken = std::min(all.size(), kMostCases);
    for (std::size_t i = 0; i < taken; ++i) both_.push_back(all[i * all.size() / taken]);
    for (const CaseSides* item : both_) between_.push_back(between(*item, pair_));
    if (both_.size() > 1) shares_ = measured();
  }

  std::size_t cases() const { return both_.size(); }
  std::size_t cases_other_way_round() const {
    return static_cast<std::size_t>(std::ranges::count_if(both_, [&](const CaseSides* item) {
      return place_of(*item, pair_.left)->centre_mm <= place_of(*item, pair_.right)->centre_mm;
    }));
  }

  SidedPair fitted() const {
    SidedPair fitted{.classes = pair_, .marks = marks_without(kNone), .cases = static_cast<int>(cases())};
    if (shares_) fitted.own_side_share = shares_->all;
    return fitted;
  }

  /// The share of the volume on its own side, each case judged by the others.
  struct Shares {
    double all = 0, least = 1;  // of all cases together, of the worst case
  };
  /// Returns the shares; none for a single case.
  const std::optional<Shares>& shares() const { return shares_; }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// Requires two cases.
  Shares measured() const {
    Shares shares;
    double volume = 0, proper = 0;
    for (std::size_t i = 0; i < cases(); ++i) {
      const double plane = plane_mm(marks_without(i), both_[i]->marks);
      double of_case = 0, proper_of_case = 0;
      for (const int label : {pair_.left, pair_.right}) {
        const std::vector<float>& x = x_of(*both_[i], label);
        const auto first_left =
            std::ranges::lower_bound(x, plane, {}, [](float at) { return static_cast<double>(at); });
        const auto left = static_cast<double>(x.end() - first_left) / static_cast<double>(x.size());
        const double mm3 = place_of(*both_[i], label)->volume_mm3;
        of_case += mm3, proper_of_case += mm3 * (label == pair_.left ? left : 1 - left);
      }
      shares.least = std::min(shares.least, proper_of_case / of_case);
      volume += of_case, proper += proper_of_case;
    }
    shares.all = proper / volume;
    return shares;
  }

  /// Returns the marks by all cases but one.
  std::vector<SideMark> marks_without(std::size_t skipped) const {
    std::vector<SideMark> marks;
    for (int c = 1; c < static_cast<int>(is_mark_.size()); ++c)
      if (is_mark_[c])
        if (const auto mark = mark_without(skipped, c)) marks.push_back(*mark);
    std::ranges::stable_sort(marks, {}, &SideMark::deviation_mm);
    if (marks.size() > kMostMarks) marks.resize(kMostMarks);
    marks.push_back(*mark_without(skipped, 0));
    return marks;
  }

  std::optional<SideMark> mark_without(std::size_t skipped, int of) const {
    std::vector<double> offsets, volumes;
    std::size_t others = 0;
    for (std::size_t i = 0; i < both_.size(); ++i) {
      if (i == skipped) continue;
      ++others;
      if (of == 0) {
        offsets.push_back(between_[i] - both_[i]->marks.middle_mm), volumes.push_back(0);
      } else if (const auto& place = place_of(*both_[i], of)) {
        offsets.push_back(between_[i] - place->centre_mm), volumes.push_back(place->volume_mm3);
      }
    }
    if (offsets.empty() || offsets.size() < std::min(kFewestOfMark, others)) return std::nullopt;
    SideMark mark{.of = of, .offset_mm = median(offsets), .usual_mm3 = median(std::move(volumes))};
    for (double& offset : offsets) offset = std::abs(offset - mark.offset_mm);
    mark.deviation_mm = kNormal * median(std::move(offsets));
    return mark;
  }

  SidePair pair_;
  std::vector<bool> is_mark_;           // by class of the data
  std::vector<const CaseSides*> both_;  // the cases that have both sides
  std::vector<double> between_;         // of each of these
  std::optional<Shares> shares_;
};

std::string percent_text(double share) { return fixed_text(100 * share, 1) + " %"; }

/// Returns why a pair stays two classes; nothing when it is joined.
std::optional<std::string> why_kept(const PairFit& fit, Sides sides) {
  const std::string of = " of the " + std::to_string(fit.cases()) + " training cases that have both";
  if (fit.cases() == 0) return "no training case has both";
  const std::size_t turned = fit.cases_other_way_round();
  if (turned > (sides == Sides::kJoin ? fit.cases() / 2 : 0))
    return "they lie the other way round in " + std::to_string(turned) + of;
  if (sides == Sides::kJoin) return std::nullopt;
  if (fit.cases() < kFewestCases)
    return "only " + std::to_string(fit.cases()) + " training cases have both, too few to judge by";
  const PairFit::Shares shares = *fit.shares();
  if (shares.all < kLeastOfAll)
    return "no plane tells them apart: " + percent_text(shares.all) + " of their volume lies on its own side";
  if (shares.least < kLeastOfCase)
    return "no plane tells them apart: in one" + of + ", " + percent_text(shares.least) +
           " of their volume lies on its own side";
  return std::nullopt;
}

}  // namespace

CaseSides case_sides(const Geometry& grid, std::span<const Tensor> rows, std::span<const std::int64_t> class_voxels,
                     const std::vector<SidePair>& pairs) {
  const CasePlaces places = case_places(grid, rows, class_voxels);
  CaseSides sides{.marks = {.middle_mm = places.middle_mm,
                            .classes = std::vector<std::optional<ClassPlace>>(places.classes.size())},
                  .x_mm = std::vector<std::vector<float>>(rows.size())};
  for (std::size_t c = 1; c < rows.size(); ++c) {
    const auto& place = places.classes[c];
    if (!place) continue;
    sides.marks.classes[c] = {.centre_mm = place->centre_mm[0], .volume_mm3 = place->volume_mm3};
    const int label = static_cast<int>(c);
    if (std::ranges::none_of(pairs, [&](const SidePair& p) { return p.left == label || p.right == label; })) continue;
    const std::int64_t count = rows[c].shape()[0], taken = std::min(count, kMostVoxels);
    for (std::int64_t i = 0; i < taken; ++i) {
      const std::int32_t* zyx = rows[c].as<std::int32_t>() + 3 * (i * count / taken);
      const auto at = [&](int axis) { return static_cast<double>(zyx[axis]); };
      sides.x_mm[c].push_back(static_cast<float>(grid.world({at(2), at(1), at(0)})[0]));
    }
    std::ranges::sort(sides.x_mm[c]);
  }
  return sides;
}

FittedSides fit_sides(const std::vector<CaseSides>& cases, const std::vector<SidePair>& pairs, Sides sides) {
  ensure(!cases.empty(), "sides are fitted to at least one case");
  FittedSides fitted{.rule = {.classes = static_cast<int>(cases.front().x_mm.size()), .pairs = {}}, .kept = {}};
  if (sides == Sides::kKeep) return fitted;
  for (const SidePair& pair : pairs) {
    const PairFit fit(cases, pair, pairs);
    if (auto why = why_kept(fit, sides))
      fitted.kept.push_back({pair, std::move(*why)});
    else
      fitted.rule.pairs.push_back(fit.fitted());
  }
  return fitted;
}

std::vector<std::string> to_text(const FittedSides& fitted, const std::vector<std::string>& names) {
  std::vector<std::string> lines;
  for (const SidedPair& pair : fitted.rule.pairs)
    lines.push_back(
        "sides: " + pair_text(pair.classes, names) +
        " are trained as one class, and told apart in predictions by a plane across x (LPS) that is placed by " +
        marks_text(pair, names) +
        (pair.own_side_share
             ? "; " + percent_text(*pair.own_side_share) + " of their volume in " + std::to_string(pair.cases) +
                   " training cases lies on its own side, each case judged by the others"
             : ""));
  for (const KeptPair& kept : fitted.kept)
    lines.push_back("sides: " + pair_text(kept.classes, names) + " stay two classes: " + kept.why);
  return lines;
}

}  // namespace voxshard
