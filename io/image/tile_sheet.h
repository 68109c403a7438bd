// Draws the partition of a sample over cores: each view of it with the tile of every core outlined in the core's
// colour, and the halo that the core holds beyond its tile hatched in the same colour, with the width in voxels.
//
//   DrawnSheet sheet = draw_tiles({.title = "image", .views = {{.caption = "axial", .extent = {48, 40}, .rgb = slice,
//   .tiles = tiles}}}); write_sheet("tiles.png", sheet.rgb);
//
// Enlarged voxels are squares of whole pixels; an axis that would be too thin to be seen is stretched.
#pragma once

#include <string>
#include <vector>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// A tile in one view. Boxes are (rows, columns) in voxels of the view.
struct DrawnTile {
  std::string name;  // "3"; "0-3" where several cores hold the same
  int colour = 1;    // a number of class_colour (io/image/overlay.h)
  Box own;
  Box held;  // contains `own`; may reach beyond the view
};

struct TileView {
  std::string caption;   // "axial, z = 24 of 48"
  Dims extent;           // (rows, columns) in voxels
  Tensor rgb;            // (H, W, 3) u8, red first, stretched over `extent`
  bool upwards = false;  // true: row 0 is drawn at the bottom, for views with the patient's feet at row 0
  std::vector<DrawnTile> tiles;
};

struct TileKey {
  int colour = 1;
  std::string text;
};

/// Texts are one line each; other than printable ASCII becomes '?'.
struct TileSheet {
  std::string title;
  std::vector<TileView> views;  // in rows of three; an axis has the same length in each
  std::vector<std::string> lines;
  std::vector<TileKey> key;
};

/// The position of a view on the sheet: voxel (row, column) begins at pixel (top + row * row_px, left + column *
/// column_px), rounded; in a view that is drawn upwards the row ends at pixel top + (rows - row) * row_px.
struct PlacedView {
  int left = 0, top = 0, rows = 0, columns = 0;
  double row_px = 1, column_px = 1;
  bool upwards = false;

  /// Returns the pixel at which row `edge` (0 to rows) begins; in a view that is drawn upwards, the pixel above which
  /// it ends.
  int y(std::int64_t edge) const;
  int x(std::int64_t edge) const;
};

struct DrawnSheet {
  Tensor rgb;  // (H, W, 3) u8
  std::vector<PlacedView> views;
};

/// Draws a sheet; the same input gives the same bytes. A halo band is drawn at least 6 pixels wide, however few voxels
/// it has. Requires at least one view, with voxels.   Cost: at most about 1900 x 1900 pixels besides texts for the
/// first three views, and as many rows of 640 for the others.
DrawnSheet draw_tiles(const TileSheet& sheet);

}  // namespace voxshard
