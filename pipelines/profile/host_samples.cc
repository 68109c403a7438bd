#include "pipelines/profile/host_samples.h"

#include <cmath>

#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

using Point = HostSamples::Point;
using Points = std::vector<double>;

constexpr DType kStored[] = {DType::kF32, DType::kBF16};

std::int64_t whole(double value) { return static_cast<std::int64_t>(std::llround(value)); }

Window cubic(std::int64_t kernel, std::int64_t stride) {
  return {Dims::filled(3, kernel), Dims::filled(3, stride), Dims::filled(3, 1), Dims::filled(3, 0), Dims::filled(3, 0)};
}

/// A convolution or gradient over an iteration box of `rows` rows of `row` voxels, with all margins held: (D, H, W) of the
/// result, or of d_y for a weight gradient.
OpUse conv_use(const std::string& op, DType type, const Window& window, std::int64_t in, std::int64_t out,
               std::int64_t row, std::int64_t rows) {
  const std::int64_t kernel = window.kernel[0], stride = window.stride[0];
  std::int64_t height = 1;
  while (height * height * 4 <= rows) height *= 2;
  const Dims spatial = {ceil_div(rows, height), height, row};
  Shape y{1}, x{1}, wide{1};  // a convolution from x to y; the input gradient is computed inside of its x
  for (auto e : spatial) {
    y.push_back(e);
    x.push_back((e - 1) * stride + kernel);
    wide.push_back(e + 2 * (kernel - stride));
  }
  const Shape weights = {kernel, kernel, kernel, op == "conv_input_grad" ? out : in, op == "conv_input_grad" ? in : out};
  if (op == "conv_input_grad") {
    // y holds all windows that reach the iteration box.
    Shape d_y{1};
    for (int a = 1; a <= 3; ++a) d_y.push_back(window.output_extent(a - 1, wide[a]));
    d_y.push_back(in);
    wide.push_back(out);
    Box iteration = Box::whole(wide);
    for (int a = 1; a <= 3; ++a) iteration.set(a, kernel - stride, kernel - stride + spatial[a - 1]);
    return {op, ConvInputGradAttrs{.window = window, .shape = wide, .dtype = type}, {{type, d_y}, {type, weights}}, iteration};
  }
  x.push_back(in);
  y.push_back(out);
  if (op == "conv") return {op, ConvAttrs{.window = window, .dtype = type}, {{type, x}, {type, weights}}, {}};
  return {op, ConvWeightGradAttrs{window}, {{type, x}, {type, y}}, {}};
}

struct ConvGrid {
  std::int64_t kernel, stride;
  Points in, out, row, rows;
};

void add_convolutions(std::vector<HostSamples>& all, const ConvGrid& grid, const SampleOptions& options) {
  const Window window = cubic(grid.kernel, grid.stride);
  for (const std::string op : {"conv", "conv_input_grad", "conv_weight_grad"})
    for (DType type : kStored) {
      RateTable table{.op = op, .stored = type, .unit = "flop/s"};
      table.window = {.taps = static_cast<int>(window.volume()), .patch = grid.kernel > 1 && grid.kernel == grid.stride};
      table.axes = {{"in", grid.in}, {"out", grid.out}, {"row", grid.row}, {"rows", grid.rows}};
      all.push_back({table, [=](const Point& p) -> std::optional<Probe> {
                       const double flops = 2 * static_cast<double>(table.window.taps) * p[0] * p[1] * p[2] * p[3];
                       if (flops > options.most_flops) return std::nullopt;
                       return op_probe(op_table(), conv_use(op, type, window, whole(p[0]), whole(p[1]), whole(p[2]), whole(p[3])));
                     }});
    }
}

/// An op that is bound by memory, on a tensor of type `type` and shape `x`.
using MemoryUse = OpUse (*)(DType type, const Shape& x);

NormAttrs norm_attributes(const Shape& x) {
  return {.count = static_cast<double>(element_count(x) / x.back()), .epsilon = 1e-3, .slope = 0};
}

