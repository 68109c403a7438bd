#include "pipelines/tasks/segmentation/validation.h"

#include "io/volume/mapped_volume.h"
#include "libcore/metrics/dice.h"
#include "pipelines/tasks/segmentation/predict_volume.h"
#include "pipelines/tasks/segmentation/sample_source.h"

namespace voxshard {
namespace {

Tensor read_whole(const std::filesystem::path& path, DType dtype) {
  const MappedVolume volume = MappedVolume::open(path);
  Tensor values(dtype, volume.shape());
  volume.read_box(Box::whole(volume.shape()), values.view());
  return values;
}

}  // namespace

std::vector<double> validation_dice(Session& session, const PreparedDataset& dataset, const std::vector<std::size_t>& cases,
                                    std::int64_t multiple, Progress& progress) {
  session.release();  // of the training
  const int classes = dataset.plan.classes();
  std::vector<std::vector<double>> by_class(static_cast<std::size_t>(classes));
  std::int64_t done = 0;
  const auto all = static_cast<std::int64_t>(cases.size());
  for (std::size_t index : cases) {
    throw_if_stopped(progress);
    const PreparedCase& item = dataset.cases[index];
    if (done == 0) progress.update("validate", 0, all, item.id);
    const Tensor labels = predict_volume(session, read_whole(item.image, DType::kF32), air_value(dataset.plan), multiple);
    const auto counts = count_classes(labels.view(), read_whole(item.label, DType::kI32).view(), classes,
                                      dataset.plan.ignore_label.value_or(-1));
    for (int c = 1; c < classes; ++c) by_class[static_cast<std::size_t>(c)].push_back(dice(counts[static_cast<std::size_t>(c)]));
    progress.update("validate", ++done, all, item.id);
  }
  session.release();
  std::vector<double> mean;
  for (int c = 1; c < classes; ++c) mean.push_back(nan_mean(by_class[static_cast<std::size_t>(c)]));
  return mean;
}

}  // namespace voxshard
