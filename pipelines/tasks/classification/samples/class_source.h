// What a training step of a classifier sees: which items, and their classes. A pure function of the seed and the step,
// so that a resumed run goes on with the same samples; each core fills only its own box.
//
//   ClassSource source(set, preparation, reading, 1);
//   Shape extents = source.load(step, 64, pool);                              // (64, 28, 28)
//   trainer.step(extents, [&](auto& input, auto& box) { source.fill(input.input, box); });
#pragma once

#include <limits>
#include <span>

#include "libcore/base/parallel.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"
#include "pipelines/tasks/epoch_order.h"

namespace voxshard {

class ClassSource {
 public:
  /// Requires items that canvas_of() takes. Errors: kNoCase when there is none. `set` must live as long.
  ClassSource(const ClassDataset& set, const ClassPreparation& preparation, const ClassReading& reading,
              std::uint64_t seed);

  /// N and the extents of the largest batch there can be.
  Shape largest_extents(std::int64_t batch) const;
  /// What load() takes and leaves.
  ProcessPlan plan(const Shape& extents, int workers) const;
  /// How many different extents items are seen at.
  std::int64_t sizes() const;
  /// See TrainingTask::share().
  void share(std::int64_t begin, std::int64_t end) { begin_ = begin, end_ = end; }
  /// Reads the samples of a step, one task each, and returns their extents: the widest of the batch, the others are
  /// padded. Each epoch goes through all items in a new order. Errors: kInput names an item that cannot be read.
  Shape load(std::int64_t step, std::int64_t batch, WorkerPool& pool);
  /// The same for the items with these indices.
  Shape load_items(std::span<const std::size_t> items, WorkerPool& pool);
  Shape extents_of(std::span<const std::size_t> items) const;
  /// Fills `box` of the image, or of the labels (N, 1, ..), of what was loaded. Threads: any number at once.
  void fill(const InputInfo& input, const TensorView& box) const;

 private:
  Dims canvas(std::size_t item) const { return canvas_of(set_.items[item], preparation_); }

  const ClassDataset& set_;
  ClassPreparation preparation_;
  ItemReader reader_;
  EpochOrder order_;
  std::vector<Tensor> samples_;  // of the step that was loaded last
  std::vector<std::int32_t> labels_;
  std::int64_t begin_ = 0, end_ = std::numeric_limits<std::int64_t>::max();  // of the samples of a step that are read
};

}  // namespace voxshard
