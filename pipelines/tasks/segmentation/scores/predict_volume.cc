#include "pipelines/tasks/segmentation/scores/predict_volume.h"

#include <algorithm>

#include "pipelines/model_runs/rank_json.h"

namespace voxshard {
namespace {

constexpr std::int64_t kMostClassesOfAByte = 256;

/// Returns a channel of the (N, D, H, W, C) view of one sample as a view of the image's (D, H, W).
TensorView as_volume(const TensorView& box, std::size_t channel) {
  Box one = box.box;
  one.set(4, static_cast<std::int64_t>(channel), static_cast<std::int64_t>(channel) + 1);
  TensorView v{box.sub(one).data, box.dtype, {}, {}};
  for (int a = 1; a <= 3; ++a) {
    v.box.begin.push_back(box.box.begin[a]);
    v.box.extent.push_back(box.extent()[a]);
    v.strides.push_back(box.strides[a]);
  }
  return v;
}

/// Copies the elements of to.box; a channel of several goes voxel by voxel.
void copy_channel(const Tensor& from, const TensorView& to) {
  const TensorView src = from.view().sub(to.box);
  if (to.strides[2] == 1) return copy(src, to);
  for (std::int64_t d = 0; d < to.extent()[0]; ++d)
    for (std::int64_t h = 0; h < to.extent()[1]; ++h)
      for (std::int64_t w = 0; w < to.extent()[2]; ++w)
        store(to, d * to.strides[0] + h * to.strides[1] + w * to.strides[2],
              load(src, d * src.strides[0] + h * src.strides[1] + w));
}

DType label_type(std::int64_t classes) { return classes <= kMostClassesOfAByte ? DType::kU8 : DType::kI32; }

/// Writes the class of the largest logit of each voxel of `box`, in the order of the box.
template <class Label>
void argmax(const TensorView& logits, const Box& box, Label* labels) {
  const std::int64_t classes = logits.extent().back();
  for (std::int64_t d = box.begin[0]; d < box.end(0); ++d)
    for (std::int64_t h = box.begin[1]; h < box.end(1); ++h)
      for (std::int64_t w = box.begin[2]; w < box.end(2); ++w) {
        const std::int64_t at = (d - logits.box.begin[1]) * logits.strides[1] +
                                (h - logits.box.begin[2]) * logits.strides[2] +
                                (w - logits.box.begin[3]) * logits.strides[3];
        std::int64_t best = 0;
        double largest = load(logits, at);
        for (std::int64_t c = 1; c < classes; ++c)
          if (const double logit = load(logits, at + c); logit > largest) best = c, largest = logit;
        *labels++ = static_cast<Label>(best);
      }
}

/// Copies the dense labels of `box` into the labels of the volume.
template <class Label>
void place(const Label* from, const Box& box, const Tensor& labels) {
  const Shape& shape = labels.shape();
  for (std::int64_t d = box.begin[0]; d < box.end(0); ++d)
    for (std::int64_t h = box.begin[1]; h < box.end(1); ++h, from += box.extent[2])
      std::copy_n(from, box.extent[2], labels.as<std::int32_t>() + (d * shape[1] + h) * shape[2] + box.begin[2]);
}

}  // namespace

VolumeVoxels voxels_of(const std::vector<Tensor>& channels, std::vector<float> air) {
  return {.shape = channels.front().shape(),
          .air = std::move(air),
          .read = [&](std::size_t channel, const TensorView& box) { copy_channel(channels.at(channel), box); }};
}

Shape prediction_extents(const Shape& volume, std::int64_t multiple) {
  Shape extents{1};
  for (auto extent : volume) extents.push_back(ceil_div(extent, multiple) * multiple);
  return extents;
}

Box box_in_volume(const Box& logits, const Shape& shape) {
  Box box;
  for (int a = 1; a <= 3; ++a) {
    box.begin.push_back(logits.begin[a]);
    box.extent.push_back(logits.extent[a]);
  }
  return box.empty() ? box : intersect(box, Box::whole(shape));
}

void fill_image(const TensorView& box, const VolumeVoxels& volume) {
  if (box.box.empty()) return;
  ensure(box.box.begin[4] == 0 && box.extent()[4] == std::ssize(volume.air), "an image feeds all of its channels");
  for (std::size_t channel = 0; channel < volume.air.size(); ++channel) {
    const TensorView voxels = as_volume(box, channel);
    if (!Box::whole(volume.shape).contains(voxels.box)) fill(voxels, volume.air[channel]);
    const Box inside = intersect(voxels.box, Box::whole(volume.shape));
    if (!inside.empty()) volume.read(channel, voxels.sub(inside));
  }
}

LabelledBox labels_of_core(const CoreSet& cores, std::size_t core, const Shape& shape) {
  const TensorView logits = cores.owned(cores.executable().program.graph.outputs.at("logits"), core);
  LabelledBox found{.box = box_in_volume(logits.box, shape), .type = label_type(logits.extent().back()), .labels = {}};
  found.labels.resize(found.box.count() * dtype_bytes(found.type));
  if (found.type == DType::kU8)
    argmax(logits, found.box, found.view().as<std::uint8_t>());
  else
    argmax(logits, found.box, found.view().as<std::int32_t>());
  return found;
}

LabelledBox labels_from(const Program& program, std::size_t core, const Shape& shape,
                        std::span<const std::byte> bytes) {
  const ValueId logits = program.graph.outputs.at("logits");
  LabelledBox found{.box = box_in_volume(program.plan(logits).own[core], shape),
                    .type = label_type(program.graph.node(logits).type.shape.back()),
                    .labels = {bytes.begin(), bytes.end()}};
  ensure(std::ssize(bytes) == (found.box.empty() ? 0 : found.box.count() * dtype_bytes(found.type)),
         "a core labels its box of the volume");
  return found;
}

CoreWork volume_work() {
  return {.serialise = [](const nlohmann::json& note, const CoreSet& cores, std::size_t core) {
    return labels_of_core(cores, core, shape_from_json(note)).labels;
  }};
}

Tensor predict_volume(Session& session, const VolumeVoxels& image, std::int64_t multiple) {
  const Shape extents = prediction_extents(image.shape, multiple);
  const Program& program = session.plan(extents, Phase::kPredict).program;
  const ValueId logits = program.graph.outputs.at("logits");
  const DType type = label_type(program.graph.node(logits).type.shape.back());
  Tensor labels;
  run_cores(session, volume_work(),
            {.extents = extents,
             .note = shape_json(image.shape),
             .fill = [&](const TensorView& box) { fill_image(box, image); },
             .fed =
                 [&] {
                   if (image.done) image.done();
                   labels = Tensor(DType::kI32, image.shape);
                 },
             .take =
                 [&](std::size_t core, std::span<const std::byte> bytes) {
                   const Box box = box_in_volume(program.plan(logits).own[core], image.shape);
                   if (box.empty()) return;
                   ensure(std::ssize(bytes) == box.count() * dtype_bytes(type), "a core labels its box of the volume");
                   if (type == DType::kU8)
                     place(reinterpret_cast<const std::uint8_t*>(bytes.data()), box, labels);
                   else
                     place(reinterpret_cast<const std::int32_t*>(bytes.data()), box, labels);
                 }});
  return labels;
}

}  // namespace voxshard
