// The classes of items by a session in its prediction phase, several small ones at a time.
//
//   for (const PredictionTurn& turn : item_batches(items, preparation))
//     rows = classify(session, turn.extents, samples);          // a row of probabilities per sample
#pragma once

#include <functional>
#include <span>

#include "pipelines/engine/prediction.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"

namespace voxshard {

/// Every item that canvas_of() takes once, those of equal extents side by side: as many at once as have some 65,536
/// pixels in all, at most 64, so that prediction takes no more than a training step of a few.
std::vector<PredictionTurn> item_batches(const std::vector<ClassItem>& items, const ClassPreparation& preparation);

/// What of a batch could be read.
struct ReadBatch {
  std::vector<Tensor> samples;
  std::vector<std::size_t> items;     // of each sample
  std::vector<CaseFailure> failures;  // of the others
  std::vector<std::size_t> failed;    // the item of each failure
};

/// The samples of a batch, one task each; an error of one of `kinds`, or memory that the system refused, costs its item
/// only. Others pass.
ReadBatch read_batch(const PredictionTurn& batch, const std::vector<ClassItem>& items,
                     std::initializer_list<ErrorKind> kinds, WorkerPool& pool,
                     const std::function<Tensor(const ClassItem& item)>& read);

/// How many samples of these extents are predicted at once where there are `count` of them.
std::int64_t samples_at_once(const Dims& canvas, std::int64_t count);

/// Writes what `box` (N, .., C) holds of sample `n`; called by many threads at once.
using PlaceSample = std::function<void(std::int64_t n, const TensorView& box)>;

/// Logits of one item as probabilities that sum to 1.
void softmax(std::span<double> values);

/// What every process does for classify(): logits that are cut go to the one that calls it.
CoreWork class_work();

/// The probabilities of the classes (softmax of the logits), sample by sample. The process that calls it, within
/// coordinate(), alone has the samples; the others get the boxes of their cores.
///   samples  as ItemReader reads them, at most extents[0]; what is missing is zero and comes to nothing
std::vector<std::vector<double>> classify(Session& session, const Shape& extents, std::span<const Tensor> samples);
/// The same of samples that are nowhere whole.
std::vector<std::vector<double>> classify(Session& session, const Shape& extents, std::int64_t samples,
                                          const PlaceSample& place);

}  // namespace voxshard
