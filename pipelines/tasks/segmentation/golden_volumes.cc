#include "pipelines/tasks/segmentation/golden_volumes.h"

#include <algorithm>
#include <string_view>

#include "io/audit/sha256.h"
#include "io/volume/volume.h"
#include "pipelines/phantoms/sized_phantoms.h"
#include "pipelines/tasks/segmentation/volume_model.h"

namespace voxshard {
namespace {

constexpr std::array<std::int64_t, 3> kGoldenSize = {48, 40, 32};  // x, y, z
constexpr std::array<double, 3> kGoldenSpacingMm = {2, 2, 3};      // of a model that keeps each image's own

/// "golden_0001.nii.gz", as nnU-Net names the second channel.
std::string golden_name(std::size_t channel) {
  const std::string digits = std::to_string(channel);
  return "golden_" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits + ".nii.gz";
}

}  // namespace

void write_golden_volumes(const TrainedRun& run, const std::filesystem::path& folder) {
  const VolumeModel model = volume_model_of(run);
  std::array<std::int64_t, 3> size = kGoldenSize;
  for (std::int64_t& voxels : size) voxels = std::max(voxels, 2 * model.multiple);
  for (std::size_t channel = 0; channel < model.plan.channels.size(); ++channel)
    write_volume(folder / golden_name(channel),
                 phantom_of_size(static_cast<int>(channel), size, model.plan.spacing_mm.value_or(kGoldenSpacingMm)),
                 DiskType::kI16);
}

std::string label_map_hash(const std::filesystem::path& file) {
  const Volume labels = read_label(file);
  const auto* bytes = reinterpret_cast<const char*>(labels.voxels.data());
  return sha256(to_string(labels.voxels.shape()) + "\n" +
                std::string(bytes, static_cast<std::size_t>(labels.voxels.bytes())));
}

AnswerDifference label_map_difference(const std::filesystem::path& reference, const std::filesystem::path& found,
                                      DType precision) {
  const Volume a = read_label(reference), b = read_label(found);
  AnswerDifference apart{.compared = a.voxels.count(), .unit = "voxels"};
  apart.allowed = apart.compared / (precision == DType::kBF16 ? 100 : 1000);
  if (a.voxels.shape() != b.voxels.shape()) {
    apart.differing = apart.compared;
    return apart;
  }
  const auto *of_a = a.voxels.as<std::int32_t>(), *of_b = b.voxels.as<std::int32_t>();
  for (std::int64_t i = 0; i < apart.compared; ++i) apart.differing += of_a[i] != of_b[i] ? 1 : 0;
  return apart;
}

}  // namespace voxshard
