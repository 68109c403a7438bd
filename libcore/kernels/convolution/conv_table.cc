// The rows of the convolution table (conv_table.h) and the functions that make their kernels. To add a kernel, add its
// name to conv_kernel.h and, above the rows that it replaces, a row for each pass that it computes.
#include "libcore/kernels/conv_table.h"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>

#include "libcore/kernels/conv.h"
#include "libcore/kernels/convolution/conv_kernels.h"
#include "libcore/kernels/convolution/conv_slabs.h"

namespace voxshard {
namespace {

bool runs_all(const ConvUse&) { return true; }
bool runs_floats(const ConvUse& use) { return use.dtype == DType::kF32 || use.dtype == DType::kBF16; }

constexpr std::int64_t kLeastVoxels = 1024;  // voxels per sample

/// Each slab costs the library as much as some hundred voxels, so voxshard's own kernel is faster on small images.
bool library_weight_grad_pays(const ConvUse& use) {
  return use.over.empty() || element_count(use.over) / (use.over[0] * use.over.back()) >= kLeastVoxels;
}
/// True where bf16 is multiplied natively and the library has fast code; elsewhere voxshard's own kernel is faster.
bool library_weight_grad_runs(const ConvUse& use) {
  return use.dtype == DType::kBF16 && cpu_has_native_bf16() &&
         fast::make_library_weight_grad(use.window, use.weights, DType::kBF16) != nullptr;
}

std::unique_ptr<Kernel> library_weight_grad(const ConvUse& use) {
  return fast::make_library_weight_grad(use.window, use.weights, DType::kBF16);
}
std::unique_ptr<Kernel> tiled_weight_grad(const ConvUse& use) {
  return fast::make_tiled_weight_grad(use.window, use.weights);
}

constexpr std::int64_t kMostSumBytes = 8 << 20;  // f32 sums in a workspace

/// Large weight gradients are summed in slices of Co one after another, so that the workspace stays below 32 MiB.
template <std::unique_ptr<Kernel> (*make)(const ConvUse& use)>
std::unique_ptr<Kernel> within_workspace(const ConvUse& use) {
  std::int64_t slices = 1;
  const std::int64_t out = use.weights.back();
  while (4 * element_count(use.weights) > slices * kMostSumBytes && out % (2 * slices * 16) == 0) slices *= 2;
  if (slices == 1) return make(use);
  ConvUse sliced = use;
  sliced.slices = slices;
  return fast::make_sliced(make, sliced);
}

std::unique_ptr<Kernel> reference_forward(const ConvUse& use) {
  return std::make_unique<FunctionKernel>(
      [window = use.window.lifted(), shape = lifted_weights(use.weights), parts = use.parts](const KernelCall& call) {
        const TensorView& kernel = call.inputs[parts];
        const TensorView w = dense_view(kernel.data, kernel.dtype, Box::whole(shape));
        const TensorView* bias = call.inputs.size() > parts + 1 ? &call.inputs[parts + 1] : nullptr;
        std::vector<TensorView> xs;
        for (std::size_t i = 0; i < parts; ++i) xs.push_back(call.inputs[i].lifted());
        reference::conv_forward(xs, w, bias, call.output.lifted(), window);
      });
}

std::unique_ptr<Kernel> reference_input_grad(const ConvUse& use) {
  const Shape shape = lifted_weights(use.weights);
  const std::int64_t channels = use.channels < 0 ? shape[3] : use.channels;
  return std::make_unique<FunctionKernel>(
      [window = use.window.lifted(), shape, first = use.channel, channels](const KernelCall& call) {
        Box slice = Box::whole(shape);
        slice.set(3, first, first + channels);
        const TensorView w = dense_view(call.inputs[1].data, call.inputs[1].dtype, Box::whole(shape)).sub(slice);
        const TensorView* bias = call.inputs.size() > 2 ? &call.inputs[2] : nullptr;
        reference::conv_input_grad(call.inputs[0].lifted(), w, bias, call.output.lifted(), window);
      });
}

std::unique_ptr<Kernel> reference_weight_grad(const ConvUse& use) {
  return std::make_unique<FunctionKernel>(
      [window = use.window.lifted(), shape = lifted_weights(use.weights)](const KernelCall& call) {
        const TensorView d_w = dense_view(call.output.data, call.output.dtype, Box::whole(shape));
        reference::conv_weight_grad(call.inputs[0].lifted(), call.inputs[1].lifted(), d_w, window);
      });
}

template <std::int64_t outputs>
std::unique_ptr<Kernel> winograd(const ConvUse& use) {
  return fast::make_winograd(use, outputs);
}

template <std::int64_t outputs>
Dims winograd_grain(const ConvUse& use) {
  return fast::winograd_grain(use, outputs);
}

template <std::int64_t outputs>
double winograd_growth(const ConvUse& use) {
  return fast::winograd_growth(use, outputs);
}

constexpr std::int64_t kLeastChannels = 16;  // one block; fewer leave lanes empty
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// Where an axis has fewer voxels than the minimum, for volumes or for images, transforming the weights outweighs the
/// products saved. In bf16 too, also where the processor multiplies it: in f32, 8 times fewer products take 0.3 to 0.7
/// of the time of native ones (tests/bench/winograd_bench.cc); only tiles (AMX, the rows above) are faster.
bool winograd_pays(const ConvUse& use, std::int64_t least_of_volumes, std::int64_t least_of_images) {
  const Shape w = lifted_weights(use.weights);
  if (use.over.empty() || std::min(w[3], w[4]) < kLeastChannels) return false;
  const std::int64_t least = use.window.lifted().kernel[0] > 1 ? least_of_volumes : least_of_images;
  for (int a = 0; a < use.window.axes(); ++a)
    if (use.window.kernel[a] > 1 && use.over[a + 1] < least) return false;
  return true;
}

constexpr ConvRow winograd4_row(ConvPass pass) {
  return {.kernel = ConvKernel::kWinograd4,
          .pass = pass,
          .runs = fast::winograd_applies,
          .pays = [](const ConvUse& use) { return winograd_pays(use, 16, 32); },
          .direct = false,
          .grain = winograd_grain<4>,
          .growth = winograd_growth<4>,
          .make = winograd<4>};
}
constexpr ConvRow winograd2_row(ConvPass pass) {
  return {.kernel = ConvKernel::kWinograd2,
          .pass = pass,
          .runs = fast::winograd_applies,
          .pays =
              [](const ConvUse& use) {
                return winograd_pays(use, use.pass == ConvPass::kWeightGrad ? 8 : 12,
                                     kNever);  // weight gradients pack nothing
              },
          .direct = false,
          .grain = winograd_grain<2>,
          .growth = winograd_growth<2>,
          .make = winograd<2>};
}

/// True from kLeastChannels on: fewer leave tiles empty, and the library's first layer and head are faster
/// (tests/bench/amx_bench.cc).
bool amx_pays(const ConvUse& use) {
  const Shape w = lifted_weights(use.weights);
  return std::min(w[3], w[4]) >= kLeastChannels;
}

constexpr ConvRow amx_row(ConvPass pass) {
  return {
      .kernel = ConvKernel::kAmx, .pass = pass, .runs = fast::amx_applies, .pays = amx_pays, .make = fast::make_amx};
}

constexpr ConvRow kRows[] = {
    amx_row(ConvPass::kForward),
    amx_row(ConvPass::kInputGrad),
    amx_row(ConvPass::kWeightGrad),
    winograd4_row(ConvPass::kForward),
    winograd4_row(ConvPass::kInputGrad),
    winograd4_row(ConvPass::kWeightGrad),
    winograd2_row(ConvPass::kForward),
    winograd2_row(ConvPass::kInputGrad),
    winograd2_row(ConvPass::kWeightGrad),
    {.kernel = ConvKernel::kLibrary,
     .pass = ConvPass::kForward,
     .runs = runs_floats,
     .make = fast::make_library_forward},
    {.kernel = ConvKernel::kLibrary,
     .pass = ConvPass::kInputGrad,
     .runs = runs_floats,
     .make = fast::make_library_input_grad},
    {.kernel = ConvKernel::kLibrary,
     .pass = ConvPass::kWeightGrad,
     .runs = library_weight_grad_runs,
     .pays = library_weight_grad_pays,
     .make = within_workspace<library_weight_grad>},
    {.kernel = ConvKernel::kTiled,
     .pass = ConvPass::kWeightGrad,
     .runs = runs_floats,
     .make = within_workspace<tiled_weight_grad>},
    {.kernel = ConvKernel::kReference, .pass = ConvPass::kForward, .runs = runs_all, .make = reference_forward},
    {.kernel = ConvKernel::kReference, .pass = ConvPass::kInputGrad, .runs = runs_all, .make = reference_input_grad},
    {.kernel = ConvKernel::kReference, .pass = ConvPass::kWeightGrad, .runs = runs_all, .make = reference_weight_grad},
};

/// Returns the use that rows are queried with: a dense layer is replaced by the matrix product that kernels see.
ConvUse computed(const ConvUse& use) { return fast::is_dense_layer(use) ? fast::product_of_samples(use) : use; }

bool pays(const ConvRow& row, const ConvUse& use) { return row.pays == nullptr || row.pays(computed(use)); }
bool runs(const ConvRow& row, const ConvUse& use) { return fast::row_runs(row, use) && conv_is_trusted(row); }

/// Finds the first row of that kernel that computes the use; kAny: the first that pays and has no grain. Null: none.
const ConvRow* find_row(ConvKernel kernel, const ConvUse& use) {
  for (const ConvRow& row : kRows) {
    const bool meant = kernel == ConvKernel::kAny ? row.grain == nullptr && pays(row, use) : row.kernel == kernel;
    if (meant && row.pass == use.pass && runs(row, use)) return &row;
  }
  return nullptr;
}

constexpr std::int64_t kChannelsPerSlice = 64;
constexpr std::int64_t kTransformedChannelsPerSlice = 128;  // each slice transforms its input again

bool is_winograd(ConvKernel kernel) { return kernel == ConvKernel::kWinograd4 || kernel == ConvKernel::kWinograd2; }

/// The number of values that a kernel stores for the window of one pair of channels.
std::int64_t values_of_window(ConvKernel kernel, const Window& window) {
  if (!is_winograd(kernel)) return window.volume();
  std::int64_t values = 1;
  for (auto taps : window.kernel) values *= taps == 1 ? 1 : taps - 1 + (kernel == ConvKernel::kWinograd4 ? 4 : 2);
  return values;
}

std::int64_t sliced_channels(const ConvUse& use) {
  const Shape w = lifted_weights(use.weights);
  if (use.pass != ConvPass::kInputGrad) return w[4];
  return use.channels < 0 ? w[3] : use.channels;
}

}  // namespace

bool fast::row_runs(const ConvRow& row, const ConvUse& use) { return row.runs(computed(use)); }

std::unique_ptr<Kernel> fast::make_of_row(const ConvRow& row, const ConvUse& use) {
  if (row.kernel != ConvKernel::kReference && is_dense_layer(use)) return make_dense(row.make, use);
  return use.slices > 1 ? make_sliced(row.make, use) : row.make(use);
}

std::span<const ConvRow> conv_rows() { return kRows; }

bool conv_is_trusted(const ConvRow& row) {
  static std::array<std::once_flag, std::size(kRows)> asked;
  static std::array<bool, std::size(kRows)> agree;
  const auto index = static_cast<std::size_t>(&row - kRows);
  ensure(index < std::size(kRows), "a row of the table");
  std::call_once(asked[index], [&] { agree[index] = row.kernel == ConvKernel::kReference || conv_agrees(row); });
  return agree[index];
}

std::int64_t conv_slices(ConvKernel kernel, const ConvUse& use) {
  const Shape w = lifted_weights(use.weights);
  const std::int64_t channels = sliced_channels(use), inner = use.pass == ConvPass::kInputGrad ? w[4] : w[3];
  if (use.over.empty() || use.window.volume() == 1 || element_count(use.window.stride) > 1) return 1;
  const std::int64_t width = is_winograd(kernel) ? kTransformedChannelsPerSlice : kChannelsPerSlice;
  if (channels % width != 0 || channels == width) return 1;
  const std::int64_t voxels = element_count(use.over) / use.over.back();
  const std::int64_t weight_bytes = 4 * values_of_window(kernel, use.window) * channels * inner;
  return weight_bytes > voxels * (channels + inner) * dtype_bytes(use.dtype) ? channels / width : 1;
}

ConvKernel choose_conv(const ConvUse& use, Convolution from) {
  for (const ConvRow& row : kRows)
    if (row.pass == use.pass && (row.direct || from == Convolution::kFast) && pays(row, use) && runs(row, use))
      return row.kernel;
  return ConvKernel::kReference;
}

bool conv_runs(ConvKernel kernel, const ConvUse& use) { return find_row(kernel, use) != nullptr; }

Dims conv_grain(ConvKernel kernel, const ConvUse& use) {
  if (kernel == ConvKernel::kAny) return {};
  for (const ConvRow& row : kRows)
    if (row.kernel == kernel && row.pass == use.pass) return row.grain == nullptr ? Dims{} : row.grain(use);
  return {};
}

double conv_growth(ConvKernel kernel, const ConvUse& use) {
  for (const ConvRow& row : kRows)
    if (row.kernel == kernel && row.pass == use.pass) return row.growth == nullptr ? 1 : row.growth(use);
  return 1;
}

std::unique_ptr<Kernel> make_conv(KernelSet set, ConvKernel kernel, const ConvUse& use) {
  const ConvRow* row = find_row(set == KernelSet::kReference ? ConvKernel::kReference : kernel, use);
  if (row == nullptr)
    throw Error(ErrorKind::kConfig, std::string("[conv] the kernel ") +
                                        kConvKernelNames[static_cast<std::size_t>(kernel)] +
                                        " was chosen on another processor and does not run here; have it chosen again");
  return fast::make_of_row(*row, use);
}

}  // namespace voxshard
