// Random changes of training images: mirroring, scale, rotation and colours. A pure function of (seed, image, epoch,
// part), so that a resumed run sees the same images. Everything is off by default.
//
//   const ImageChange change = draw_image_change({.rotation_degrees = 10}, {.seed = 1, .image = 17, .epoch = 3});
//   const SpatialMap map = map_of_part({.extent = {240, 320}}, change);      // of the whole image
//
// Called by the sources of samples of detectors and of classifiers of images; of volumes see volume_augmentation.h.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "libcore/tensor/spatial_map.h"
#include "pipelines/settings/setting.h"
#include "pipelines/tasks/augmentation/colour_change.h"

namespace voxshard {

struct ImageAugmentation {
  double mirror = 0, mirror_vertical = 0;  // probability: left to right, top to bottom
  std::array<double, 2> scale{1, 1};       // factor of both sides, log-uniform between the two
  double rotation_degrees = 0;             // the largest angle, either way
  double brightness = 0;                   // the largest shift of all channels; 1 is from black to white
  double contrast = 0;                     // the largest relative change of the distance from the mean of the image
  double saturation = 0;                   // the largest relative change of the distance from grey
  double hue_degrees = 0;                  // the largest angle, either way

  bool moves() const { return mirror > 0 || mirror_vertical > 0 || scales() || rotation_degrees > 0; }
  bool scales() const { return scale != std::array<double, 2>{1, 1}; }
  bool recolours() const { return brightness > 0 || contrast > 0 || saturation > 0 || hue_degrees > 0; }
};

/// Identifies an image in an epoch.
struct AugmentationKey {
  std::uint64_t seed = 0, image = 0, epoch = 0;
  int part = 0;  // of a mosaic that the image stands in; 0: the image whose turn it is
};

/// The changes of one image.
struct ImageChange {
  bool mirrored = false, mirrored_vertically = false;
  double factor = 1;
  double degrees = 0;
  ColourChange colour = {};
};
ImageChange draw_image_change(const ImageAugmentation& options, const AugmentationKey& key);

/// A stream's name for a part of a mosaic: part 0 has the plain name.
std::string stream_of_part(const std::string& name, int part);

/// A part of an image, (y, x).
struct ImagePart {
  std::array<std::int64_t, 2> begin{};
  Dims extent;  // H W
};
/// Returns the map from the (y, x, channel) of a sample that shows a part of an image, to those of the image. The part
/// is rotated about its centre, enlarged by `factor` and mirrored; without these the map is exact.
SpatialMap map_of_part(const ImagePart& part, const ImageChange& change);

/// Returns the rows of {mirror} to {hue}, bound to `options`; the defaults are what `options` has.
std::vector<Setting> augmentation_settings(ImageAugmentation& options);
/// Throws kUsage unless 0 < lowest <= LOW <= HIGH <= highest for {scale}.
void require_scales(const ImageAugmentation& options, double lowest, double highest);
/// Throws kUsage when `options` change anything, because the items of `data` are no images but `kind`.
void require_no_changes(const ImageAugmentation& options, const std::filesystem::path& data, const char* kind);
/// Returns the settings that are on and show a left hand as a right one: mirroring from top to bottom does so too.
std::vector<std::string> mirroring_settings(const ImageAugmentation& options);
/// Adds what is switched on to the description of a run's samples, so that a resumed run has the same. {mirror},
/// {scale}, {brightness}, {contrast} and {saturation} are there already where `known`.
void describe_augmentation(const ImageAugmentation& options, bool known, nlohmann::ordered_json& sampling);

}  // namespace voxshard
