// The facts that determine the recipe of a run (settings/recipe.h), from its options, its data and this machine.
//
//   RecipeFacts facts = recipe_facts(options, *task, true, context);
#pragma once

#include "pipelines/settings/recipe.h"
#include "pipelines/training/run_train.h"

namespace voxshard {

/// Returns a sentence on why the file of this machine's rates cannot be searched for; empty when it can, measured or
/// not.
std::string unseen_host();

/// Settings of which nobody has said anything, and whose facts take time.
struct OpenChoices {
  bool precision = false;
  bool whole_steps = false;
  bool average = false;  // {ema}
};

/// Returns the facts of a run whose model knows its channels and classes. Where the precision is open also the facts
/// that decide between bf16 and f32: the run's largest step is then lowered in both, without allocating anything; where
/// {whole-steps} is, whether whole volumes fit the memory; where {ema} is, whether an average does. Errors: kConfig
/// from the plan. Cost: some ms without them; twice the cost of planning a step, and up to twice that of planning a
/// run.
RecipeFacts recipe_facts(const TrainOptions& options, const TrainingTask& task, const OpenChoices& open,
                         const RunContext& context);

}  // namespace voxshard
