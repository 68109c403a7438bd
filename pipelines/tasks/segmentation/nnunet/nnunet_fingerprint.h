// The fingerprint of a data set as nnU-Net takes it: a sample of the foreground of each case, drawn with replacement so
// that every case weighs the same, and the target spacing that follows from sizes and spacings.
//
//   NumpyRandom random = nnunet_random();
//   const NnunetDrawing drawing{.samples = nnunet_samples(40), .box = nonzero_box(image.voxels), .random = random};
//   NnunetCase c = nnunet_channel(image, label, drawing);
//   IntensityNumbers n = pooled_sample({&c});
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "io/datasets/numpy_random.h"
#include "io/volume/volume.h"
#include "libcore/tensor/box.h"

namespace voxshard {

/// Values and how often each was drawn, ascending.
struct ValueCounts {
  std::vector<float> values;
  std::vector<std::int64_t> counts;
};

struct NnunetCase {
  ValueCounts sample;                          // of the foreground; empty without foreground
  std::array<std::int64_t, 3> cropped_size{};  // x, y, z without the frame of zeros
  std::array<double, 3> spacing_mm{};          // x, y, z
  double cropped_share = 1;                    // voxels that the crop keeps, of all
};

/// Returns the number of voxels that are drawn from each case. Source: nnU-Net, fingerprint_extractor.py: 10e7 in all.
std::int64_t nnunet_samples(std::size_t cases);

/// The generator of a case: RandomState(1234), from which its channels draw one after the other.
inline NumpyRandom nnunet_random() { return NumpyRandom(1234); }

struct NnunetDrawing {
  std::int64_t samples = 0;
  Box box;              // (D, H, W) of the voxels other than 0 in any channel
  NumpyRandom& random;  // of the case
};
/// Crops to a box and draws the sample of one channel from the foreground in it, labels above 0, the ignored one among
/// them.
///   image, label  on one grid, oriented as they are prepared: the order of the voxels decides which are drawn
/// Cost: up to 20 bytes for each foreground voxel.
NnunetCase nnunet_channel(const Volume& image, const Volume& label, const NnunetDrawing& drawing);

struct IntensityNumbers {
  bool any = false;  // false: no case has foreground
  double mean = 0, std = 1, min = 0, max = 0;
  double percentile_00_5 = 0, median = 0, percentile_99_5 = 0;
};
/// Returns mean, standard deviation, extremes and percentiles (linear between neighbours) of all samples together.
IntensityNumbers pooled_sample(const std::vector<const NnunetCase*>& cases);

/// Returns nnU-Net's target spacing, x, y, z in mm: the median of each axis; but where the widest median spacing is
/// anisotropic and that axis has less than a third of the voxels of the others, the 10th percentile of its spacings,
/// not below the other axes. Source: nnU-Net, default_experiment_planner.py.
std::array<double, 3> nnunet_target_spacing(const std::vector<const NnunetCase*>& cases);

/// Returns the median of the shares that the crop keeps. Below 0.75 nnU-Net normalises by zscore within the nonzero
/// voxels only.
double median_cropped_share(const std::vector<const NnunetCase*>& cases);
inline constexpr double kLeastShareOfWholeZscore = 0.75;

/// Convert a case to a message for other processes, exact when it is sent as CBOR, and back.
nlohmann::ordered_json nnunet_message(const NnunetCase& one);
NnunetCase nnunet_case_of(const nlohmann::ordered_json& message);

}  // namespace voxshard
