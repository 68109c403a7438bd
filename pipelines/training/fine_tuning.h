// A run that begins with the weights of another one ({from}): tensors are taken by name and shape, those that belong to
// classes class by class, by the names of the classes; the rest begins anew.
//
//   const TrainedRun theirs = load_trained_run({.run = "other"});
//   const TakenWeights taken = take_weights(theirs, {spec, extents, task->preparation()}, parameters);
//   progress.log(to_text(taken));   // "38 of 40 tensors are those of other/checkpoints/best.safetensors, ..."
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipelines/model_runs/trained_run.h"
#include "pipelines/settings/settings.h"

namespace voxshard {

/// The model and the data that take the weights of another run.
struct FineTuned {
  const ModelSpec& spec;
  const Shape& extents;              // N and the spatial axes of a step
  const nlohmann::json preparation;  // TrainingTask::preparation()
};

/// What a run has of another one. Counts are those of the new run's tensors and of the values in them.
struct TakenWeights {
  std::filesystem::path checkpoint;
  std::int64_t step = 0;
  std::string weights;                                   // as in TrainedRun
  std::int64_t tensors = 0, partly = 0, of_tensors = 0;  // taken whole; taken for some classes; all
  std::int64_t values = 0, of_values = 0;
  std::vector<std::string> anew;                // tensors of which nothing was taken
  std::vector<std::string> without_place;       // tensors of the other run that this model does not have
  std::vector<std::string> new_classes;         // classes that the other run does not have
  std::vector<std::string> joined_classes;      // left and right as one class, which the other run has as two
  std::vector<std::string> split_classes;       // left or right, which the other run has as one class
  std::vector<std::string> prepared_otherwise;  // keys of the preparation whose values differ, except those of classes
};

/// Copies into `parameters` all values that fit. A tensor whose last extent grows with the number of classes is taken
/// class by class: class c of block j is channel j * classes + c, as in the heads of all models. A joined class of left
/// and right takes the mean of both, and each of them the weights of their joined class. Errors: kConfig when no kernel
/// fits.
TakenWeights take_weights(const TrainedRun& theirs, const FineTuned& mine, Parameters& parameters);

/// "38 of 40 tensors are those of other/checkpoints/best.safetensors, step 400; 2 for the classes that both have; 1
/// class begins anew (tumour); in all 1203 of 1208 values are taken".
std::string to_text(const TakenWeights& taken);
/// For run.json and checkpoints, with `run` and `hash` (of the checkpoint's file).
nlohmann::ordered_json to_json(const TakenWeights& taken, const std::filesystem::path& run, const std::string& hash);

/// Returns the settings of a model that decide which tensors it has, {model} first, so that a run which begins with its
/// weights has the same unless others are given.
std::vector<Choice> choices_of_model(const ModelSpec& spec, const std::filesystem::path& run);

/// Returns the bytes of the largest checkpoint that may be read of a run folder or checkpoint file; 0 when there is
/// none.
std::int64_t largest_checkpoint_bytes(const std::filesystem::path& run);

}  // namespace voxshard
