// The samples of a training step of a classifier: items and their classes, of clips changed at random. A pure function
// of the seed and the step, so that a resumed run continues with the same samples; each core fills only its own box.
//
//   ClassSource source(set, preparation, reading, 1);
//   Shape extents = source.load(step, 64, pool);                              // (64, 28, 28)
//   trainer.step(extents, [&](auto& input, auto& box) { source.fill(input.input, box); });
#pragma once

#include <functional>
#include <limits>
#include <span>

#include "libcore/base/parallel.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"
#include "pipelines/tasks/classification/samples/clip_augmentation.h"
#include "pipelines/tasks/epoch_order.h"

namespace voxshard {

class ClassSource {
 public:
  /// Requires items that canvas_of() accepts. Errors: kNoCase when there is none. `set` must outlive the source.
  ///   clips  changes the samples of load(), where the items are clips
  ClassSource(const ClassDataset& set, const ClassPreparation& preparation, const ClassReading& reading,
              std::uint64_t seed, const ClipAugmentation& clips = {});

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
  /// Fills `box` of the image or of the labels (N, 1, ..) from the loaded samples. Threads: any number at once.
  void fill(const InputInfo& input, const TensorView& box) const;

 private:
  using ReadItem = std::function<Tensor(const ClassItem& item, std::int64_t place)>;  // place: in the batch

  Dims canvas(std::size_t item) const { return canvas_of(set_.items[item], preparation_); }
  Shape load_by(std::span<const std::size_t> items, WorkerPool& pool, const ReadItem& read);
  Tensor read_changed(const ClassItem& item, std::int64_t sample) const;

  const ClassDataset& set_;
  ClassPreparation preparation_;
  ItemReader reader_;
  std::uint64_t seed_;
  ClipAugmentation clips_;
  EpochOrder order_;
  std::vector<Tensor> samples_;  // samples of the step that was loaded last
  std::vector<std::int32_t> labels_;
  std::int64_t begin_ = 0, end_ = std::numeric_limits<std::int64_t>::max();  // range of a step's samples that are read
};

}  // namespace voxshard
