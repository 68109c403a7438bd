// The interface between this folder and the processor: everything that runs in tiles and vector registers, as a table
// of routines on plain pointers and counts. A tile is 16 rows of 64 bytes, 1 KiB.
//
//   kTiles     the instructions of the processor; requires available()
//   kEmulated  the same in plain C++, on any processor: for tests and checks, never chosen for real work
//
// Products are C (16 x 16 f32) += A (16 rows of 32 bf16) times B (16 rows of 16 pairs of bf16): two A and two B in
// registers make four C, each a chain over its terms in the order of the call. A test plants a fault with a copy of a
// table in which one routine is its own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace voxshard::amx {

inline constexpr std::int64_t kTileRows = 16, kTileBytes = 1024, kLineBytes = 64;
/// bf16 values of one A row, or one B column, over which a product contracts.
inline constexpr std::int64_t kDepth = 32;

/// Bytes from a B tile of weights to the next of the same block: two blocks of result channels alternate.
inline constexpr std::int64_t kWeightsStep = 2 * kTileBytes;

/// Lines of voxels that each tap prefetches into the level-1 cache for the next unit: the three taps of a row need 18.
inline constexpr std::int64_t kAheadLines = 6;

/// Products of a convolution: tiles of 16 voxels by one or two blocks of 16 result channels.
struct TapProducts {
  const std::byte* const* voxels;  // [kd][tiles]: the first line of each tile in the plane of kd, chunk 0, tap 0
  std::int64_t tiles;              // number of tiles; an odd last one is computed alone
  std::int64_t planes;             // kd = 0 .. planes - 1
  std::int64_t chunk_bytes;        // bytes from a chunk of 32 channels to the next
  const std::int64_t* taps;        // byte offset of each tap of a plane
  const std::int64_t* ahead;       // byte offset to the kAheadLines lines of the next unit that each tap prefetches
  std::int64_t tap_count;
  const std::byte* weights[2];  // B tiles [chunk][kd][tap], kWeightsStep apart; the second is null for one block
  std::byte* sums;              // C tiles [tile][2]
};
/// Products of a weight gradient for one tap: one or two blocks of 16 channels of d_y by one or two of x, over groups
/// of 32 voxels.
struct GroupProducts {
  const std::byte* d_y[2];    // A tiles [group]; the second may be null
  const std::byte* const* x;  // [group]: the first pair of the group, of block 0 and tap 0
  std::int64_t offsets[2];    // bytes to add for each block of x and this tap
  int x_blocks;               // 1 or 2
  std::byte* sums;            // C tiles [d_y block][x block] of 16 channels of d_y by 16 of x
};
/// A row of voxels in memory: voxel i is at data + i * stride bf16 values and exists for i in [first, past); others
/// read as zero.
struct VoxelRow {
  const std::uint16_t* data;
  std::int64_t stride, first, past;
  std::int64_t channels;
};
/// Lines of 16 channels of two voxels, interleaved. Copy k lies `copy_bytes` after the one before and has `pairs` of
/// pairs that begin with voxels k and k + 1; blocks are block_bytes apart.
struct PairLines {
  std::byte* data;
  std::int64_t pairs, copies, copy_bytes, block_bytes;
};

/// 32 source channels by 16 result channels of one tap; strides in elements, one of them is 1; f32 or bf16.
struct WeightSquare {
  const std::byte* data;
  bool bf16;
  std::int64_t source_stride, result_stride;
  std::int64_t sources, results;  // numbers that exist; the rest is zero
};
struct Routines {
  const char* name;

  /// Called around the products of a call: begin() configures eight tiles of 16 rows of 64 bytes, end() releases them,
  /// as other libraries' code in the same thread expects.
  void (*begin)();
  void (*end)();

  /// sums (+)= products over the units (chunk, kd) [first, past) in chunk-major order, for tiles [first_tile,
  /// past_tile), of which the first is even; `first` 0 begins at zero.
  void (*multiply_taps)(const TapProducts& p, std::int64_t first_tile, std::int64_t past_tile, std::int64_t first,
                        std::int64_t past);
  /// sums (+)= products over groups [first, past); `zero` begins at zero.
  void (*multiply_groups)(const GroupProducts& p, std::int64_t first, std::int64_t past, bool zero);

  /// Copies lines of 32 channels: voxels [from, from + count) to `to` + i * 64, + chunk * chunk_bytes; missing channels
  /// of the last chunk become zero.
  void (*copy_lines)(const VoxelRow& row, std::int64_t from, std::int64_t count, std::byte* to,
                     std::int64_t chunk_bytes);
  void (*copy_pairs)(const VoxelRow& row, const PairLines& to);
  /// to[j][i] = from[i][j], 16 x 16 words of 4 bytes; a row of `to` is to_stride bytes, `from` may be `to`.
  /// `past_cache`: stores bypass the caches; `to` and its rows are 64-byte aligned and are not read soon;
  /// end_past_cache() must follow before another thread may read them.
  void (*transpose)(const std::byte* from, std::byte* to, std::int64_t to_stride, bool past_cache);
  void (*end_past_cache)();

  /// Writes the B tile of a square, rounded to bf16.
  void (*pack_weights)(const WeightSquare& w, std::byte* to);

  /// Adds bias (of each block, 16 f32) to the first `rows` rows of the C tiles of one or two blocks of result channels
  /// and stores `channels` (1 .. 32) values of each row; rows are `stride` values apart.
  void (*store_bf16)(const std::byte* sums, std::int64_t rows, const float* bias, std::int64_t channels,
                     std::uint16_t* to, std::int64_t stride);
  void (*store_f32)(const std::byte* sums, std::int64_t rows, const float* bias, std::int64_t channels, float* to,
                    std::int64_t stride);
};

extern const Routines kTiles, kEmulated;

/// Calls begin() and end() of its routines on construction and destruction.
class TileScope {
 public:
  explicit TileScope(const Routines& routines) : routines_(routines) { routines_.begin(); }
  ~TileScope() { routines_.end(); }
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

 private:
  const Routines& routines_;
};

}  // namespace voxshard::amx