std::vector<TensorType> norm_inputs(DType type, const Shape& x, std::size_t count) {
  const TensorType stats{DType::kF32, {1, x.back(), 2}}, channel{DType::kF32, {x.back()}};
  std::vector<TensorType> inputs = {{type, x}, stats, channel, channel, {type, x}, {DType::kF64, stats.shape}};
  inputs.resize(count);
  return inputs;
}

Shape scaled(const Shape& x, std::int64_t by) {
  Shape y = x;
  for (int a = 1; a <= 3; ++a) y[a] = by > 0 ? x[a] * by : ceil_div(x[a], -by);
  return y;
}

std::vector<TensorType> loss_inputs(const Shape& x, std::size_t count) {
  Shape labels = x;
  labels[4] = 1;
  std::vector<TensorType> inputs = {{DType::kF32, x}, {DType::kI32, labels}, {DType::kF64, {1, 3 * x.back() + 2}}, {DType::kF64, {1}}};
  inputs.resize(count);
  return inputs;
}

const std::vector<std::pair<const char*, MemoryUse>>& memory_uses() {
  static const std::vector<std::pair<const char*, MemoryUse>> uses = {
      {"moment_sums", [](DType t, const Shape& x) { return OpUse{"moment_sums", norm_attributes(x), {{t, x}}, {}}; }},
      {"norm_apply", [](DType t, const Shape& x) { return OpUse{"norm_apply", norm_attributes(x), norm_inputs(t, x, 4), {}}; }},
      {"norm_grad_sums",
       [](DType t, const Shape& x) { return OpUse{"norm_grad_sums", norm_attributes(x), norm_inputs(t, x, 5), {}}; }},
      {"norm_input_grad",
       [](DType t, const Shape& x) { return OpUse{"norm_input_grad", norm_attributes(x), norm_inputs(t, x, 6), {}}; }},
      {"leaky_relu", [](DType t, const Shape& x) { return OpUse{"leaky_relu", ActivationAttrs{.slope = 0}, {{t, x}}, {}}; }},
      {"leaky_relu_grad", [](DType t, const Shape& x) { return OpUse{"leaky_relu_grad", ActivationAttrs{.slope = 0}, {{t, x}, {t, x}}, {}}; }},
      {"add", [](DType t, const Shape& x) { return OpUse{"add", {}, {{t, x}, {t, x}}, {}}; }},
      {"convert",
       [](DType t, const Shape& x) {
         return OpUse{"convert", ConvertAttrs{.dtype = t == DType::kF32 ? DType::kF32 : DType::kBF16}, {{DType::kF32, x}}, {}};
       }},
      {"channel_sum", [](DType t, const Shape& x) { return OpUse{"channel_sum", {}, {{t, x}}, {}}; }},
      {"max_pool", [](DType t, const Shape& x) { return OpUse{"max_pool", PoolAttrs{cubic(2, 2)}, {{t, x}}, {}}; }},
      {"max_pool_argmax", [](DType t, const Shape& x) { return OpUse{"max_pool_argmax", PoolAttrs{cubic(2, 2)}, {{t, x}}, {}}; }},
      {"max_pool_grad",
       [](DType t, const Shape& x) {
         const Shape y = scaled(x, -2);
         return OpUse{"max_pool_grad", PoolGradAttrs{.window = cubic(2, 2), .shape = scaled(y, 2)}, {{DType::kU8, y}, {t, y}}, {}};
       }},
      {"avg_pool", [](DType t, const Shape& x) { return OpUse{"avg_pool", PoolAttrs{cubic(2, 2)}, {{t, x}}, {}}; }},
      {"avg_pool_grad",
       [](DType t, const Shape& x) {
         const Shape y = scaled(x, -2);
         return OpUse{"avg_pool_grad", PoolGradAttrs{.window = cubic(2, 2), .shape = scaled(y, 2)}, {{t, y}}, {}};
       }},
      {"upsample_nearest",
       [](DType t, const Shape& x) {
         return OpUse{"upsample_nearest", ResizeAttrs{.factor = {2, 2, 2}, .shape = scaled(x, 2)}, {{t, x}}, {}};
       }},
      {"upsample_nearest_grad",
       [](DType t, const Shape& x) {
         return OpUse{"upsample_nearest_grad", ResizeAttrs{.factor = {2, 2, 2}, .shape = x}, {{t, scaled(x, 2)}}, {}};
       }},
      {"concat",
       [](DType t, const Shape& x) { return OpUse{"concat", ConcatAttrs{.axis = 4}, {{t, x}, {t, x}}, {}}; }},
      {"slice",
       [](DType t, const Shape& x) {
         Shape wide = x;
         wide[4] *= 2;
         return OpUse{"slice", SliceAttrs{.axis = 4, .first = x[4], .shape = x}, {{t, wide}}, {}};
       }},
      {"segmentation_sums",
       [](DType, const Shape& x) { return OpUse{"segmentation_sums", SegmentationAttrs{}, loss_inputs(x, 2), {}}; }},
      {"segmentation_grad",
       [](DType t, const Shape& x) { return OpUse{"segmentation_grad", SegmentationAttrs{.dtype = t}, loss_inputs(x, 4), {}}; }},
  };
  return uses;
}

