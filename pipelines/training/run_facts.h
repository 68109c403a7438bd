// What decides the recipe of a run (settings/recipe.h), taken from its options, its data and this machine.
//
//   RecipeFacts facts = recipe_facts(options, *task, {.precision = true});
#pragma once

#include "pipelines/settings/recipe.h"
#include "pipelines/training/run_train.h"

namespace voxshard {

/// Why the rates of this machine cannot be looked for, in a sentence; empty when they can, whether it was measured or
/// not.
std::string unseen_host();

/// The facts of a run whose model knows its channels and classes. With `precision` also what decides between bf16 and
/// f32: then the run's largest step is lowered in both, without allocating anything. Errors: kConfig from the plan.
/// Cost: some ms without precision; with it what planning a step costs, twice.
RecipeFacts recipe_facts(const TrainOptions& options, const TrainingTask& task, bool precision);

}  // namespace voxshard
