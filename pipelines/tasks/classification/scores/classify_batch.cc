#include "pipelines/tasks/classification/scores/classify_batch.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "pipelines/tasks/place_sample.h"

namespace voxshard {
namespace {

constexpr std::int64_t kBatchPoints = 1 << 16, kMostAtOnce = 64;

std::vector<double> probabilities(const TensorView& logits, std::int64_t offset) {
  std::vector<double> values;
  for (std::int64_t c = 0; c < logits.extent().back(); ++c) values.push_back(load(logits, offset + c));
  softmax(values);
  return values;
}

}  // namespace

void softmax(std::span<double> values) {
  const double highest = std::ranges::max(values);
  double sum = 0;
  for (double& v : values) sum += v = std::exp(v - highest);
  for (double& v : values) v /= sum;
}

ReadBatch read_batch(const PredictionTurn& batch, const std::vector<ClassItem>& items,
                     std::initializer_list<ErrorKind> kinds, WorkerPool& pool,
                     const std::function<Tensor(const ClassItem& item)>& read) {
  std::vector<Tensor> samples(batch.inputs.size());
  std::vector<std::optional<CaseFailure>> failed(batch.inputs.size());
  pool.run(std::ssize(batch.inputs), [&](std::int64_t i, int) {
    const auto at = static_cast<std::size_t>(i);
    const ClassItem& item = items[batch.inputs[at]];
    failed[at] = failure_of(item.name, kinds, [&] { samples[at] = read(item); });
  });
  ReadBatch whole;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (failed[i]) {
      whole.failures.push_back(std::move(*failed[i]));
      whole.failed.push_back(batch.inputs[i]);
      continue;
    }
    whole.samples.push_back(std::move(samples[i]));
    whole.items.push_back(batch.inputs[i]);
  }
  return whole;
}

std::vector<PredictionTurn> item_batches(const std::vector<ClassItem>& items, const ClassPreparation& preparation) {
  return shared_batches(items, std::span(&preparation, 1));
}

std::vector<PredictionTurn> shared_batches(const std::vector<ClassItem>& items,
                                           std::span<const ClassPreparation> preparations) {
  std::map<std::vector<Dims>, std::vector<std::size_t>> by_canvas;
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::vector<Dims> canvases;
    for (const ClassPreparation& preparation : preparations) canvases.push_back(canvas_of(items[i], preparation));
    by_canvas[canvases].push_back(i);
  }
  std::vector<PredictionTurn> batches;
  for (const auto& [canvases, list] : by_canvas) {
    std::int64_t at_once = std::ssize(list);
    for (const Dims& canvas : canvases) at_once = samples_at_once(canvas, at_once);
    std::vector<Shape> extents;
    for (const Dims& canvas : canvases) {
      extents.push_back({at_once});
      for (const std::int64_t extent : canvas) extents.back().push_back(extent);
    }
    for (std::size_t begin = 0; begin < list.size(); begin += static_cast<std::size_t>(at_once)) {
      const std::size_t end = std::min(list.size(), begin + static_cast<std::size_t>(at_once));
      batches.push_back(
          {extents.front(),
           {list.begin() + static_cast<std::ptrdiff_t>(begin), list.begin() + static_cast<std::ptrdiff_t>(end)},
           {extents.begin() + 1, extents.end()}});
    }
  }
  return batches;
}

void RowAverages::add(std::size_t item, const std::vector<double>& row, std::int64_t times) {
  Sum& sum = sums_[item];
  sum.of.resize(row.size(), 0), sum.times += times;
  for (std::size_t c = 0; c < row.size(); ++c) sum.of[c] += static_cast<double>(times) * row[c];
}

std::vector<double> RowAverages::row(std::size_t item) const {
  const Sum& sum = sums_.at(item);
  std::vector<double> row = sum.of;
  for (double& p : row) p /= static_cast<double>(sum.times);
  return row;
}

std::int64_t samples_at_once(const Dims& canvas, std::int64_t count) {
  return std::clamp<std::int64_t>(std::min(kBatchPoints / element_count(canvas), count), 1, kMostAtOnce);
}

CoreWork class_work() {
  return {.serialise = [](const nlohmann::json&, const CoreSet& cores, std::size_t core) {
    const Program& program = cores.executable().program;
    const ValueId logits = program.graph.outputs.at("logits");
    if (program.replicated(logits)) return std::vector<std::byte>();
    const TensorView own = cores.owned(logits, core);
    std::vector<std::byte> bytes(static_cast<std::size_t>(own.count() * dtype_bytes(own.dtype)));
    copy(own, dense_view(bytes.data(), own.dtype, own.box));
    return bytes;
  }};
}

std::vector<std::vector<double>> classify(Session& session, const Shape& extents, std::int64_t samples,
                                          const PlaceSample& place) {
  const Program& program = session.plan(extents, Phase::kPredict).program;
  const ValueId id = program.graph.outputs.at("logits");
  const Node& node = program.graph.node(id);
  Tensor logits(node.type.dtype, node.type.shape);
  const auto fill = [&](const TensorView& box) {
    if (box.box.empty()) return;
    fill_zero(box);
    for (std::int64_t n = box.box.begin[0]; n < std::min(box.box.end(0), samples); ++n) place(n, box);
  };
  const auto take = [&](std::size_t core, std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    const Box& own = program.plan(id).own[core];
    ensure(std::ssize(bytes) == own.count() * dtype_bytes(logits.dtype()), "a core gives the logits that it owns");
    const TensorView whole = logits.view();
    copy(dense_view(const_cast<std::byte*>(bytes.data()), logits.dtype(), own), whole.sub(own));
  };
  const CoreSet& cores = run_cores(session, class_work(), {.extents = extents, .fill = fill, .take = take});
  if (program.replicated(id)) copy(cores.replicated(id), logits.view());
  const TensorView view = logits.view();
  std::vector<std::vector<double>> rows;
  for (std::int64_t n = 0; n < samples; ++n) rows.push_back(probabilities(view, n * view.strides[0]));
  return rows;
}

std::vector<std::vector<double>> classify(Session& session, const Shape& extents, std::span<const Tensor> samples) {
  return classify(session, extents, std::ssize(samples),
                  [&](std::int64_t n, const TensorView& box) { place_sample(samples[n], n, box); });
}

}  // namespace voxshard
