// Rules of the recipe for samples with a class.
#include <algorithm>

#include "libcore/base/text.h"
#include "pipelines/settings/recipe_rules.h"

namespace voxshard {
namespace {

/// Returns the learning rate of SGD: that for 256 images a step (He et al. 2016), scaled linearly (Goyal et al. 2017).
std::optional<Chosen> class_rate(const RecipeFacts& f) {
  if (is_adam(f)) return std::nullopt;
  return Chosen{0.1 * static_cast<double>(f.batch) / 256,
                "of sgd, 0.1 at 256 samples a step, in proportion to " + std::to_string(f.batch)};
}

/// Returns the warm-up; none for models whose published schedule has none.
std::optional<Chosen> class_warmup(const RecipeFacts& f) {
  if (std::ranges::count(f.fields, "base-filters") == 0) return std::nullopt;
  return warmup_rule(f);
}

constexpr Rule kClassRules[] = {{"learning-rate", false, class_rate}, {"warmup-steps", false, class_warmup}};

}  // namespace

std::span<const Rule> rules_of_classes() { return kClassRules; }

}  // namespace voxshard
