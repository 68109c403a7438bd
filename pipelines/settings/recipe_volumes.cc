// Rules of the recipe for volumes with labels in their voxels.
#include <algorithm>

#include "libcore/base/text.h"
#include "pipelines/settings/recipe_rules.h"

namespace voxshard {
namespace {

std::string samples_text(std::int64_t samples) {
  return std::to_string(samples) + (samples == 1 ? " sample" : " samples");
}

/// Smallest batch for which a batch norm's statistics are close to those of the data (Wu and He 2018, group
/// normalization, figure 1).
constexpr std::int64_t kFewestOfBatchNorm = 16;
/// Steps after which running statistics with momentum 0.99 no longer depend on their initial values.
constexpr std::int64_t kStepsOfBatchNorm = 1000;

std::optional<Chosen> norm(const RecipeFacts& f) {
  if (f.norm_samples < kFewestOfBatchNorm)
    return chosen_word("instance",
                       "a batch norm would have the statistics of " + samples_text(f.norm_samples) + " a step");
  if (f.steps < kStepsOfBatchNorm)
    return chosen_word("instance", "the running statistics of a batch norm want more than " + steps_text(f.steps));
  return std::nullopt;
}

std::optional<Chosen> activation(const RecipeFacts&) {
  return chosen_word("leaky_relu", "no channel of a narrow network stays at zero for good");
}

/// Of OpenKBP's organs the two that few cases have stay at Dice 0 with dice_ce, and reach 0.37 to 0.40 in 500 steps
/// with this one (data/README.md).
std::optional<Chosen> volume_loss(const RecipeFacts&) {
  return chosen_word("log_dice_ce", "a small or rare class that is hardly found yet is still learned from");
}

/// Numbers of steps from which on a lower rate is better. On phantoms, 0.01 beats 0.004 in short runs (110 steps: mean
/// Dice 0.63 and 0.58), but 0.004 learns the rare class better in longer ones (300 steps: 0.50 and 0.72, means 0.76 and
/// 0.77). On head and neck CT, 0.001 beats 0.004 in 1200 steps (means of two seeds: 0.687 and 0.700).
constexpr std::int64_t kStepsOfMiddleRate = 300, kStepsOfLowRate = 1000;

std::optional<Chosen> volume_rate(const RecipeFacts& f) {
  if (is_adam(f) && f.steps < kStepsOfMiddleRate)
    return Chosen{0.01, "adam, in only " + steps_text(f.steps) + ", behind a warm-up and clipping"};
  if (is_adam(f) && f.steps < kStepsOfLowRate)
    return Chosen{0.004, "adam, behind a warm-up and clipping, with time for the rare classes"};
  if (is_adam(f)) return Chosen{0.001, "adam, in " + steps_text(f.steps) + ", enough for the rate of the reference"};
  if (!is_sgd(f)) return std::nullopt;
  return Chosen{0.01, "of sgd, the rate of nnU-Net, which goes with its {momentum} 0.99 and {nesterov}"};
}

std::optional<Chosen> volume_clip(const RecipeFacts&) {
  return Chosen{1.0, "one crop with a rare class must not undo the steps before it"};
}

std::optional<Chosen> unannotated(const RecipeFacts& f) {
  if (f.partly_annotated == 0) return std::nullopt;
  return chosen_word("merge",
                     "in " + std::to_string(f.partly_annotated) + " of " + std::to_string(f.cases) +
                         " cases not every class was annotated; their background teaches too, as background or one "
                         "of these");
}

std::optional<Chosen> crops(const RecipeFacts& f) {
  if (f.cases_with_rarest == 0 || f.cases_with_rarest == f.cases) return std::nullopt;
  return chosen_word("set", f.rarest_class + " is in " + std::to_string(f.cases_with_rarest) + " of " +
                                std::to_string(f.cases) + " cases and is to be seen as often as the others");
}

std::optional<Chosen> sides(const RecipeFacts& f) {
  if (f.sided_classes.empty()) return std::nullopt;
  return chosen_word("auto",
                     f.sided_classes +
                         " differ in their side alone: as one class they are learned from twice the voxels, and may "
                         "be mirrored");
}

/// Samples of each case from which on they are to differ: later ones teach what these cases look like. Of 12 phantoms
/// in 639 steps the mean Dice of others grows from 0.87 to 0.92; of 32 head and neck CTs in 1200 steps it stays
/// (data/README.md).
constexpr std::int64_t kSamplesToChange = 25;

std::optional<Chosen> augment(const RecipeFacts& f) {
  const std::optional<std::int64_t> samples = samples_of_a_case(f);
  if (!samples || *samples < kSamplesToChange) return std::nullopt;
  return chosen_word("space", "each of " + std::to_string(f.cases) + (f.cases == 1 ? " case" : " cases") + " is seen " +
                                  std::to_string(*samples) + " times: turned and scaled it tells more of other cases");
}

constexpr std::int64_t kShareOfWhole = 10;  // one of so many steps, at the end, is on a whole volume

/// Returns the steps on whole volumes at the end.
std::optional<Chosen> whole_steps(const RecipeFacts& f) {
  if (!whole_steps_pay(f) || !f.whole_fits) return std::nullopt;
  return Chosen{f.steps / kShareOfWhole, "the last tenth of " + steps_text(f.steps) + ", on volumes of " +
                                             fixed_text(*f.whole_crops, 1) +
                                             " crops in the mean: norms see what they will see in predictions"};
}

constexpr Rule kVolumeRules[] = {{"norm", true, norm},
                                 {"activation", true, activation},
                                 {"loss", true, volume_loss},
                                 {"unannotated", true, unannotated},
                                 {"crops", false, crops},
                                 {"whole-steps", false, whole_steps},
                                 {"sides", false, sides},
                                 {"augment", false, augment},
                                 {"learning-rate", false, volume_rate},
                                 {"warmup-steps", false, warmup_rule},
                                 {"clip-norm", false, volume_clip}};

}  // namespace

/// Of 32 head and neck CTs, 1.9 crops each, the last tenth of the steps on whole volumes is worth 0.006 to 0.014 of
/// Dice (data/README.md).
bool whole_steps_pay(const RecipeFacts& f) {
  constexpr double kMostCrops = 4;  // the last tenth of the steps then takes a third of the time
  constexpr std::int64_t kFewest = 20;
  return f.whole_crops && *f.whole_crops <= kMostCrops && f.steps / kShareOfWhole >= kFewest;
}

std::span<const Rule> rules_of_volumes() { return kVolumeRules; }

}  // namespace voxshard
