#include "pipelines/tasks/first_training.h"

#include <algorithm>

#include "libcore/base/text.h"

namespace voxshard {
namespace {

constexpr double kTime_s = 120;

/// Seconds of a thread per voxel of a prediction by the smallest U-Net that {time} chooses: a third of a step, of which
/// 64^3 voxels with 32 filters take 2.2 s on two threads (data/README.md); with 8 filters a sixteenth of the products.
constexpr double kVoxel_s = 2.2 * 2 / (64 * 64 * 64) / 16 / 3;

}  // namespace

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
  if (v.cases < 2) return {};         // nothing validates
  const auto validated = static_cast<double>(v.voxels) / static_cast<double>(std::min(v.cases, kFolds));
  if (kVoxel_s * validated / v.threads <= kTime_s / 2) return {};
  return {"{fold}", "all"};
}

}  // namespace voxshard
