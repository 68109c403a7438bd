// The fast convolutions that the rows of conv_table.cc make; tests make them by hand on any machine.
#pragma once

#include "libcore/kernels/amx/routines.h"
#include "libcore/kernels/conv_table.h"

namespace voxshard::fast {

/// The library, direct, slab by slab.
std::unique_ptr<Kernel> make_library_forward(const ConvUse& use);
std::unique_ptr<Kernel> make_library_input_grad(const ConvUse& use);
/// Our own loops (AVX2, f32 accumulation, f32 or bf16 views): 2-3 times the library's on AVX2.
std::unique_ptr<Kernel> make_tiled_weight_grad(const Window& window, const Shape& weights);
/// The library on slabs of about 8 planes, operands in `compute`; null when it has no fast code for it.
std::unique_ptr<Kernel> make_library_weight_grad(const Window& window, const Shape& weights, DType compute);

/// Whether make_winograd() computes it: 3x3x3 and 3x3, stride and dilation 1, f32 or bf16.
bool winograd_applies(const ConvUse& use);
/// Every pass, in tiles of 4 or 2 `outputs` an axis; f32 products.
std::unique_ptr<Kernel> make_winograd(const ConvUse& use, std::int64_t outputs);
Dims winograd_grain(const ConvUse& use, std::int64_t outputs);
double winograd_growth(const ConvUse& use, std::int64_t outputs);

/// Whether make_amx() computes it: bf16, stride and dilation 1, or kernel == stride.
bool amx_computes(const ConvUse& use);
/// And whether this processor has the tiles.
bool amx_applies(const ConvUse& use);
/// Every pass, bf16 products, f32 sums. Over other routines than the tiles: for tests.
std::unique_ptr<Kernel> make_amx_over(const amx::Routines& routines, const ConvUse& use);
inline std::unique_ptr<Kernel> make_amx(const ConvUse& use) { return make_amx_over(amx::kTiles, use); }
/// The part of it for kernel == stride, all channels of one x.
bool patches_apply(const ConvUse& use);
std::unique_ptr<Kernel> make_amx_patches(const amx::Routines& routines, const ConvUse& use);

/// Whether a row computes this use here, trusted or not: a dense layer is asked as the product that it is.
bool row_runs(const ConvRow& row, const ConvUse& use);
/// The kernel of a row, around it what serves all rows: slices, dense layers.
std::unique_ptr<Kernel> make_of_row(const ConvRow& row, const ConvUse& use);

/// A kernel by `make` for each of use.slices, behind one another in the packed weights; runs those that a block has.
std::unique_ptr<Kernel> make_sliced(std::unique_ptr<Kernel> (*make)(const ConvUse& use), const ConvUse& use);

/// Whether the one window of a sample is all of it: a dense layer.
bool is_dense_layer(const ConvUse& use);
/// The same product with the samples as the voxels of one row: 1x1x1 windows, (1, 1, 1, K * Ci, Co) weights.
ConvUse product_of_samples(const ConvUse& use);
/// A dense layer by the kernel that `make` makes for that product.
std::unique_ptr<Kernel> make_dense(std::unique_ptr<Kernel> (*make)(const ConvUse& use), const ConvUse& use);

}  // namespace voxshard::fast
