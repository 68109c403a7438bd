// The recipe chooses values for settings of `train` that are not given: one table of settings, each with a value that
// depends on the data, the batch, the steps and the processor, and the reason in words. A given setting is never
// changed.
//
//   recipe({.data = kVoxelLabels, .fields = {"norm"}, .steps = 110, .batch = 1, .norm_samples = 1})
//   -> {"norm", "instance", "a batch norm would have the statistics of 1 sample a step"}, ...
//
// The values were found with generated phantoms and images, in runs of 100 to 600 steps; data/README.md has the table.
#pragma once

#include "libcore/models/model.h"
#include "libcore/train/optimizer.h"
#include "pipelines/settings/settings.h"

namespace voxshard {

/// Facts that decide between bf16 and f32.
struct PrecisionFacts {
  bool multiplies_bf16 = false;                   // the processor has instructions for bf16 products
  std::string instructions;                       // "avx2", for the text of the reason
  std::optional<double> bf16_step_s, f32_step_s;  // step time by this machine's measured rates; empty: not measured
  bool f32_fits = true;                           // f32 fits the budgets and the free memory
  std::string f32_refusal;                        // reason why it does not fit, in a few words
};

struct RecipeFacts {
  std::string data{kVoxelLabels};   // kind of training data: kVoxelLabels, kBoxes or kClassLabels
  std::vector<std::string> fields;  // options of the model's config; a setting that is not among them is not chosen
  std::int64_t steps = 1, batch = 1;
  std::int64_t cases = 0, partly_annotated = 0;  // that train; of them those in which not every class was annotated
  std::string rarest_class = {};                 // that some case has, and how many cases have it
  std::int64_t cases_with_rarest = 0;
  std::optional<double> whole_crops = {};  // crops that a whole volume is in the mean; empty: it is not cropped
  bool whole_fits = true;                  // whole volumes fit the memory; asked for where whole_steps_pay()
  bool average_fits = true;                // an average of the weights fits it; asked for where average_pays()
  std::string sided_classes = {};          // two classes that differ in their side alone; empty: there are none
  std::int64_t norm_samples = 1;  // samples that share batch norm statistics: the batch, or a replica's part of it
  OptimizerKind optimizer = OptimizerKind::kAdam;
  std::optional<PrecisionFacts> precision;  // empty: the precision is not chosen
};

/// True where some steps on whole volumes at the end of a training on crops are worth the time that they take.
bool whole_steps_pay(const RecipeFacts& facts);
/// True where an average of the weights is worth its memory and its validations.
bool average_pays(const RecipeFacts& facts);
/// Returns the names of all options that recipe() may choose for this kind of training data; empty: for any.
std::vector<std::string> recipe_options(std::string_view data = "");
/// Returns the chosen values in the order of recipe_options(); options that do not depend on these facts keep the
/// reference's values. A pure function.
std::vector<Choice> recipe(const RecipeFacts& facts);

/// Returns the training values in the model's row, with the batch of all `replicas`. Empty for models that use the
/// defaults of the settings.
std::vector<Choice> usual_training(const Model& model, std::int64_t replicas);

/// [{"option", "value", "reason"}], for run.json.
nlohmann::ordered_json to_json(const std::vector<Choice>& choices);
/// Reads choices back; their values are text. Errors: kCheckpoint for anything but the output of to_json().
std::vector<Choice> choices_from_json(const nlohmann::json& json);

}  // namespace voxshard
