#include "pipelines/tasks/segmentation/largest_parts.h"

#include <algorithm>

#include "io/files/file_name.h"
#include "io/volume/largest_component.h"
#include "libcore/base/error.h"
#include "libcore/base/text.h"
#include "pipelines/settings/word_list.h"

namespace voxshard {

LargestParts::LargestParts(const std::string& largest, const std::vector<std::string>& classes,
                           const std::optional<QualityRanges>& usual)
    : classes_(classes), chosen_(classes.size(), largest == "all"), auto_(largest == kLargestAuto) {
  if (!chosen_.empty()) chosen_[0] = 0;
  if (auto_ && usual)
    for (std::size_t c = 1; c < std::min(chosen_.size(), usual->classes.size()); ++c)
      chosen_[c] = usual->classes[c].enough() && usual->classes[c].parts == 1;
  if (largest != "all" && largest != "none" && !auto_)
    for (const std::string& name : split_words(largest, ',')) {
      const auto found = std::find(classes_.begin(), classes_.end(), name);
      if (found == classes_.end() || found == classes_.begin())
        throw Error(ErrorKind::kUsage, "[predict] {largest} names \"" + shown_name(name) +
                                           "\", which is no class of the run; expected auto, none, all, or of " +
                                           joined(std::vector(classes_.begin() + 1, classes_.end()), ","));
      chosen_[found - classes_.begin()] = 1;
    }
  any_ = std::ranges::find(chosen_, 1) != chosen_.end();
}

namespace {

/// The step of a label map: LargestComponents, slab by slab.
class LargestStep : public SlabStep {
 public:
  LargestStep(const std::vector<char>& of_class, std::int64_t left_bytes, double kept_above)
      : components_(of_class, left_bytes, kept_above) {}

  void see(const TensorView& slab) override { components_.see(slab); }
  void seen() override { components_.seen(); }
  void rewrite(const TensorView& slab) override { components_.rewrite(slab); }
  const std::vector<std::int64_t>& removed() const { return components_.removed(); }

 private:
  LargestComponents components_;
};

}  // namespace

std::string LargestParts::choice_text() const {
  if (!auto_ || !any_) return "";
  std::vector<std::string> names;
  for (std::size_t c = 1; c < chosen_.size(); ++c)
    if (chosen_[c]) names.push_back(shown_name(classes_[c]));
  return "islands of " + joined(names, ", ") +
         ", of up to half the size of the largest part, are removed: no training case has a second part "
         "({largest} none keeps them)";
}

std::string LargestParts::keep(const LabelSlabs& labels, std::int64_t left_bytes) const {
  if (!any_) return "";
  LargestStep step(chosen_, left_bytes, auto_ ? kIslandShare : 1);
  rewrite_slabs(labels, {&step});
  const std::vector<std::int64_t>& removed = step.removed();
  std::string text;
  for (std::size_t c = 0; c < removed.size(); ++c)
    if (removed[c] > 0)
      text += (text.empty() ? "voxels of smaller parts removed: " : ", ") + std::to_string(removed[c]) + " of " +
              shown_name(classes_[c]);
  return text;
}

}  // namespace voxshard
