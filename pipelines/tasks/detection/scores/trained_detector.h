// The detector of a trained run: how its images were prepared, and its detection of objects in one of them.
//
//   const TrainedDetector detector = trained_detector(run, "default");
//   detector.class_of(found.front()).name
#pragma once

#include "pipelines/model_runs/trained_run.h"
#include "pipelines/tasks/detection/samples/image_preparation.h"
#include "pipelines/tasks/detection/scores/predict_image.h"

namespace voxshard {

struct TrainedDetector {
  ImagePreparation preparation;
  ImagePrediction prediction;

  const DetectionClass& class_of(const Detection& d) const { return preparation.classes.at(category_of(d)); }
  /// Returns the category of a detection, from 0.
  std::int64_t category_of(const Detection& d) const { return d.class_id - prediction.detector.first_class; }
};

/// Returns the detector of `run` with this post-processing. Errors: kCheckpoint when the run's preparation cannot be
/// read or names other classes than its model.
TrainedDetector trained_detector(const TrainedRun& run, const std::string& postprocess);

}  // namespace voxshard
