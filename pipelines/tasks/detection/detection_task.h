// Detection of objects in images as a training task: images or crops of a data set with boxes, validated by COCO's AP50
// on whole images that are held out.
//
//   auto task = detection_task({.data = "coco/train.json", .held_out = {.file = "coco/val.json"}}, detector);
#pragma once

#include <memory>

#include "io/boxes/box_format.h"
#include "pipelines/tasks/detection/dataset/frame_choice.h"
#include "pipelines/tasks/detection/samples/decoded_images.h"
#include "pipelines/tasks/detection/samples/detection_source.h"
#include "pipelines/tasks/training_task.h"

namespace voxshard {

/// Which images validate: those of a file, else those of the folder's own *val*.json, else a share of all.
struct HeldOutImages {
  std::filesystem::path file;
  double fraction = 0.2;  // 0: none
  bool validate = true;   // false: nothing does; what a *val*.json names is then not trained on either
};

struct DetectionTaskOptions {
  std::filesystem::path data;  // as read_detection_sets takes it
  HeldOutImages held_out;
  ImageSampling sampling;
  std::uint64_t seed = 0;
  FrameChoice frames;                  // of `data` that are frames of videos
  ImagePass pass = {};                 // that looks at the images before training
  std::optional<KeptSplit> kept = {};  // see TrainingData
  BoxFormats formats = box_formats();
};

/// Decodes every training image once;
/// what cannot be decoded is left out, also of what validates, when its turn comes. Errors: those of
/// read_detection_sets; kNoCase.
std::unique_ptr<TrainingTask> detection_task(const DetectionTaskOptions& options, const Detector& detector);

}  // namespace voxshard
