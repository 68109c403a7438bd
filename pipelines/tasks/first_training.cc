#include "pipelines/tasks/first_training.h"

#include <algorithm>

#include "libcore/base/text.h"

namespace voxshard {
namespace {

constexpr double kTime_s = 120;
constexpr double kFewestSteps = 300;  // from here on a small U-Net finds all but the rarest classes

/// Seconds of a thread per voxel of a step, with 32 base filters: 2.2 s for 64^3 on two threads (data/README.md). With
/// fewer filters the products shrink by the square.
constexpr double kVoxel_s = 2.2 * 2 / (64 * 64 * 64);

}  // namespace

double unet_step_seconds(std::int64_t base_filters, std::int64_t voxels, int threads) {
  const double share = static_cast<double>(base_filters) / 32;
  return kVoxel_s * share * share * static_cast<double>(voxels) / threads;
}

FirstTraining first_training(std::vector<std::string> train, const std::vector<std::string>& small) {
  std::vector<std::string> left_out;
  for (const std::string& word : small)
    if (word.starts_with('{')) left_out.push_back(word);
  FirstTraining first{.words = std::move(train),
                      .note = "a first training of about 2 min; leave out " +
                              (left_out.empty() ? "" : joined(left_out, ", ") + " and ") +
                              "{time} for the whole model\n"};
  first.words.insert(first.words.end(), small.begin(), small.end());
  first.words.insert(first.words.end(), {"{time}", "2m"});
  return first;
}

std::vector<std::string> first_unet(const FirstVolumes& v) {
  constexpr std::int64_t kFolds = 5;  // one of them validates
  const std::int64_t validated = v.cases < 2 ? 0 : v.voxels / std::min(v.cases, kFolds);
  const auto validation_s = [&](int base) {  // a pass forward is a third of a step
    return unet_step_seconds(base, validated, v.threads) / 3;
  };
  for (const int base : {32, 16, 8}) {
    const double step_s = unet_step_seconds(base, v.crop_voxels, v.threads);
    if (kFewestSteps * step_s + validation_s(base) <= kTime_s) return {"{base-filters}", std::to_string(base)};
  }
  std::vector<std::string> words = {"{base-filters}", "8"};
  if (validation_s(8) > kTime_s / 2) words.insert(words.end(), {"{fold}", "all"});
  return words;
}

}  // namespace voxshard
