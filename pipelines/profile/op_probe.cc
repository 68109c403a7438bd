#include "pipelines/profile/op_probe.h"

namespace voxshard {
namespace {

constexpr std::int64_t kAlign = 64;

std::int64_t aligned(std::int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }
std::int64_t bytes_of(const TensorView& view) { return aligned(view.count() * dtype_bytes(view.dtype)); }

Tensor bytes(std::int64_t count) { return Tensor(DType::kU8, {std::max<std::int64_t>(kAlign, count)}); }

/// The operands of an op as placed in a ProbeMemory.
struct Placed {
  std::shared_ptr<Kernel> kernel;
  std::vector<TensorView> inputs;
  std::vector<std::int64_t> offsets;
  TensorView output;
  std::int64_t packed_at = 0, workspace_at = 0;

  /// True for integer types: labels and stored indices, for which zeros are valid values.
  static bool from_zeros(DType type) { return type == DType::kI32 || type == DType::kU8; }

  std::vector<TensorView> inputs_in(const ProbeMemory& memory) const {
    std::vector<TensorView> views = inputs;
    for (std::size_t i = 0; i < views.size(); ++i)
      views[i].data = (from_zeros(views[i].dtype) ? memory.zeros() : memory.numbers()) + offsets[i];
    return views;
  }
};

/// Returns a box of about `bytes` in rows of `channels`, like a margin of a wider buffer.
Box margin_box(DType type, std::int64_t channels, std::int64_t bytes) {
  const std::int64_t voxels = std::max<std::int64_t>(1, bytes / (channels * dtype_bytes(type)));
  std::int64_t row = 1;
  while (row * row < voxels && row < 64) row *= 2;
  return Box::whole({1, ceil_div(voxels, row), row, channels});
}

}  // namespace

void ProbeMemory::Need::widen(const Need& other) {
  numbers_bytes = std::max(numbers_bytes, other.numbers_bytes);
  zeros_bytes = std::max(zeros_bytes, other.zeros_bytes);
  scratch_bytes = std::max(scratch_bytes, other.scratch_bytes);
}

ProbeMemory::ProbeMemory(const Need& need)
    : numbers_(bytes(need.numbers_bytes)), zeros_(bytes(need.zeros_bytes)), scratch_(bytes(need.scratch_bytes)) {
  // Each 16 bits are a bf16 from 0.5 to 1.5; two of them form an f32 and four an f64 of a similar value.
  auto* halves = reinterpret_cast<std::uint16_t*>(numbers_.data());
  for (std::int64_t i = 0; i < numbers_.count() / 2; ++i) halves[i] = static_cast<std::uint16_t>(0x3f00 + i * 37 % 192);
}

Probe op_probe(const OpDef& def, const OpUse& use) {
  const TensorType result = def.infer(use.attrs, use.inputs);
  const OpContext op{use.attrs, use.inputs, result};
  Box iteration = use.iteration;
  if (iteration.axes() == 0) iteration = Box::whole(def.driver < 0 ? result.shape : use.inputs[def.driver].shape);
  auto placed = std::make_shared<Placed>();
  placed->kernel = def.kernel(op, KernelSet::kFast);
  Probe probe{.work = work_of(def, op, iteration)};
  for (int i = 0; i < static_cast<int>(use.inputs.size()); ++i) {
    const DType type = use.inputs[i].dtype;
    placed->inputs.push_back(dense_view(nullptr, type, needed_box(def, op, i, iteration)));
    std::int64_t& at = Placed::from_zeros(type) ? probe.need.zeros_bytes : probe.need.numbers_bytes;
    placed->offsets.push_back(at);
    at += bytes_of(placed->inputs.back());
  }
  placed->output = dense_view(nullptr, result.dtype, def.driver < 0 ? iteration : result_box(def, op, iteration));
  const std::int64_t packed_bytes = aligned(placed->kernel->packed_bytes());
  placed->packed_at = bytes_of(placed->output);
  placed->workspace_at = placed->packed_at + packed_bytes;
  probe.need.scratch_bytes =
      placed->workspace_at + placed->kernel->workspace_bytes({.inputs = placed->inputs, .output = placed->output});
  if (packed_bytes > 0) probe.pack_bytes = static_cast<double>(use.inputs[placed->kernel->packed_input()].bytes());
  probe.pack = [placed, packed_bytes](const ProbeMemory& memory) {
    if (packed_bytes == 0) return;
    const auto inputs = placed->inputs_in(memory);
    placed->kernel->pack_all(inputs[placed->kernel->packed_input()], memory.scratch() + placed->packed_at);
  };
  probe.run = [placed](const ProbeMemory& memory) {
    const auto inputs = placed->inputs_in(memory);
    TensorView output = placed->output;
    output.data = memory.scratch();
    placed->kernel->run({.inputs = inputs,
                         .output = output,
                         .packed = memory.scratch() + placed->packed_at,
                         .workspace = memory.scratch() + placed->workspace_at});
  };
  return probe;
}

Probe copy_probe(DType type, std::int64_t channels, std::int64_t bytes) {
  const Box box = margin_box(type, channels, bytes);
  Box wide = box;  // both sides lie in buffers with more voxels per row
  wide.extent[2] += 2;
  const TensorView view = dense_view(nullptr, type, wide);
  Probe probe{.work = {.bytes = static_cast<double>(box.count() * dtype_bytes(type))},
              .need = {.numbers_bytes = bytes_of(view), .scratch_bytes = bytes_of(view)}};
  probe.run = [view, box](const ProbeMemory& memory) {
    TensorView from = view, to = view;
    from.data = memory.numbers();
    to.data = memory.scratch();
    copy(from.sub(box), to.sub(box));
  };
  return probe;
}

Probe fill_probe(DType type, std::int64_t channels, std::int64_t bytes) {
  const Box box = margin_box(type, channels, bytes);
  Box wide = box;
  wide.extent[2] += 2;
  const TensorView view = dense_view(nullptr, type, wide);
  Probe probe{.work = {.bytes = static_cast<double>(box.count() * dtype_bytes(type))},
              .need = {.scratch_bytes = bytes_of(view)}};
  probe.run = [view, box](const ProbeMemory& memory) {
    TensorView to = view;
    to.data = memory.scratch();
    fill_zero(to.sub(box));
  };
  return probe;
}

}  // namespace voxshard
