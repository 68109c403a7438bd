#include "pipelines/settings/recipe.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "libcore/base/text.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

/// A value with its reason, for the facts at hand; empty: the reference's value is as good.
struct Chosen {
  SettingValue value;
  std::string reason;
  std::string text = {};  // text for people; empty: value_text(value)
};
Chosen word(const char* value, std::string reason) { return {std::string(value), std::move(reason)}; }

struct Rule {
  const char* option;
  std::string_view data;  // only for models of this kind of data; empty: for all
  bool of_model;          // true: a field of the model's config, which the model may lack
  std::optional<Chosen> (*choose)(const RecipeFacts&);
};

std::string samples_text(std::int64_t samples) {
  return std::to_string(samples) + (samples == 1 ? " sample" : " samples");
}
std::string steps_text(std::int64_t steps) { return std::to_string(steps) + (steps == 1 ? " step" : " steps"); }
bool is_adam(const RecipeFacts& facts) { return facts.optimizer == OptimizerKind::kAdam; }

/// Smallest batch for which a batch norm's statistics are close to those of the data (Wu and He 2018, group
/// normalization, figure 1).
constexpr std::int64_t kFewestOfBatchNorm = 16;
/// Steps after which running statistics with momentum 0.99 no longer depend on their initial values.
constexpr std::int64_t kStepsOfBatchNorm = 1000;

std::optional<Chosen> norm(const RecipeFacts& f) {
  if (f.norm_samples < kFewestOfBatchNorm)
    return word("instance", "a batch norm would have the statistics of " + samples_text(f.norm_samples) + " a step");
  if (f.steps < kStepsOfBatchNorm)
    return word("instance", "the running statistics of a batch norm want more than " + steps_text(f.steps));
  return std::nullopt;
}

std::optional<Chosen> activation(const RecipeFacts&) {
  return word("leaky_relu", "no channel of a narrow network stays at zero for good");
}

/// Of OpenKBP's organs the two that few cases have stay at Dice 0 with dice_ce, and reach 0.37 to 0.40 in 500 steps
/// with this one (data/README.md).
std::optional<Chosen> volume_loss(const RecipeFacts&) {
  return word("log_dice_ce", "a small or rare class that is hardly found yet is still learned from");
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
  return Chosen{0.01, "of sgd, the rate of nnU-Net, which goes with its {momentum} 0.99 and {nesterov}"};
}

/// Returns the learning rate: the reference's 0.08 at 64 images a step, scaled linearly (Goyal et al. 2017).
std::optional<Chosen> image_rate(const RecipeFacts& f) {
  if (is_adam(f)) return std::nullopt;
  return Chosen{0.00125 * static_cast<double>(f.batch),
                "0.08 at the reference's 64 pictures a step, in proportion to " + std::to_string(f.batch)};
}

std::optional<Chosen> warmup(const RecipeFacts& f) {
  constexpr std::int64_t kMost = 100;
  const std::int64_t steps = std::min(kMost, f.steps / 10);
  if (steps < 1) return std::nullopt;
  return Chosen{steps, steps == kMost ? "the first steps are the roughest"
                                      : "a tenth of " + steps_text(f.steps) + ": the first ones are the roughest"};
}

