// The plan of a preparation: everything that `predict` needs to treat a new image as `prepare` treated the training
// images. Stored as plans.json, which people may read and edit.
//
//   PreparePlan plan = read_plan("work/plans.json");
//   PreparedImage x = prepare_image(read_image("new.nii.gz"), plan);
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace voxshard {

/// Bounds of a target spacing, millimetres: beyond the finest microscope and the longest patient.
inline constexpr double kLeastSpacingMm = 1e-3, kMostSpacingMm = 1e4;

enum class Normalise {
  kCt,          // clip, then (x - mean) / std with the numbers of the data set's foreground, as nnU-Net does for CT
  kZscore,      // clip when asked, then mean and std of each image
  kWindow,      // clip, then the window is mapped onto [-1, 1]
  kNone,        // clip when asked
  kSoftTissue,  // clip, soft_tissue_hu(), then as kCt
};
/// True where values are normalised by the numbers of the data set's foreground.
constexpr bool is_by_foreground(Normalise normalise) {
  return normalise == Normalise::kCt || normalise == Normalise::kSoftTissue;
}

/// Returns `hu` with values below -200 and above 300 HU, beyond fat and tissue with contrast agent, moved to a tenth of
/// their distance from that range: air and bone stay apart, and no longer decide what a network sees as contrast.
constexpr double soft_tissue_hu(double hu) {
  constexpr double kLow = -200, kHigh = 300, kShare = 0.1;
  if (hu < kLow) return kLow + kShare * (hu - kLow);
  return hu > kHigh ? kHigh + kShare * (hu - kHigh) : hu;
}

const char* normalise_name(Normalise normalise);
/// "ct", "zscore", "window", "none", "soft_tissue". Errors: kConfig lists them.
Normalise normalise_from_name(std::string_view name);
/// True when a channel is called CT, in upper or lower case.
bool is_ct_channel(std::string_view channel);
/// Returns nnU-Net's choice by a channel's name, in upper or lower case: CT, noNorm, and zscore for every other name.
/// Errors: kConfig for its rescale_to_0_1 and rgb_to_0_1, which are not supported.
Normalise normalise_of_channel(std::string_view channel);

/// Whose numbers a preparation gives.
enum class Convention : std::uint8_t {
  kVoxshard,  // percentiles of all foreground voxels, linear interpolation of images, the nearest voxel of labels
  kNnunet,    // nnU-Net's sample, crop to nonzero, target spacing and interpolation, to the digit
};
/// Returns "voxshard", "nnunet", by the number of the convention.
std::vector<std::string> convention_names();

struct Range {
  double low = 0, high = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

/// Spacings of the oriented volume, x, y, z in mm, whose volumes are not resampled.
struct KeptSpacings {
  std::array<double, 3> low_mm{}, high_mm{};
  bool holds(const std::array<double, 3>& spacing_mm) const;
  friend bool operator==(const KeptSpacings&, const KeptSpacings&) = default;
};
/// Returns those within a factor of 1.4 of a spacing on every axis: as far as random zooms of samples go (nnU-Net's
/// largest).
KeptSpacings kept_around(const std::array<double, 3>& spacing_mm);

/// How the values of one channel are normalised. Numbers are in the unit of the channel: HU for a CT.
struct Intensities {
  std::optional<Range> clip_hu;
  Normalise normalise = Normalise::kCt;
  double mean_hu = 0, std_hu = 1;  // kZscore and kNone ignore them
  friend bool operator==(const Intensities&, const Intensities&) = default;
};

struct PreparePlan {
  std::string orientation = "LPS";                  // or "keep"
  std::optional<std::array<double, 3>> spacing_mm;  // x, y, z of the oriented volume; none: each image keeps its own
  std::optional<KeptSpacings> kept;                 // of images that keep their own all the same
  std::optional<Range> clip_hu;                     // these four: of the first channel, as in Intensities
  Normalise normalise = Normalise::kCt;
  double mean_hu = 0, std_hu = 1;
  std::vector<std::string> channels = {"CT"};
  std::vector<Intensities> further = {};  // of the channels behind the first
  std::vector<std::string> class_names;   // by class; [0] is the background
  Convention convention = Convention::kVoxshard;
  bool zscore_in_nonzero = false;   // kNnunet: channels with kZscore by the nonzero mask only; other voxels stay 0
  bool resamples_channels = false;  // channels on grids of their own are resampled on that of the first
  std::optional<int> ignore_label;  // label of voxels whose class is unknown: the number after the last class

  /// Returns the spacing to which an oriented volume is resampled; none: it is not.
  std::optional<std::array<double, 3>> target_mm(const std::array<double, 3>& oriented_mm) const {
    return kept && kept->holds(oriented_mm) ? std::nullopt : spacing_mm;
  }
  int classes() const { return static_cast<int>(class_names.size()); }
  /// Returns the plan of one channel alone, by which its volumes are prepared, and sets how a channel is normalised.
  PreparePlan of_channel(std::size_t channel) const;
  void set_channel(std::size_t channel, const Intensities& intensities);
  friend bool operator==(const PreparePlan&, const PreparePlan&) = default;
};

/// Returns "orientation LPS, spacing 2x2x3 mm, HU -160 to 240, normalised by ct (...)", the latter for each channel.
std::string to_text(const PreparePlan& plan);
nlohmann::ordered_json to_json(const PreparePlan& plan);
/// Errors: kConfig names the missing or wrong key.
PreparePlan plan_from_json(const nlohmann::json& json);
/// Reads the "prepare" part of a plans.json. Errors: kInput when it cannot be read, kConfig when it is not a plan.
PreparePlan read_plan(const std::filesystem::path& path);

/// Returns "CT, PET": the names of channels as they are shown.
std::string channels_text(const std::vector<std::string>& channels);

/// Returns 32 hexadecimal digits, equal for equal plans.
std::string plan_hash(const PreparePlan& plan);

}  // namespace voxshard
