// Predicts the classes of items with a session in its prediction phase, several small items at a time.
//
//   for (const PredictionTurn& turn : item_batches(items, preparation))
//     rows = classify(session, turn.extents, samples);          // a row of probabilities per sample
#pragma once

#include <functional>
#include <map>
#include <span>

#include "pipelines/engine/prediction.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"

namespace voxshard {

/// Returns batches of all items that canvas_of() accepts, items of equal extents together: as many per batch as have
/// about 65,536 pixels in all, at most 64, so that prediction takes no more memory than a training step of a few
/// samples.
std::vector<PredictionTurn> item_batches(const std::vector<ClassItem>& items, const ClassPreparation& preparation);

/// The same for several models, whose preparations may give an item different extents: items of equal extents under
/// each of them are together, and each turn has the extents of all models.
std::vector<PredictionTurn> shared_batches(const std::vector<ClassItem>& items,
                                           std::span<const ClassPreparation> preparations);

/// The part of a batch that could be read, and its failures.
struct ReadBatch {
  std::vector<Tensor> samples;
  std::vector<std::size_t> items;     // the item of each sample
  std::vector<CaseFailure> failures;  // of the other items
  std::vector<std::size_t> failed;    // the item of each failure
};

/// Reads the samples of a batch, each in one job of the pool. On an error of one of `kinds`, or when the system refuses
/// memory, only that item is left out; other errors propagate.
ReadBatch read_batch(const PredictionTurn& batch, const std::vector<ClassItem>& items,
                     std::initializer_list<ErrorKind> kinds, WorkerPool& pool,
                     const std::function<Tensor(const ClassItem& item)>& read);

/// Returns the number of samples of these extents that are predicted at once when there are `count` of them.
std::int64_t samples_at_once(const Dims& canvas, std::int64_t count);

/// Writes the part of sample `n` that lies in `box` (N, .., C). Threads: many at once.
using PlaceSample = std::function<void(std::int64_t n, const TensorView& box)>;

/// Converts the logits of one item to probabilities that sum to 1.
void softmax(std::span<double> values);

/// Averages of the rows of several models, by item, added in the order of the models.
class RowAverages {
 public:
  /// Adds the row of an item `times` times.
  void add(std::size_t item, const std::vector<double>& row, std::int64_t times);
  /// Returns the average of an item; its row itself where one model gave it once.
  std::vector<double> row(std::size_t item) const;

 private:
  struct Sum {
    std::vector<double> of;
    std::int64_t times = 0;
  };
  std::map<std::size_t, Sum> sums_;
};

/// Returns the work of every process for classify(): sharded logits are sent to the first process.
CoreWork class_work();

/// Returns the probabilities of the classes (softmax of the logits), sample by sample. Only the calling process, the
/// first process within coordinate(), has the samples; the other processes get the boxes of their cores.
///   samples  as ItemReader reads them, at most extents[0]; missing samples are zeros, and their results are dropped
std::vector<std::vector<double>> classify(Session& session, const Shape& extents, std::span<const Tensor> samples);
/// Returns the same for samples that are never whole in memory: `place` writes their parts.
std::vector<std::vector<double>> classify(Session& session, const Shape& extents, std::int64_t samples,
                                          const PlaceSample& place);

}  // namespace voxshard