std::optional<Chosen> volume_clip(const RecipeFacts&) {
  return Chosen{1.0, "one crop with a rare class must not undo the steps before it"};
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
  return word("fitted", "the boxes that train say which sizes and aspects there are");
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

std::optional<Chosen> precision(const RecipeFacts& f) {
  if (!f.precision) return std::nullopt;
  const PrecisionFacts& p = *f.precision;
  const bool measured = p.bf16_step_s && p.f32_step_s;
  const std::string times = measured ? "a step in bf16 takes " + fixed_text(*p.bf16_step_s / *p.f32_step_s, 2) +
                                           " of one in f32, by what doctor measured here"
                                     : "";
  if (measured ? *p.bf16_step_s < *p.f32_step_s : p.multiplies_bf16)
    return word("bf16", measured ? times : "this processor multiplies bf16 (" + p.instructions + ")");
  if (!p.f32_fits) return word("bf16", "f32 would be faster here, but " + p.f32_refusal);
  return word("f32", measured ? times
                              : "this processor (" + p.instructions +
                                    ") has no multiplication of bf16: it would only be slower");
}

/// Returns the learning rate of SGD: that for 256 images a step (He et al. 2016), scaled linearly (Goyal et al. 2017).
std::optional<Chosen> class_rate(const RecipeFacts& f) {
  if (is_adam(f)) return std::nullopt;
  return Chosen{0.1 * static_cast<double>(f.batch) / 256,
                "of sgd, 0.1 at 256 samples a step, in proportion to " + std::to_string(f.batch)};
}

/// Returns the warm-up; none for models whose published schedule has none.
std::optional<Chosen> class_warmup(const RecipeFacts& f) {
  if (std::ranges::count(f.fields, "base-filters") == 0) return std::nullopt;
  return warmup(f);
}

std::optional<Chosen> unannotated(const RecipeFacts& f) {
  if (f.partly_annotated == 0) return std::nullopt;
  return word("merge", "in " + std::to_string(f.partly_annotated) + " of " + std::to_string(f.cases) +
                           " cases not every class was annotated; their background teaches too, as background or one "
                           "of these");
}

std::optional<Chosen> crops(const RecipeFacts& f) {
  if (f.cases_with_rarest == 0 || f.cases_with_rarest == f.cases) return std::nullopt;
  return word("set", f.rarest_class + " is in " + std::to_string(f.cases_with_rarest) + " of " +
                         std::to_string(f.cases) + " cases and is to be seen as often as the others");
}

std::optional<Chosen> sides(const RecipeFacts& f) {
  if (f.sided_classes.empty()) return std::nullopt;
  return word("auto", f.sided_classes +
                          " differ in their side alone: as one class they are learned from twice the voxels, and may "
                          "be mirrored");
}

/// Samples of each case from which on they are to differ: later ones teach what these cases look like. Of 12 phantoms
/// in 639 steps the mean Dice of others grows from 0.87 to 0.92; of 32 head and neck CTs in 1200 steps it stays
/// (data/README.md).
constexpr std::int64_t kSamplesToChange = 25;

std::optional<Chosen> augment(const RecipeFacts& f) {
  if (f.cases == 0) return std::nullopt;
  const std::int64_t samples = f.steps * f.batch / f.cases;
  if (samples < kSamplesToChange) return std::nullopt;
  return word("space", "each of " + std::to_string(f.cases) + (f.cases == 1 ? " case" : " cases") + " is seen " +
                           std::to_string(samples) + " times: turned and scaled it tells more of other cases");
}

/// Random changes of images where each is seen so often. Of 205 images of blood cells, each seen 8 times, colours and
/// mirrored rows together were worth 0.001 and 0.009 of AP, 0.013 and 0.011 of AP50 (data/README.md).
constexpr std::int64_t kSamplesToChangeImages = 8;

std::optional<Chosen> image_change(const RecipeFacts& f, SettingValue value, const char* what) {
  if (f.cases == 0) return std::nullopt;
  const std::int64_t samples = f.steps * f.batch / f.cases;
  if (samples < kSamplesToChangeImages) return std::nullopt;
  return Chosen{std::move(value), "each of " + counted(f.cases, "picture") + " is seen " + std::to_string(samples) +
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

constexpr std::int64_t kShareOfWhole = 10;  // one of so many steps, at the end, is on a whole volume

/// Returns the steps on whole volumes at the end.
std::optional<Chosen> whole_steps(const RecipeFacts& f) {
  if (!whole_steps_pay(f) || !f.whole_fits) return std::nullopt;
  return Chosen{f.steps / kShareOfWhole, "the last tenth of " + steps_text(f.steps) + ", on volumes of " +
                                             fixed_text(*f.whole_crops, 1) +
                                             " crops in the mean: norms see what they will see in predictions"};
}

/// One line per setting: the table.
constexpr Rule kRules[] = {{"norm", kVoxelLabels, true, norm},
                           {"activation", kVoxelLabels, true, activation},
                           {"loss", kVoxelLabels, true, volume_loss},
                           {"unannotated", kVoxelLabels, true, unannotated},
                           {"crops", kVoxelLabels, false, crops},
                           {"whole-steps", kVoxelLabels, false, whole_steps},
                           {"sides", kVoxelLabels, false, sides},
                           {"augment", kVoxelLabels, false, augment},
                           {"learning-rate", kVoxelLabels, false, volume_rate},
                           {"warmup-steps", kVoxelLabels, false, warmup},
                           {"clip-norm", kVoxelLabels, false, volume_clip},
                           {"anchors", kBoxes, true, anchors},
                           {"box-vote", kBoxes, true, box_vote},
                           {"norm-momentum", kBoxes, true, norm_momentum},
                           {"ema", kBoxes, false, average_of_weights},
                           {"mirror", kBoxes, false, image_mirror},
                           {"scale", kBoxes, false, image_scale},
                           {"brightness", kBoxes, false, image_brightness},
                           {"contrast", kBoxes, false, image_contrast},
                           {"learning-rate", kBoxes, false, image_rate},
                           {"warmup-steps", kBoxes, false, warmup},
                           {"clip-norm", kBoxes, false, image_clip},
                           {"learning-rate", kClassLabels, false, class_rate},
                           {"warmup-steps", kClassLabels, false, class_warmup},
                           {"precision", "", false, precision}};

}  // namespace

/// Of 32 head and neck CTs, 1.9 crops each, the last tenth of the steps on whole volumes is worth 0.006 to 0.014 of
/// Dice (data/README.md).
bool whole_steps_pay(const RecipeFacts& f) {
  constexpr double kMostCrops = 4;  // the last tenth of the steps then takes a third of the time
  constexpr std::int64_t kFewest = 20;
  return f.whole_crops && *f.whole_crops <= kMostCrops && f.steps / kShareOfWhole >= kFewest;
}

/// Of blood cells in 1700 steps it is worth 0.007 to 0.009 of AP (data/README.md). On volumes it was not better.
bool average_pays(const RecipeFacts& f) {
  constexpr std::int64_t kFewest = 200;
  return f.data == kBoxes && f.steps >= kFewest;
}

std::vector<std::string> recipe_options(std::string_view data) {
  std::vector<std::string> options;
  for (const Rule& rule : kRules)
    if ((data.empty() || rule.data.empty() || rule.data == data) && std::ranges::count(options, rule.option) == 0)
      options.emplace_back(rule.option);
  return options;
}

std::vector<Choice> recipe(const RecipeFacts& facts) {
  std::vector<Choice> choices;
  for (const Rule& rule : kRules) {
    if (!rule.data.empty() && rule.data != facts.data) continue;
    if (rule.of_model && std::ranges::count(facts.fields, rule.option) == 0) continue;
    if (const auto chosen = rule.choose(facts))
      choices.push_back({rule.option, chosen->value, chosen->reason, chosen->text});
  }
  return choices;
}

std::vector<Choice> usual_training(const Model& model, std::int64_t replicas) {
  const UsualTraining& usual = model.usual;
  std::vector<Choice> choices;
  if (usual.batch > 0)
    choices.push_back({"batch", usual.batch * replicas,
                       (replicas > 1 ? std::to_string(usual.batch) + " for each replica: " : "") + usual.reason});
  for (const UsualTraining::Value& row : usual.others)
    choices.push_back(
        {row.setting, std::visit([](const auto& value) { return SettingValue(value); }, row.value), row.reason});
  return choices;
}

Json to_json(const std::vector<Choice>& choices) {
  Json json = Json::array();
  for (const Choice& c : choices) json.push_back({{"option", c.option}, {"value", c.shown()}, {"reason", c.reason}});
  return json;
}

std::vector<Choice> choices_from_json(const nlohmann::json& json) {
  std::vector<Choice> choices;
  try {
    if (!json.is_array()) throw Error(ErrorKind::kCheckpoint, "[checkpoint] its recipe is broken: not a list");
    for (const nlohmann::json& row : json)
      choices.push_back({row.at("option").get<std::string>(), row.at("value").get<std::string>(),
                         row.at("reason").get<std::string>()});
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::kCheckpoint, std::string("[checkpoint] its recipe is broken: ") + e.what());
  }
  return choices;
}

}  // namespace voxshard
