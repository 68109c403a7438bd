// The recipe chooses for `train` where nothing is said: one table of settings, each with its value for the data, the
// batch, the steps and the processor at hand, and the reason in words. A setting that a user gives is never chosen.
//
//   recipe({.data = kVoxelLabels, .fields = {"norm"}, .steps = 110, .batch = 1, .norm_samples = 1})
//   -> {"norm", "instance", "a norm sees 1 sample a step: too few for the statistics of a batch norm"}, ...
//
// The values were measured on generated phantoms and images, of runs of 100 to 600 steps; data/README.md has the table.
#pragma once

#include "libcore/models/model.h"
#include "libcore/train/optimizer.h"
#include "pipelines/settings/settings.h"

namespace voxshard {

/// These facts decide between bf16 and f32.
struct PrecisionFacts {
  bool multiplies_bf16 = false;                   // the processor has instructions for it
  std::string instructions;                       // "avx2", for the reason
  std::optional<double> bf16_step_s, f32_step_s;  // by this machine's measured rates; empty: not measured
  bool f32_fits = true;                           // the budgets, and what memory is free
  std::string f32_refusal;                        // why not, in a few words
};

struct RecipeFacts {
  std::string data{kVoxelLabels};   // what the model learns from: kVoxelLabels, kBoxes or kClassLabels
  std::vector<std::string> fields;  // options of the model's config; a setting that it lacks is not chosen
  std::int64_t steps = 1, batch = 1;
  std::int64_t norm_samples = 1;  // that share the statistics of a batch norm: the batch, or the part of a replica
  OptimizerKind optimizer = OptimizerKind::kAdam;
  std::optional<PrecisionFacts> precision;  // empty: not to be chosen
};

/// The names of all options that recipe() may choose.
const std::vector<std::string>& recipe_options();
/// In the order of recipe_options(); options that the facts say nothing about are left to the reference's values. Pure.
std::vector<Choice> recipe(const RecipeFacts& facts);

/// Returns what the model's row says of its training, with the batch of all `replicas`. Empty for the models whose
/// usual values are the settings' own.
std::vector<Choice> usual_training(const Model& model, std::int64_t replicas);

/// [{"option", "value", "reason"}], for run.json.
nlohmann::ordered_json to_json(const std::vector<Choice>& choices);
/// The values are text. Errors: kCheckpoint for anything else than to_json() writes.
std::vector<Choice> choices_from_json(const nlohmann::json& json);

}  // namespace voxshard
