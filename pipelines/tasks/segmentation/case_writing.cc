#include "pipelines/tasks/segmentation/case_writing.h"

#include <utility>

#include "pipelines/tasks/segmentation/dataset/prepare_image.h"
#include "pipelines/tasks/segmentation/scores/predict_volume.h"
#include "pipelines/tasks/segmentation/scores/probability_file.h"

namespace voxshard {
namespace {

constexpr std::int64_t kPackingBytes = 8 << 20;  // pieces of voxels, a member of the gzip file and its packer

}  // namespace

ProcessPlan CaseWriting::plan() const {
  return {{MemoryPart::kResults, labels.voxels.bytes() + found.sums_bytes() + opened.bytes + kPackingBytes}};
}

void CaseWriting::write(const CaseOutputs& outputs, const PreparePlan& plan, const VolumeFormats& formats) {
  write_volume(file, labels, plan.classes() <= 256 ? DiskType::kU8 : DiskType::kU16, formats);
  outputs.write(item, labels, opened, flags, refused);
  labels = {}, opened = {};
  if (probabilities.empty()) return;
  Volume numbers{found.grid, numbered_voxels(found.sums.shape())};
  numbers = restore_label(std::move(numbers), found.original, plan, found.crop);
  write_probabilities(probabilities, found.sums, found.times, numbers.voxels);
}

}  // namespace voxshard
