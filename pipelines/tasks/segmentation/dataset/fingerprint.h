// The fingerprint of a data set: sizes, spacings, voxels per class, and the HU of its foreground, exact from a
// histogram with bins of 1 HU. As in nnU-Net, every case has the same weight in the pooled numbers, whatever its size.
//
//   Fingerprint f = pool_fingerprints(cases);
//   plan.clip_hu = {f.percentile_00_5_hu, f.percentile_99_5_hu};
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/volume/volume.h"
#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"
#include "pipelines/tasks/segmentation/nnunet/nnunet_fingerprint.h"

namespace voxshard {

struct CaseFingerprint {
  std::string id;
  Geometry geometry{};                       // of the file
  std::vector<std::int64_t> class_voxels{};  // by class
  // foreground voxels per HU, bin 0 is kLowestHu; values beyond the range count in the end bins; empty for a channel
  // that is not in HU
  std::vector<std::int64_t> histogram{};
  double mean_hu = 0, mean_square_hu2 = 0;  // over the foreground
  double min_hu = 0, max_hu = 0;
  std::optional<NnunetCase> nnunet{};  // for Convention::kNnunet

  static constexpr int kLowestHu = -2048, kBins = 2048 + 16384;
  std::int64_t foreground() const;
};

/// Requires: `label` (u8 or i32) on the grid of `ct`, values of 0 or more; those from `classes` on are ignored.
CaseFingerprint take_fingerprint(const std::string& id, const Volume& ct, const Volume& label, int classes);

/// Convert a fingerprint to a message for other processes, exact to the last bit when it is sent as CBOR, and back.
nlohmann::ordered_json fingerprint_message(const CaseFingerprint& fingerprint);
CaseFingerprint fingerprint_of(const nlohmann::ordered_json& message);

struct Fingerprint {
  int cases = 0, cases_with_foreground = 0;
  double mean_hu = 0, std_hu = 1, percentile_00_5_hu = 0, percentile_50_hu = 0, percentile_99_5_hu = 0;
  double min_hu = 0, max_hu = 0;
  bool has_percentiles = true;  // false: the channel is not in HU
};

/// Returns the numbers of all cases together: exact ones from the histograms, or those of the samples that nnU-Net's
/// convention draws.
Fingerprint pool_fingerprints(const std::vector<CaseFingerprint>& cases);

/// Returns the samples of all cases for the functions of nnunet_fingerprint.h. Requires: every case has one.
std::vector<const NnunetCase*> nnunet_cases(const std::vector<CaseFingerprint>& cases);

struct HuMoments {
  double mean_hu = 0, std_hu = 1;
};
/// Returns mean and std of the foreground after clipping, and soft_tissue_hu() where `soft_tissue`, from the histograms
/// (exact for whole HU); every case has the same weight.
HuMoments clipped_moments(const std::vector<CaseFingerprint>& cases, const Range& clip_hu, bool soft_tissue);

/// Returns the median by axis of spacings or sizes; the mean of the middle two for an even count, 1 of none.
std::array<double, 3> median_by_axis(std::vector<std::array<double, 3>> values);

///   by_channel  the cases, for each channel of the plan
nlohmann::ordered_json to_json(const std::vector<std::vector<CaseFingerprint>>& by_channel, const PreparePlan& plan);

}  // namespace voxshard
