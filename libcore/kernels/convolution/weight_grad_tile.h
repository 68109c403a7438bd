// The inner loop of voxshard's own weight gradient: outer products of some input and 16 output channels, summed over
// voxels.
//
// Operands are packed in panels, x as [row][voxel][tile] and d_y as [row][voxel][16], so that loads are contiguous for
// any number of channels (power-of-two rows would share few cache sets). Compiled once per instruction set; every sum
// is one chain of fused multiply-adds over the voxels, so that all of them give the same bits.
#pragma once

#include <cstdint>

namespace voxshard::fast {

/// Channels of a panel of x and of d_y.
inline constexpr std::int64_t kTileIn = 8, kTileOut = 16;

struct OuterProductsOfPanels {
  const float* x = nullptr;                    // at the first row and voxel
  std::int64_t channels = 0;                   // channels from there on, each with a sum of its own
  const float* d_y = nullptr;                  // 64-byte aligned
  std::int64_t out_panels = 0, out_panel = 0;  // number of panels, and floats from one to the next
  std::int64_t rows = 0, voxels = 0;           // of d_y, and voxels per row
  std::int64_t x_row = 0, x_voxel = 0;         // floats between rows and voxels of x
  std::int64_t y_row = 0;                      // floats between rows of d_y; its voxels are kTileOut apart
  float* sums = nullptr;                       // [channel][16] of the first panel, 64-byte aligned
  std::int64_t sums_panel = 0;                 // floats to the sums of the next panel
};

/// sums[o][c][16] += sum over voxels, row by row, of x[c] * d_y[o][16].
void add_outer_products(const OuterProductsOfPanels& p);

/// Highway's name for the instruction set in use: "AVX3".
const char* outer_products_code();

}  // namespace voxshard::fast
