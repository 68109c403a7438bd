// Before its first use in a process a row of the table of convolutions computes a small case beside the reference: code
// for an instruction set that this processor runs otherwise than where it was written is then not used.
#include <cmath>
#include <vector>

#include "libcore/base/rng.h"
#include "libcore/kernels/conv_table.h"
#include "libcore/tensor/rows.h"

namespace voxshard {
namespace {

constexpr double kAgreedF32 = 0x1p-14;  // of the largest result; F(4, 3) rounds by some 2^-18
constexpr double kAgreedBf16 = 0x1p-6;

Tensor random_tensor(DType dtype, const Shape& shape, std::uint64_t stream) {
  Tensor t(dtype, shape);
  for (std::int64_t i = 0; i < t.count(); ++i)
    store(t.view(), i, rng_normal({11, stream}, static_cast<std::uint64_t>(i)));
  return t;
}

ConvUse small_use(ConvPass pass, DType dtype) {
  const Dims one = Dims::filled(3, 1);
  return {.pass = pass,
          .window = {.kernel = Dims::filled(3, 3), .stride = one, .dilation = one, .pad_lo = one, .pad_hi = one},
          .weights = {3, 3, 3, 32, 32},
          .over = {1, 5, 6, 18, 32},
          .dtype = dtype};
}

Tensor result_of(const Kernel& kernel, std::span<const TensorView> inputs, DType dtype, const Shape& shape) {
  Tensor out(dtype, shape), packed(DType::kU8, {kernel.packed_bytes() + 64});
  if (kernel.packed_bytes() > 0)
    kernel.pack_all(inputs[static_cast<std::size_t>(kernel.packed_input())], packed.data());
  KernelCall call{.inputs = inputs, .output = out.view(), .packed = packed.data()};
  Tensor workspace(DType::kU8, {kernel.workspace_bytes(call) + 64});
  call.workspace = workspace.data();
  kernel.run(call);
  return out;
}

const ConvRow& reference_row(ConvPass pass) {
  for (const ConvRow& row : conv_rows())
    if (row.kernel == ConvKernel::kReference && row.pass == pass) return row;
  throw Error(ErrorKind::kInternal, "[conv] the table has no reference");
}

bool agrees_in(const ConvRow& row, const ConvUse& use) {
  const Tensor x = random_tensor(use.dtype, use.over, 1), d_y = random_tensor(use.dtype, use.over, 2);
  const bool weights = use.pass == ConvPass::kWeightGrad;
  const Tensor w = weights ? Tensor() : random_tensor(use.dtype, use.weights, 3);
  const std::vector<TensorView> inputs = {x.view(), weights ? d_y.view() : w.view()};
  const DType type = weights ? DType::kF32 : use.dtype;
  const Shape shape = weights ? use.weights : use.over;
  const Tensor found = result_of(*row.make(use), inputs, type, shape);
  const Tensor exact = result_of(*reference_row(use.pass).make(use), inputs, type, shape);
  double largest = 0, difference = 0;
  for (std::int64_t i = 0; i < exact.count(); ++i) {
    const double value = load(exact.view(), i), d = std::abs(load(found.view(), i) - value);
    largest = std::max(largest, std::abs(value));
    difference = d <= difference ? difference : d;  // NaN stays
  }
  return difference <= (type == DType::kBF16 ? kAgreedBf16 : kAgreedF32) * largest;
}

}  // namespace

bool conv_agrees(const ConvRow& row) {
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    const ConvUse use = small_use(row.pass, dtype);
    if (row.runs(use) && !agrees_in(row, use)) return false;
  }
  return true;
}

}  // namespace voxshard
