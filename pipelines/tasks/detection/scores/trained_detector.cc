#include "pipelines/tasks/detection/scores/trained_detector.h"

#include "pipelines/model_runs/run_preparation.h"

namespace voxshard {
namespace {

ImagePreparation preparation_of(const TrainedRun& run) {
  ImagePreparation preparation = preparation_of_run(run, image_preparation_from_json);
  if (detector_of(run.spec).first_class + std::ssize(preparation.classes) !=
      std::get<std::int64_t>(run.spec.get("classes")))
    throw Error(ErrorKind::kCheckpoint, run.file.string() + ": names " + std::to_string(preparation.classes.size()) +
                                            " classes of objects, which are not those of its model");
  return preparation;
}

}  // namespace

TrainedDetector trained_detector(const TrainedRun& run, const std::string& postprocess) {
  const ImagePreparation preparation = preparation_of(run);
  const Detector detector = detector_of(run.spec);
  return {preparation,
          {detector, postprocess_of(postprocess, detector), preparation.pad_multiple, preparation.output_size}};
}

}  // namespace voxshard
