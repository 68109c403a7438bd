// The inner loops of the Winograd kernels, each compiled once per instruction set and chosen at run time by Highway.
//
// A tile of outputs[0] x outputs[1] x outputs[2] voxels is computed from a patch of inputs[0] x inputs[1] x inputs[2]
// voxels: patch and weights are transformed to `positions` values each, multiplied position by position, and
// transformed back. Everything runs over blocks of 16 channels, one lane per channel: lanes are never combined, so
// AVX2 (two vectors a block) and AVX-512 (one) do the same operations in the same order and give the same bits.
//
// The axes are transformed one after the other, D first: a tensor's rows become planes, one per position along D. For
// one such position after the other, the patches along H and W become slabs of 16 tiles and 16 channels,
// [position][tile][16], which are multiplied and transformed back to planes of outputs; these become rows of the
// result. So tensors and planes are read and written in the order of memory, each voxel once, and slabs, products and
// weights of one position along D stay together in a level-2 cache. All buffers are 64-byte aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace voxshard::winograd {

inline constexpr std::int64_t kLanesPerBlock = 16;
inline constexpr std::int64_t kTilesPerSlab = 16;
// floats from a position to the next in a slab
inline constexpr std::int64_t kPositionFloats = kTilesPerSlab * kLanesPerBlock;
inline constexpr std::int64_t kSlabGap = kPositionFloats;

/// F(outputs, 3) along D, H, W: outputs 4 with inputs 6, 2 with 4; along D also 1 with 1 (no kernel there).
struct TileForm {
  int inputs[3];
  int outputs[3];

  int positions() const { return inputs[0] * inputs[1] * inputs[2]; }
  int kernel(int axis) const { return inputs[axis] - outputs[axis] + 1; }
  int taps() const { return kernel(0) * kernel(1) * kernel(2); }
};

/// Scratch floats of every routine that takes any: two patches of the largest form, or six rows of 72 voxels.
inline constexpr std::int64_t kScratchFloats = 2 * 216 * kLanesPerBlock;

/// The voxels of a tensor under some tiles or patches. Voxels outside [first, past) do not exist: they read as zero and
/// are not written. data is the channel 0 of voxel (0, 0, 0), even when that one does not exist.
struct TileVoxels {
  std::byte* data;
  bool bf16;               // else f32
  std::int64_t stride[3];  // elements
  int first[3], past[3];
  std::int64_t channels;
};

/// Planes of `height` x `width` voxels and 16 channels: [position along D][block][tile along D][h][w][16].
struct Planes {
  float* data;
  std::int64_t blocks, depth, height, width;

  std::int64_t plane() const { return height * width * kLanesPerBlock; }
  std::int64_t position() const { return blocks * depth * plane(); }
  float* at(std::int64_t position_along_d, std::int64_t block, std::int64_t tile) const {
    return data + position_along_d * position() + (block * depth + tile) * plane();
  }
};

/// Slabs of `blocks` blocks of channels for groups of 16 tiles: [group][block][position along H, W][tile][16].
struct Slabs {
  float* data;
  std::int64_t blocks, positions;

  std::int64_t slab() const { return positions * kPositionFloats + kSlabGap; }
  std::int64_t group() const { return blocks * slab(); }
  /// The address of a tile in the slab of its first block.
  float* tile(std::int64_t t) const { return data + t / kTilesPerSlab * group() + t % kTilesPerSlab * kLanesPerBlock; }
};

/// Transforms the patches that begin at voxel (0, 0, 0) of `from` along D; planes are as high and wide as the voxels
/// read. The channels go to the blocks from first_block on; the last block is filled up with zeros. read_gradients()
/// does the same for an output's gradient, as the weight gradient needs it.
void read_patches(const TileForm& form, const TileVoxels& from, const Planes& to, std::int64_t first_block,
                  float* scratch);
void read_gradients(const TileForm& form, const TileVoxels& from, const Planes& to, std::int64_t first_block,
                    float* scratch);
/// Transforms the planes of one position along H and W; tiles[3] along D, H, W.
void patches_to_slabs(const TileForm& form, const Planes& from, int position, const int* tiles, const Slabs& to,
                      float* scratch);
void gradients_to_slabs(const TileForm& form, const Planes& from, int position, const int* tiles, const Slabs& to,
                        float* scratch);
/// Transforms products back, to `blocks` blocks of `to` from first_block on.
void slabs_to_outputs(const TileForm& form, const Slabs& from, int position, const int* tiles, const Planes& to,
                      std::int64_t first_block, std::int64_t blocks, float* scratch);
/// Transforms planes of outputs back along D and writes them plus `bias`, 16 values per block.
void write_outputs(const TileForm& form, const Planes& from, const float* bias, const TileVoxels& to);

/// Transforms the weights of one input channel and 16 output channels: [tap][16] -> `to`, positions position_step
/// apart. transform_sums() transforms the weight gradient's sums back.
void transform_weights(const TileForm& form, const float* taps, float* to, std::int64_t position_step, float* scratch);
void transform_sums(const TileForm& form, const float* sums, std::int64_t position_step, float* taps, float* scratch);

/// For the positions p along H and W of one position along D, products[o][p][t][16] = sum over k of
/// values[k / 16][p][t][k % 16] * weights[o][p][k][16], k ascending, one fused multiply-add after the other.
struct Products {
  std::int64_t tiles;
  Slabs values;
  const int* in_channels;  // per block of values, 1 .. 16: later channels are not read
  const float* weights;
  std::int64_t weights_position, weights_block;
  Slabs products;
  std::int64_t out_blocks;  // number of blocks of products
};
void multiply(const Products& p);

/// For the positions p along H and W of one position along D, sums[o][p][c][16] += (= when `first`) the sum over tiles,
/// ascending, of values[c / 16][p][t][c % 16] * gradients[o][p][t][16].
struct OuterProducts {
  std::int64_t tiles;
  Slabs values;
  const int* in_channels;
  Slabs gradients;
  float* sums;  // 16 channels c per block of values
  bool first;
  std::int64_t sums_position, sums_block;
};
void add_outer_products(const OuterProducts& p);

/// Highway's name for the instruction set in use: "AVX3".
std::string instruction_set();

}  // namespace voxshard::winograd