/// A cube of even edge that makes the op move about `bytes`.
Probe sized_probe(MemoryUse use, DType type, std::int64_t channels, double bytes) {
  auto at = [&](std::int64_t edge) { return op_probe(op_table(), use(type, {1, edge, edge, edge, channels})); };
  const double per_voxel = at(4).work.bytes / 64;
  return at(2 * std::max<std::int64_t>(1, whole(std::cbrt(bytes / per_voxel) / 2)));
}

void add_memory_ops(std::vector<HostSamples>& all, const Points& channels, const Points& bytes) {
  for (const auto& [name, use] : memory_uses())
    for (DType type : kStored) {
      const bool loss = std::string(name).starts_with("segmentation");
      if (loss && std::string(name) == "segmentation_sums" && type != DType::kF32) continue;  // logits are f32
      RateTable table{.op = name, .stored = type, .unit = "byte/s"};
      table.axes = {{"channels", loss ? Points{2, 4, 16} : channels}, {"bytes", bytes}};
      all.push_back({table, [use = use, type](const Point& p) { return std::optional(sized_probe(use, type, whole(p[0]), p[1])); }});
    }
}

void add_engine_work(std::vector<HostSamples>& all, const Points& channels, const Points& bytes) {
  for (DType type : kStored) {
    RateTable table{.stored = type, .unit = "byte/s", .axes = {{"channels", channels}, {"bytes", bytes}}};
    table.op = "exchange";
    all.push_back({table, [=](const Point& p) { return std::optional(copy_probe(type, whole(p[0]), whole(p[1]))); }});
    table.op = "fill_margin";
    all.push_back({table, [=](const Point& p) { return std::optional(fill_probe(type, whole(p[0]), whole(p[1]))); }});
  }
}

}  // namespace

std::vector<HostSamples> host_samples(const SampleOptions& options) {
  std::vector<HostSamples> all;
  const bool quick = options.quick;
  const Points wide = quick ? Points{1, 16, 128} : Points{1, 4, 16, 64, 256};
  add_convolutions(all, {3, 1, wide, quick ? Points{3, 16, 128} : Points{3, 8, 16, 32, 64, 256},
                         quick ? Points{4, 12, 40} : Points{4, 8, 16, 48}, quick ? Points{256} : Points{16, 512}}, options);
  const Points few = quick ? Points{8, 128} : Points{3, 16, 64, 256};
  for (std::int64_t kernel : {1, 2})
    add_convolutions(all, {kernel, kernel, few, few, quick ? Points{24} : Points{8, 48}, quick ? Points{256} : Points{16, 512}}, options);
  const Points channels = quick ? Points{2, 32} : Points{2, 16, 128};
  add_memory_ops(all, channels, quick ? Points{1 << 17, 1 << 23} : Points{1 << 15, 1 << 20, 1 << 24});
  add_engine_work(all, quick ? Points{1, 32} : Points{1, 8, 64, 256}, quick ? Points{1 << 15} : Points{1 << 12, 1 << 18});
  for (HostSamples& samples : all)
    samples.table.how = "the fast kernel on all workers at once, each on its own block; processor time, median of passes";
  return all;
}

}  // namespace voxshard
