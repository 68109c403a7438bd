// Object detection as a training task: images or crops of a data set with boxes, validated by COCO's AP50 on whole
// held-out images.
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

/// The choice of the validation images: those of a file or of a fold, else those of the folder's own *val*.json, else a
/// share of all.
struct HeldOutImages {
  std::filesystem::path file;
  double fraction = 0.2;  // 0: none
  bool validate = true;   // false: no validation; images of a *val*.json are then not trained on either
  std::string fold = {};  // "0": that fold; empty: none was named
};

struct DetectionTaskOptions {
  std::filesystem::path data;  // as read_detection_sets takes it
  HeldOutImages held_out;
  ImageSampling sampling;
  std::uint64_t seed = 0;
  FrameChoice frames;                // for `data` whose images are frames of videos
  ImagePass pass = {};               // checks the images before training
  std::vector<KeptSplit> kept = {};  // see TrainingData
  BoxFormats formats = box_formats();
};

/// Makes the training task; decodes every training image once.
/// Images that cannot be decoded are left out, validation images when they are validated. Errors: those of
/// read_detection_sets; kNoCase.
std::unique_ptr<TrainingTask> detection_task(const DetectionTaskOptions& options, const Detector& detector);

}  // namespace voxshard
