// The fast convolutions behind the rows of conv_table.cc; tests make them directly on any machine.
#pragma once

#include "libcore/kernels/amx/routines.h"
#include "libcore/kernels/conv_table.h"

namespace voxshard::fast {

/// The library's direct convolution, slab by slab.
std::unique_ptr<Kernel> make_library_forward(const ConvUse& use);
std::unique_ptr<Kernel> make_library_input_grad(const ConvUse& use);
/// Voxshard's own loops (AVX2, f32 accumulation, f32 or bf16 views): 2-3 times as fast as the library's on AVX2.
std::unique_ptr<Kernel> make_tiled_weight_grad(const Window& window, const Shape& weights);
/// The library's weight gradient on slabs of about 8 planes, operands in `compute`; null when the library has no fast
/// code for it.
std::unique_ptr<Kernel> make_library_weight_grad(const Window& window, const Shape& weights, DType compute);

/// True when make_winograd() computes it: 3x3x3 and 3x3, stride and dilation 1, f32 or bf16.
bool winograd_applies(const ConvUse& use);
/// Makes the kernel of any pass, in tiles of 4 or 2 `outputs` per axis; f32 products.
std::unique_ptr<Kernel> make_winograd(const ConvUse& use, std::int64_t outputs);
Dims winograd_grain(const ConvUse& use, std::int64_t outputs);
double winograd_growth(const ConvUse& use, std::int64_t outputs);

/// True when make_amx() computes it: bf16, stride and dilation 1, or kernel == stride.
bool amx_computes(const ConvUse& use);
/// True when, in addition, this processor has AMX tiles.
bool amx_applies(const ConvUse& use);
/// Makes the kernel of any pass, bf16 products, f32 sums. Routines other than the tiles are for tests.
std::unique_ptr<Kernel> make_amx_over(const amx::Routines& routines, const ConvUse& use);
inline std::unique_ptr<Kernel> make_amx(const ConvUse& use) { return make_amx_over(amx::kTiles, use); }
/// True for the uses of make_amx_patches(): kernel == stride, all channels of one x.
bool patches_apply(const ConvUse& use);
std::unique_ptr<Kernel> make_amx_patches(const amx::Routines& routines, const ConvUse& use);

/// True when a row computes this use here, trusted or not; a dense layer is looked up as its matrix product.
bool row_runs(const ConvRow& row, const ConvUse& use);
/// Makes the kernel of a row, with the wrappers common to all rows: slices, dense layers.
std::unique_ptr<Kernel> make_of_row(const ConvRow& row, const ConvUse& use);

/// Makes a kernel by `make` for each of use.slices, one after another in the packed weights; it runs the slices that a
/// block has.
std::unique_ptr<Kernel> make_sliced(std::unique_ptr<Kernel> (*make)(const ConvUse& use), const ConvUse& use);

/// True for a dense layer: a sample has one window that covers it all.
bool is_dense_layer(const ConvUse& use);
/// Returns the same product with the samples as the voxels of one row: 1x1x1 windows, (1, 1, 1, K * Ci, Co) weights.
ConvUse product_of_samples(const ConvUse& use);
/// Makes a dense layer from the kernel that `make` makes for that product.
std::unique_ptr<Kernel> make_dense(std::unique_ptr<Kernel> (*make)(const ConvUse& use), const ConvUse& use);

}  // namespace voxshard::fast
