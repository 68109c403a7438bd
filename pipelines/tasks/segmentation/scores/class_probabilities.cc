#include "pipelines/tasks/segmentation/scores/class_probabilities.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/files/scratch_file.h"
#include "pipelines/model_runs/rank_json.h"

namespace voxshard {
namespace {

std::int64_t classes_of(const TensorView& logits) { return logits.extent().back(); }

/// Calls `take(voxel, probabilities)` for the voxels of `box` (D, H, W), which `logits` (N, D, H, W, C) covers, in the
/// order of the box.
template <class Take>
void for_each_voxel(const TensorView& logits, const Box& box, Take take) {
  std::vector<double> values(static_cast<std::size_t>(classes_of(logits)));
  std::vector<float> probabilities(values.size());
  std::int64_t voxel = 0;
  for (std::int64_t d = box.begin[0]; d < box.end(0); ++d)
    for (std::int64_t h = box.begin[1]; h < box.end(1); ++h)
      for (std::int64_t w = box.begin[2]; w < box.end(2); ++w, ++voxel) {
        const std::int64_t at = (d - logits.box.begin[1]) * logits.strides[1] +
                                (h - logits.box.begin[2]) * logits.strides[2] +
                                (w - logits.box.begin[3]) * logits.strides[3];
        for (std::size_t c = 0; c < values.size(); ++c) values[c] = load(logits, at + static_cast<std::int64_t>(c));
        to_probabilities(values, probabilities);
        take(voxel, std::span<const float>(probabilities));
      }
}

/// Returns the classes of the voxels of a row of `box` in the sums.
///   row  number of the row along W, in the order of the box
float* row_of(SpilledFloats::Visit& sums, const Shape& shape, const Box& box, std::int64_t row) {
  const std::int64_t d = box.begin[0] + row / box.extent[1], h = box.begin[1] + row % box.extent[1];
  return sums.at(((d * shape[1] + h) * shape[2] + box.begin[2]) * shape[3], box.extent[2] * shape[3]);
}

void make(SpilledFloats& sums, const Shape& shape, const std::filesystem::path& scratch) {
  if (scratch.empty()) return sums.make(shape);
  ScratchFile file(scratch);  // the sums keep what they map of it
  sums.make(shape, file.with_room(SpilledFloats::bytes_of(shape)));
}

}  // namespace

void to_probabilities(std::span<double> logits, std::span<float> probabilities) {
  const auto best = std::ranges::max_element(logits);  // the lowest class of equal ones
  const auto likeliest = static_cast<std::size_t>(best - logits.begin());
  const double highest = *best;
  double sum = 0;
  for (double& v : logits) sum += v = std::exp(v - highest);
  for (std::size_t c = 0; c < logits.size(); ++c) probabilities[c] = static_cast<float>(logits[c] / sum);
  for (std::size_t c = 0; c < likeliest; ++c)  // less by less than f32 can tell
    if (probabilities[c] >= probabilities[likeliest])
      probabilities[likeliest] = std::nextafter(probabilities[c], std::numeric_limits<float>::max());
}

CoreWork probability_work() {
  return {.serialise = [](const nlohmann::json& note, const CoreSet& cores, std::size_t core) {
    const TensorView logits = cores.owned(cores.executable().program.graph.outputs.at("logits"), core);
    const Box box = box_in_volume(logits.box, shape_from_json(note));
    const auto classes = static_cast<std::size_t>(classes_of(logits));
    std::vector<std::byte> bytes(static_cast<std::size_t>(box.count()) * classes * sizeof(float));
    auto* const to = reinterpret_cast<float*>(bytes.data());
    for_each_voxel(logits, box, [&](std::int64_t voxel, std::span<const float> p) {
      std::ranges::copy(p, to + static_cast<std::size_t>(voxel) * classes);
    });
    return bytes;
  }};
}

void add_probabilities(Session& session, const VolumeVoxels& image, std::int64_t multiple, std::int64_t times,
                       SpilledFloats& sums, const std::filesystem::path& scratch) {
  const Shape extents = prediction_extents(image.shape, multiple);
  const Program& program = session.plan(extents, Phase::kPredict).program;
  const ValueId logits = program.graph.outputs.at("logits");
  const std::int64_t classes = program.graph.node(logits).type.shape.back();
  const auto weight = static_cast<float>(times);
  const auto make_sums = [&] {
    if (image.done) image.done();
    const Shape shape{image.shape[0], image.shape[1], image.shape[2], classes};
    if (sums.empty()) make(sums, shape, scratch);
    ensure(sums.shape() == shape, "all models predict the same voxels and classes");
  };
  const auto look = [&](const CoreSet& cores, std::size_t core) {
    const TensorView own = cores.owned(logits, core);
    const Box box = box_in_volume(own.box, image.shape);
    if (box.empty()) return;
    SpilledFloats::Visit visit(sums);
    float* to = nullptr;
    for_each_voxel(own, box, [&](std::int64_t voxel, std::span<const float> p) {
      if (voxel % box.extent[2] == 0) to = row_of(visit, sums.shape(), box, voxel / box.extent[2]);
      for (const float probability : p) *to++ += weight * probability;
    });
  };
  const auto take = [&](std::size_t core, std::span<const std::byte> bytes) {
    const Box box = box_in_volume(program.plan(logits).own[core], image.shape);
    if (box.empty()) return;
    ensure(std::ssize(bytes) == box.count() * classes * dtype_bytes(DType::kF32),
           "a core gives the probabilities of its box of the volume");
    const auto* from = reinterpret_cast<const float*>(bytes.data());
    SpilledFloats::Visit visit(sums);
    for (std::int64_t row = 0; row < box.extent[0] * box.extent[1]; ++row) {
      float* const to = row_of(visit, sums.shape(), box, row);
      for (std::int64_t i = 0; i < box.extent[2] * classes; ++i) to[i] += weight * *from++;
    }
  };
  run_cores(session, probability_work(),
            {.extents = extents,
             .note = shape_json(image.shape),
             .fill = [&](const TensorView& box) { fill_image(box, image); },
             .fed = make_sums,
             .take = take,
             .look = look});
}

Tensor likeliest_labels(const SpilledFloats& sums) {
  const Shape& shape = sums.shape();
  Tensor labels(DType::kI32, {shape[0], shape[1], shape[2]});
  const std::int64_t classes = shape[3], in_a_row = shape[2] * classes;
  auto* label = labels.as<std::int32_t>();
  SpilledFloats::Visit visit(sums);
  for (std::int64_t row = 0; row < shape[0] * shape[1]; ++row) {
    const float* from = visit.at(row * in_a_row, in_a_row);
    for (std::int64_t w = 0; w < shape[2]; ++w, from += classes)
      *label++ = static_cast<std::int32_t>(std::max_element(from, from + classes) - from);
  }
  return labels;
}

}  // namespace voxshard
