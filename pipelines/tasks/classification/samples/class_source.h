// The samples of a training step of a classifier: items, of which images and clips may be changed at random, and their
// classes. A pure function of the seed and the step, so that a resumed run continues with the same samples; each core
// fills only its own box.
//
//   ClassSource source(set, preparation, reading, 1);
//   Shape extents = source.load(step, 64, pool);                              // (64, 28, 28)
//   trainer.step(extents, [&](auto& input, auto& box) { source.fill(input.input, box); });
#pragma once

#include <limits>
#include <optional>
#include <span>

#include "libcore/base/parallel.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/tasks/augmentation/image_augmentation.h"
#include "pipelines/tasks/augmentation/image_pieces.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"
#include "pipelines/tasks/classification/samples/clip_augmentation.h"
#include "pipelines/tasks/epoch_order.h"

namespace voxshard {

/// The random changes of the samples of a training.
struct ItemChanges {
  ImageAugmentation images = {};  // where the items are images
  ClipAugmentation clips = {};    // where they are clips
};

/// Throws kNoCase for a set of which nothing is left, with the last reason.
///   command  "train", for the error
///   purpose  what nothing is left for: "train on"
void require_items(const ClassDataset& set, const std::string& command, const std::string& purpose);

class ClassSource {
 public:
  /// Requires items that canvas_of() accepts. Errors: kNoCase when there is none. `set` must outlive the source.
  ///   changes  of the samples of load(); those of other kinds of items are off
  ClassSource(const ClassDataset& set, const ClassPreparation& preparation, const ClassReading& reading,
              std::uint64_t seed, const ItemChanges& changes = {});

  /// Returns N and the extents of the largest possible batch.
  Shape largest_extents(std::int64_t batch) const;
  /// Returns the memory of load(): used during the call and kept after it.
  ProcessPlan plan(const Shape& extents, int workers) const;
  /// Returns the number of different extents of prepared items.
  std::int64_t sizes() const;
  /// See TrainingTask::share().
  void share(std::int64_t begin, std::int64_t end) { begin_ = begin, end_ = end; }
  /// Reads the samples of a step, each in one job of the pool, and returns their extents: the largest of the batch, to
  /// which the others are padded. Each epoch visits all items in a new order. Errors: kInput names an item that cannot
  /// be read.
  Shape load(std::int64_t step, std::int64_t batch, WorkerPool& pool);
  /// Does the same for the items with these indices, which are not changed.
  Shape load_items(std::span<const std::size_t> items, WorkerPool& pool);
  Shape extents_of(std::span<const std::size_t> items) const;
  /// Fills `box` of the image or of the labels (N, 1, ..) from the loaded samples; of an image that is moved
  /// the pixels of `box` alone are interpolated. Threads: any number at once.
  void fill(const InputInfo& input, const TensorView& box) const;

 private:
  /// An item, and the number of its sample, which determines all random changes; none: it is not changed.
  struct Drawn {
    std::size_t item = 0;
    std::optional<std::int64_t> sample = {};
  };
  struct Sample {
    Tensor values;                   // normalised; empty where there are pieces
    std::vector<ImagePiece> pieces;  // of an image that is moved
    std::int32_t label = -1;
  };
  Shape load(std::span<const Drawn> batch, WorkerPool& pool);
  Sample load_one(const Drawn& drawn) const;
  Dims canvas(std::size_t item) const { return canvas_of(set_.items[item], preparation_); }
  Tensor read_changed(const ClassItem& item, std::int64_t sample) const;

  const ClassDataset& set_;
  ClassPreparation preparation_;
  ItemReader reader_;
  EpochOrder order_;
  std::uint64_t seed_;
  ItemChanges changes_;
  std::vector<Sample> samples_;                                              // samples of the step that was loaded last
  std::int64_t begin_ = 0, end_ = std::numeric_limits<std::int64_t>::max();  // range of a step's samples that are read
};

}  // namespace voxshard
