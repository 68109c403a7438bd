// Rules of the recipe for images with boxes.
#include <algorithm>
#include <cmath>

#include "libcore/base/text.h"
#include "pipelines/settings/recipe_rules.h"

namespace voxshard {
namespace {

/// Returns the learning rate: the reference's 0.08 at 64 images a step, scaled linearly (Goyal et al. 2017).
std::optional<Chosen> image_rate(const RecipeFacts& f) {
  if (!is_sgd(f)) return std::nullopt;
  return Chosen{0.00125 * static_cast<double>(f.batch),
                "0.08 at the reference's 64 pictures a step, in proportion to " + std::to_string(f.batch)};
}

std::optional<Chosen> image_clip(const RecipeFacts& f) {
  return Chosen{10.0, "one odd picture of " + std::to_string(f.batch) + " must not undo the steps before it"};
}

/// Returns a momentum with which running statistics forget their initial value, 1, within a tenth of the run:
/// momentum^(steps / 10) = e^-2.
std::optional<Chosen> norm_momentum(const RecipeFacts& f) {
  constexpr double kReference = 0.997, kLeast = 0.9;
  const double momentum = std::max(kLeast, 1 - 20 / static_cast<double>(f.steps));
  if (momentum >= kReference) return std::nullopt;
  constexpr double kThousandths = 1000;
  return Chosen{std::round(momentum * kThousandths) / kThousandths,
                "the running statistics must forget where they began within " + steps_text(f.steps),
                fixed_text(momentum)};
}

/// AP on frames of two flies that were not trained on grows from 0.40 to 0.49 (means of two seeds), on generated images
/// from 0.29 to 0.32 (data/README.md). GIoU has no rule: it is better on these and worse on those.
std::optional<Chosen> anchors(const RecipeFacts&) {
  return chosen_word("fitted", "the boxes that train say which sizes and aspects there are");
}

/// AP of blood cells grows by 0.003 to 0.011, of two flies by 0.026 and 0.075 in two of five runs and shrinks by 0.022
/// and 0.015 in two (data/README.md).
std::optional<Chosen> box_vote(const RecipeFacts&) {
  return Chosen{0.7, "likely boxes around a found one tell its sides better together than the likeliest alone"};
}

/// Returns the decay of an average over a sixteenth of the run, at most over a thousand steps.
std::optional<Chosen> average_of_weights(const RecipeFacts& f) {
  constexpr std::int64_t kSixteenth = 16, kMostSteps = 1000;
  constexpr double kTenthousandths = 10000;
  if (!average_pays(f) || !f.average_fits) return std::nullopt;
  const std::int64_t steps = std::min(kMostSteps, f.steps / kSixteenth);
  const double decay = 1 - 1 / static_cast<double>(steps);
  return Chosen{std::round(decay * kTenthousandths) / kTenthousandths,
                "an average over about " + steps_text(steps) + " is smoother than the last weights"};
}

/// Random changes of images where each is seen so often. Of 205 images of blood cells, each seen 8 times, colours and
/// mirrored rows together were worth 0.001 and 0.009 of AP, 0.013 and 0.011 of AP50 (data/README.md).
constexpr std::int64_t kSamplesToChangeImages = 8;

std::optional<Chosen> image_change(const RecipeFacts& f, SettingValue value, const char* what) {
  const std::optional<std::int64_t> samples = samples_of_a_case(f);
  if (!samples || *samples < kSamplesToChangeImages) return std::nullopt;
  return Chosen{std::move(value), "each of " + counted(f.cases, "picture") + " is seen " + std::to_string(*samples) +
                                      " times: " + what + " tells more of others"};
}
std::optional<Chosen> image_scale(const RecipeFacts& f) {
  return image_change(f, std::vector<double>{0.8, 1.25}, "in other sizes it");
}
std::optional<Chosen> image_brightness(const RecipeFacts& f) { return image_change(f, 0.1, "lighter and darker it"); }
std::optional<Chosen> image_contrast(const RecipeFacts& f) { return image_change(f, 0.2, "flatter and harder it"); }

/// Images are mirrored by default, as by the original.
std::optional<Chosen> image_mirror(const RecipeFacts& f) {
  if (f.sided_classes.empty()) return std::nullopt;
  return Chosen{0.0, f.sided_classes + " differ in their side alone: what is mirrored would teach the wrong one"};
}

constexpr Rule kBoxRules[] = {{"anchors", true, anchors},
                              {"box-vote", true, box_vote},
                              {"norm-momentum", true, norm_momentum},
                              {"ema", false, average_of_weights},
                              {"mirror", false, image_mirror},
                              {"scale", false, image_scale},
                              {"brightness", false, image_brightness},
                              {"contrast", false, image_contrast},
                              {"learning-rate", false, image_rate},
                              {"warmup-steps", false, warmup_rule},
                              {"clip-norm", false, image_clip}};

}  // namespace

/// Of blood cells in 1700 steps it is worth 0.007 to 0.009 of AP (data/README.md). On volumes it was not better.
bool average_pays(const RecipeFacts& f) {
  constexpr std::int64_t kFewest = 200;
  return f.data == kBoxes && f.steps >= kFewest;
}

std::span<const Rule> rules_of_boxes() { return kBoxRules; }

}  // namespace voxshard
