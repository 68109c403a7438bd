// Contact sheets: for each case an axial, a coronal and a sagittal slice through the centre of its label, windowed in
// HU, the prediction filled and the reference outlined, with isotropic pixels for any voxel spacing, and a caption.
//
//   write_rgb("overlay.png", overlay_sheet({{.image = &ct, .reference = &organs, .caption = "case 03"}}, {}));
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "io/volume/volume.h"

namespace voxshard {

struct OverlayCase {
  const Volume* image = nullptr;       // f32; any orientation, shown in radiological view (patient's left on the right)
  const Volume* reference = nullptr;   // i32 on the image's grid, or null: drawn as an outline
  const Volume* prediction = nullptr;  // i32 on the image's grid, or null: drawn filled
  std::string caption;                 // short ASCII text above the case; must not name a patient
};

struct OverlayOptions {
  int tile_px = 320;  // height and width of the tile of a slice
  double fill_opacity = 0.45;
  std::vector<std::string> label_names;  // by class; a legend of the classes shown when not empty
  std::string marks = "filled: prediction   outlined: reference";  // the last line of the legend
};

/// (H, W, 3) u8, red first. Errors: kConfig when a label's grid is not the image's, or an image is missing.
Tensor overlay_sheet(const std::vector<OverlayCase>& cases, const OverlayOptions& options);

/// Returns the colour of a class (red, green, blue): the same in all images; 12 distinct colours, then darker ones;
/// class 0 is black.
std::array<std::uint8_t, 3> class_colour(int label);

}  // namespace voxshard
