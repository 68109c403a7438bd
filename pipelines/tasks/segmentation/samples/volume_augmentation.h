// Random changes of a training sample of a volume: rotation and scale of its place; blur, resolution, gamma, contrast,
// brightness and noise of its values. A pure function of (seed, number of the sample), so that a resumed run sees the
// same samples. Kinds, ranges and probabilities are those of nnU-Net's trainer (Isensee et al. 2021, Nature Methods 18;
// batchgeneratorsv2), but no change needs a statistic of the whole sample: each core reads and
// changes its own box only. Contrast and gamma therefore turn about the mean of the normalisation, 0.
//
//   const PlaceChange place = draw_place({.space = true}, seed, number, volume.geometry());
//   const SpatialMap map = place_map(place, {.begin = begin, .size = size, .mirrored = mirrored}, volume.geometry());
//   const ValueChange values = draw_values({.intensity = true}, seed, number, channel, volume.geometry());
//   Tensor mixed = mixed_values(volume, map, values, box, air);   // then changed_value() of each
#pragma once

#include <string>
#include <vector>

#include "pipelines/tasks/augmentation/warp.h"

namespace voxshard {

struct VolumeAugmentation {
  bool space = false;                    // rotation and scale
  bool intensity = false;                // the changes of values
  double rotation_degrees = 30;          // the largest, about each axis
  std::array<double, 2> zoom{0.7, 1.4};  // factor of sizes
};

/// Returns "none", "space", "intensity", "all".
std::vector<std::string> augmentation_names();
std::string augmentation_name(const VolumeAugmentation& options);
/// Sets what one of the names says. Requires: one of them.
void set_augmentation(const std::string& name, VolumeAugmentation& options);
/// Parses "DHW", the axes to mirror. Errors: kUsage for anything but letters of DHW, each at most once.
std::array<bool, 3> flips_from_text(const std::string& text);
/// Parses "0.7,1.4". Errors: kUsage for anything but a factor of 0.25 to 1 and one of 1 to 4.
std::array<double, 2> zoom_from_text(const std::string& text);

/// How a sample is turned and scaled about its centre. A volume whose slices lie more than 3 times as far apart as its
/// other axes is changed within its slices alone.
struct PlaceChange {
  Vector3 degrees{};  // about D, H, W
  Vector3 zoom{1, 1, 1};
  bool moves() const { return *this != PlaceChange{}; }
  friend bool operator==(const PlaceChange&, const PlaceChange&) = default;
};

/// How the values of a channel are changed, in this order.
struct ValueChange {
  Vector3 resolution{1, 1, 1};  // D H W: the values are sampled at so many points per voxel and interpolated
  double blur_voxels = 0;       // standard deviation of a Gaussian
  double gamma = 1;             // exponent on the range of values, with equal value and slope at the mean, 0
  double inverted_gamma = 1;    // the same from the upper end of the range
  double contrast = 1;          // factor of the distance from the mean, within the range
  double brightness = 1;        // factor
  double noise = 0;             // standard deviation, in normalised units
  /// True when a value depends on its neighbours.
  bool mixes_voxels() const { return resolution != Vector3{1, 1, 1} || blur_voxels > 0; }
};

/// The values between which gamma and contrast act; without an end there is no gamma. Values outside keep their
/// distance.
struct ValueRange {
  double low = -3, high = 3;  // for images normalised by their own mean and deviation
};

PlaceChange draw_place(const VolumeAugmentation& options, std::uint64_t seed, std::uint64_t number,
                       const Geometry& geometry);
ValueChange draw_values(const VolumeAugmentation& options, std::uint64_t seed, std::uint64_t number,
                        std::size_t channel, const Geometry& geometry);

/// Where a sample lies in its volume, in voxels D H W.
struct SamplePlace {
  std::array<std::int64_t, 3> begin{};  // low corner
  Dims size;
  std::array<bool, 3> mirrored{};
};
/// Returns the map from the sample's voxels to those of the volume. Angles are angles in millimetres.
SpatialMap place_map(const PlaceChange& change, const SamplePlace& place, const Geometry& geometry);

/// Returns the values of `box` (D H W of the sample) at reduced resolution and blurred, (D, H, W) f32.
Tensor mixed_values(const MappedVolume& volume, const SpatialMap& map, const ValueChange& change, const Box& box,
                    float outside);
/// Returns gamma and contrast of one value; brightness and noise are for the caller.
double changed_value(double value, const ValueChange& change, const ValueRange& range);

/// Boxes are changed in tiles of at most this size, so that what is held besides them is small.
inline constexpr std::array<std::int64_t, 3> kAugmentationTile{16, 16, 32};
/// Returns the most bytes that changing a tile holds, per thread.
std::int64_t augmentation_bytes(const VolumeAugmentation& options, const Geometry& geometry);

}  // namespace voxshard
