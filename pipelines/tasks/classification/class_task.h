// Classification as a training task: images, CT volumes or clips with a class each, validated by the accuracy on
// held-out items.
//
//   auto task = class_task({.data = "mnist"}, spec);
#pragma once

#include <memory>

#include "pipelines/tasks/augmentation/image_augmentation.h"
#include "pipelines/tasks/classification/dataset/class_dataset.h"
#include "pipelines/tasks/classification/samples/clip_augmentation.h"
#include "pipelines/tasks/training_task.h"

namespace voxshard {

struct ClassTaskOptions {
  std::filesystem::path data;  // as find_class_parts takes it
  std::filesystem::path val;   // the validation data; empty: the data's own part, else a share
  double val_fraction = 0.2;
  bool validates = true;
  std::string fold = {};              // "0": that fold validates; empty: `val` or a share
  std::string colour = "auto";        // auto: colour when any training image is; colour, grey
  std::string normalise = "dataset";  // dataset: by mean and deviation of the training items; none
  std::string fit = "pad";            // pad, resize
  std::string balance = "none";       // weights: classes are weighted in the loss so that all count the same; none
  Dims size;                          // H W, for volumes D H W, of every sample; empty: its own size
  std::array<double, 2> window_hu = {-160, 240};
  std::optional<std::int64_t> clip_length, clip_stride;  // for clips; none: those of ClassReading
  std::optional<std::int64_t> pad_multiple;              // none: 1 when all items have one size, else 32, for volumes 8
  ImageAugmentation augmentation = {};                   // of images
  ClipAugmentation clips = {};                           // of clips
  std::int64_t most_pixels = kMostPixels;
  VolumeLimits volume_limits = {};
  IrregularSlices irregular = IrregularSlices::kReject;  // of volumes
  bool best_series = true;                               // as in ClassReading
  std::uint64_t seed = 0;
  int threads = 1;                // for checking the items before training
  std::int64_t memory_bytes = 0;  // for this check; 0: no limit
  StopCheck stop = {};
  std::vector<KeptSplit> kept = {};  // see TrainingData
  ClassKinds kinds = class_kinds();
};

/// Makes the training task. A model with two spatial axes learns from images; with three axes the data decide between
/// volumes and clips. A model with a fixed size determines the sample size. Decodes every training item once; items
/// that cannot be decoded are left out, validation items when they are validated. Errors: those of read_class_sets and
/// set_statistics; kUsage for settings that contradict each other or the model.
std::unique_ptr<TrainingTask> class_task(const ClassTaskOptions& options, const ModelSpec& spec);

}  // namespace voxshard
