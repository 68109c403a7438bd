// How the data of a run were prepared, as its task parses it from the checkpoint.
//
//   const ClassPreparation p = preparation_of_run(run, class_preparation_from_json);
#pragma once

#include "pipelines/model_runs/trained_run.h"

namespace voxshard {

/// The key of a preparation that holds what is usual of the training cases, by which `predict` judges its results. It
/// follows from the cases: a run that goes on, or begins with the weights of another, may have another one or none.
inline constexpr const char* kUsualCases = "usual_cases";

/// Returns parse(run.preparation). Errors: kCheckpoint, naming the file, where `parse` throws an Error.
template <class Parse>
auto preparation_of_run(const TrainedRun& run, Parse parse) {
  try {
    return parse(run.preparation);
  } catch (const Error& e) {
    throw Error(ErrorKind::kCheckpoint, run.file.string() + ": " + e.what());
  }
}

}  // namespace voxshard
