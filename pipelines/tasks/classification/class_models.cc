#include "pipelines/tasks/classification/class_models.h"

#include "libcore/base/text.h"
#include "pipelines/model_runs/run_preparation.h"

namespace voxshard {
namespace {

ClassPreparation preparation_of(const TrainedRun& run) {
  ClassPreparation preparation = preparation_of_run(run, class_preparation_from_json);
  if (preparation.axes() != run.spec.spatial_axes())
    throw Error(ErrorKind::kCheckpoint, run.file.string() + ": its samples do not have the axes of its model");
  return preparation;
}

/// Returns how frames of clips become samples, but for their intensities: "16 frames, each 2nd, 64x64, padded".
std::string clip_text(const ClassPreparation& p) {
  const std::string size = p.size.axes() == 0 ? "their own size" : to_string(p.size);
  return std::to_string(p.clip_length) + " frames at a stride of " + std::to_string(p.clip_stride) + ", " + size +
         ", " + (p.resizes ? "resized" : "padded to multiples of " + std::to_string(p.pad_multiple)) +
         (p.enlarges ? ", enlarged" : "");
}

}  // namespace

std::vector<ClassPreparation> class_preparations_of(const TrainedRun& run) {
  std::vector<ClassPreparation> preparations = {preparation_of(run)};
  for (const TrainedRun& other : run.others) preparations.push_back(preparation_of(other));
  const auto agree = [&](const std::string& what, const std::function<std::string(const ClassPreparation&)>& fact) {
    require_agreement(run, what, [&](const TrainedRun& one) { return fact(preparation_of(one)); });
  };
  agree("items", [](const ClassPreparation& p) { return std::string(item_kind_name(p.items)); });
  agree("classes", [](const ClassPreparation& p) {
    return joined(p.classes, ", ", [](const std::string& name) { return name; });
  });
  agree("channels", [](const ClassPreparation& p) { return std::to_string(p.channels); });
  if (preparations.front().items == ItemKind::kClip) agree("clips", clip_text);
  return preparations;
}

}  // namespace voxshard
