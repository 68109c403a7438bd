// Classification as a training task: images, CT volumes or clips with a class each, validated by the share of the
// held-out ones whose likeliest class is right.
//
//   auto task = class_task({.data = "mnist"}, spec);
#pragma once

#include <memory>

#include "pipelines/tasks/classification/dataset/class_dataset.h"
#include "pipelines/tasks/training_task.h"

namespace voxshard {

struct ClassTaskOptions {
  std::filesystem::path data;  // as find_class_parts takes it
  std::filesystem::path val;   // what validates; empty: the data's own part, else a share
  double val_fraction = 0.2;
  bool validates = true;
  std::string colour = "auto";        // auto: colour when one training image is; colour, grey
  std::string normalise = "dataset";  // dataset: by mean and deviation of the training items; none
  std::string fit = "pad";            // pad, resize
  std::string balance = "none";       // weights: of each class in the loss, so that all count alike; none
  Dims size;                          // H W, of volumes D H W, that every sample gets; empty: its own
  std::array<double, 2> window_hu = {-160, 240};
  std::optional<std::int64_t> clip_length, clip_stride;  // of clips; empty: those of ClassReading
  std::optional<std::int64_t> pad_multiple;              // empty: 1 when all items have one size, else 32, of volumes 8
  std::int64_t most_pixels = kMostPixels;
  VolumeLimits volume_limits = {};
  std::uint64_t seed = 0;
  int threads = 1;                // that look at the items before training
  std::int64_t memory_bytes = 0;  // that this may take; 0: no limit
  StopCheck stop = {};
  std::optional<KeptSplit> kept = {};  // see TrainingData
  ClassKinds kinds = class_kinds();
};

/// The spec decides whether images are learnt from, with three spatial axes the data whether volumes or clips; and
/// the spec the size where the model has only one. Decodes every training item once; what cannot be decoded is left
/// out, also of what validates, when its turn comes. Errors: those of read_class_sets and set_statistics; kUsage for
/// settings that contradict each other or the model.
std::unique_ptr<TrainingTask> class_task(const ClassTaskOptions& options, const ModelSpec& spec);

}  // namespace voxshard
