// Rules of the recipe for samples with a class.
#include <algorithm>

#include "libcore/base/text.h"
#include "pipelines/settings/recipe_rules.h"

namespace voxshard {
namespace {

/// True for models whose published schedule has a rate and no warm-up.
bool has_schedule(const RecipeFacts& f) { return std::ranges::count(f.fields, "base-filters") == 0; }

/// Steps up to which Adam learns better with higher rates than the reference's 0.001. Motions are not learned in 300
/// steps with 0.001 (accuracy 0.29), with 0.004 they are (0.93), with 0.01 better (0.99); slabs in 300 steps are as
/// good with each; cells are as good with 0.01 as with 0.004 in 100 steps, and better with 0.004 in 400 and 1000. Of
/// longer runs nothing is known (data/README.md).
constexpr std::int64_t kMostOfHighRate = 300, kMostOfMiddleRate = 1000;

/// Returns the learning rate; that of SGD is for 256 images a step (He et al. 2016), scaled linearly (Goyal et al.
/// 2017).
std::optional<Chosen> class_rate(const RecipeFacts& f) {
  if (is_adam(f) && !has_schedule(f) && f.steps <= kMostOfMiddleRate)
    return Chosen{f.steps <= kMostOfHighRate ? 0.01 : 0.004,
                  "adam, in only " + steps_text(f.steps) + ", behind a warm-up"};
  if (!is_sgd(f)) return std::nullopt;
  return Chosen{0.1 * static_cast<double>(f.batch) / 256,
                "of sgd, 0.1 at 256 samples a step, in proportion to " + std::to_string(f.batch)};
}

std::optional<Chosen> class_warmup(const RecipeFacts& f) {
  if (has_schedule(f)) return std::nullopt;
  return warmup_rule(f);
}

constexpr Rule kClassRules[] = {{"learning-rate", false, class_rate}, {"warmup-steps", false, class_warmup}};

}  // namespace

std::span<const Rule> rules_of_classes() { return kClassRules; }

}  // namespace voxshard
