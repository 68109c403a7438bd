// Before its first use in a process, a row of the convolution table computes small cases that are compared with the
// reference. A kernel whose instruction set behaves differently on this processor is then not used.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "libcore/base/rng.h"
#include "libcore/kernels/conv.h"
#include "libcore/kernels/convolution/agreement_cases.h"
#include "libcore/kernels/convolution/conv_kernels.h"
#include "libcore/tensor/rounding.h"
#include "libcore/tensor/rows.h"

namespace voxshard {
namespace {

/// Returns values of either sign and a magnitude of [0.5, 1], so that no sum is dominated by few products;
/// `held_by_bf16` makes f32 values exact in bf16, for weights that a bf16 kernel rounds.
Tensor random_values(DType dtype, const Shape& shape, std::uint64_t stream, bool held_by_bf16) {
  Tensor t(dtype, shape);
  for (std::int64_t i = 0; i < t.count(); ++i) {
    const std::uint64_t bits = rng_bits({.seed = 11, .stream = stream}, static_cast<std::uint64_t>(i));
    const float magnitude = 0.5F + 0.5F * static_cast<float>(bits >> 40) * 0x1p-24F;
    const float value = (bits & 1) != 0 ? -magnitude : magnitude;
    if (dtype == DType::kBF16)
      t.as<BF16>()[i] = BF16(value);
    else
      t.as<float>()[i] = held_by_bf16 ? static_cast<float>(BF16(value)) : value;
  }
  return t;
}

/// Returns a tensor full of NaNs, so that elements never written are detected.
Tensor no_numbers(DType dtype, const Shape& shape) {
  Tensor t(dtype, shape);
  std::memset(t.data(), 0xff, static_cast<std::size_t>(t.bytes()));
  return t;
}

struct Operands {
  std::vector<Tensor> held;
  std::vector<TensorView> views;  // x or d_y first

  void add(Tensor t) {
    held.push_back(std::move(t));
    views.push_back(held.back().view());
  }
  /// Adds it as the inside of a larger buffer that is NaN around it.
  void add_within_margin(const Tensor& t) {
    Box outer = Box::whole(t.shape());
    for (int a = 1; a + 1 < outer.axes(); ++a) outer.set(a, -1, outer.end(a) + 1);
    held.push_back(no_numbers(t.dtype(), outer.extent));
    views.push_back(dense_view(held.back().data(), t.dtype(), outer).sub(Box::whole(t.shape())));
    copy(t.view(), views.back());
  }
};

Operands operands_of(const fast::SmallConv& c, const ConvUse& use) {
  const DType weights = c.in_margins ? DType::kF32 : use.dtype;
  const bool held_by_bf16 = use.dtype == DType::kBF16;
  Operands o;
  const auto activations = [&](const Shape& shape, std::uint64_t stream) {
    Tensor values = random_values(use.dtype, shape, stream, false);
    c.in_margins ? o.add_within_margin(values) : o.add(std::move(values));
  };
  if (use.pass == ConvPass::kInputGrad) {
    activations(c.y(), 1);
  } else {
    Shape x = c.x();
    for (std::size_t part = 0; part < use.parts; ++part) {
      if (use.parts > 1) x[x.axes() - 1] = use.part_channels[part];
      activations(x, 2 + part);
    }
  }
  if (use.pass == ConvPass::kWeightGrad) {
    activations(c.y(), 40);
    return o;
  }
  o.add(random_values(weights, use.weights, 41, held_by_bf16));
  if (!c.in_margins) o.add(random_values(DType::kF32, {use.over.back()}, 42, false));
  return o;
}

Tensor result_of(const Kernel& kernel, std::span<const TensorView> inputs, DType dtype, const Shape& shape) {
  const Tensor out = no_numbers(dtype, shape), packed = no_numbers(DType::kU8, {kernel.packed_bytes() + 64});
  if (kernel.packed_bytes() > 0) kernel.pack_all(inputs[kernel.packed_input()], packed.data());
  KernelCall call{.inputs = inputs, .output = out.view(), .packed = packed.data()};
  const Tensor workspace = no_numbers(DType::kU8, {kernel.workspace_bytes(call) + 64});
  call.workspace = workspace.data();
  kernel.run(call);
  return out;
}

/// Returns the sums in f64.
Tensor exact_result(const ConvUse& use, std::span<const TensorView> inputs, const Shape& shape) {
  ConvUse whole = use;
  whole.slices = 1;
  return result_of(*make_conv(KernelSet::kReference, ConvKernel::kReference, whole), inputs, DType::kF64, shape);
}

/// Returns the largest number of products of one result; each product is at most 1 in magnitude.
double products_of(const ConvUse& use, const Shape& d_y) {
  if (use.pass == ConvPass::kWeightGrad) return static_cast<double>(element_count(d_y) / d_y.back());
  const Shape& w = use.weights;
  const std::int64_t inner = use.pass == ConvPass::kForward ? w[w.axes() - 2] : w.back();
  return static_cast<double>(use.window.volume() * inner + 1);  // and the bias
}

bool agrees(const ConvRow& row, const fast::SmallConv& c, const ConvUse& use) {
  const Operands o = operands_of(c, use);
  const bool weights = use.pass == ConvPass::kWeightGrad;
  const DType type = weights ? DType::kF32 : use.dtype;
  const Shape shape = weights ? use.weights : use.over;
  const Tensor found = result_of(*fast::make_of_row(row, use), o.views, type, shape);
  const Tensor exact = exact_result(use, o.views, shape);
  const double products = products_of(use, c.y());
  const double summed = (row.growth == nullptr ? 1 : row.growth(use)) * product_allowance(products, products);
  const double stored = type == DType::kBF16 ? epsilon_of(type) : 0;  // a result in bf16 is rounded once more
  for (std::int64_t i = 0; i < exact.count(); ++i) {
    const double value = exact.as<double>()[i], off = std::abs(load(found.view(), i) - value);
    if (!(off <= summed + stored * (std::abs(value) + summed))) return false;  // a NaN fails too
  }
  return true;
}

}  // namespace

bool fast::agrees_in(const ConvRow& row, const SmallConv& conv) {
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    const std::optional<ConvUse> use = conv.use(row.pass, dtype);
    if (use.has_value() && row_runs(row, *use) && !agrees(row, conv, *use)) return false;
  }
  return true;
}

bool conv_agrees(const ConvRow& row) {
  const auto convs = fast::small_convs();
  return std::all_of(convs.begin(), convs.end(), [&](const auto& conv) { return fast::agrees_in(row, conv); });
}

}  // namespace voxshard
