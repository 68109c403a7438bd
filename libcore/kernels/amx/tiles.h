// The routines of kTiles (routines.h), which tiles.cc collects in a table. Requires available().
#pragma once

#include "libcore/kernels/amx/routines.h"

namespace voxshard::amx::tiles {

void load_config();
void release();

void multiply_taps(const TapProducts& p, std::int64_t first_tile, std::int64_t past_tile, std::int64_t first,
                   std::int64_t past);
void multiply_groups(const GroupProducts& p, std::int64_t first, std::int64_t past, bool zero);

void copy_lines(const VoxelRow& row, std::int64_t from, std::int64_t count, std::byte* to, std::int64_t chunk_bytes);
void copy_pairs(const VoxelRow& row, const PairLines& to);
void transpose(const std::byte* from, std::byte* to, std::int64_t to_stride, bool past_cache);
void end_past_cache();
void pack_weights(const WeightSquare& w, std::byte* to);
void store_bf16(const std::byte* sums, std::int64_t rows, const float* bias, std::int64_t channels, std::uint16_t* to,
                std::int64_t stride);
void store_f32(const std::byte* sums, std::int64_t rows, const float* bias, std::int64_t channels, float* to,
               std::int64_t stride);

}  // namespace voxshard::amx::tiles
