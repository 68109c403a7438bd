#include "pipelines/tasks/segmentation/case_predictor.h"

#include <algorithm>
#include <cmath>

#include "io/datasets/hidden_paths.h"
#include "libcore/base/stopwatch.h"
#include "pipelines/tasks/channel_grids.h"
#include "pipelines/tasks/segmentation/dataset/case_memory.h"
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"
#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "pipelines/tasks/segmentation/scores/class_probabilities.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

Shape extents_of(const VolumeInfo& info, const VolumeModel& model) {
  return prediction_extents(prepared_geometry(info.geometry, model.plan).shape(), model.multiple);
}

/// True when the training images were CT whose values went beyond those of a label map.
bool is_of_wide_ct(const PreparePlan& plan) {
  return is_ct_channel(plan.channels.front()) && (!plan.clip_hu || plan.clip_hu->low < 0 || plan.clip_hu->high > 255);
}

/// True for whole numbers from 0 to 255 alone. A CT has air below 0: a look at some of its first voxels tells.
bool looks_like_mask(const Tensor& voxels) {
  const auto* v = voxels.as<float>();
  return std::all_of(v, v + voxels.count(),
                     [](float value) { return value >= 0 && value <= 255 && value == std::floor(value); });
}

}  // namespace

/// A case as a model sees it.
struct CasePredictor::PreparedCase {
  Geometry original, grid;
  std::optional<Box> crop;  // of nnU-Net's convention, the same for all channels
  std::vector<Tensor> channels;
};

CasePredictor::CasePredictor(PredictionBatch& batch, bool keeps_probabilities)
    : b_(batch), formats_(batch.options.formats), keeps_(keeps_probabilities) {
  for (std::size_t model = 0; model < batch.models(); ++model) models_.push_back(volume_model_of(batch.run_of(model)));
}

PredictionTurn CasePredictor::turn_of(const Case& item, std::size_t i) const {
  PredictionTurn turn{planned_extents(item, models_.front()), {i}};
  for (std::size_t model = 1; model < models_.size(); ++model)
    turn.further.push_back(planned_extents(item, models_[model]));
  return turn;
}

std::int64_t CasePredictor::bytes_beside(std::size_t model) const {
  return ceil_div(summed_classes(model) * dtype_bytes(DType::kF32), std::ssize(models_[model].plan.channels));
}

VolumeInfo CasePredictor::info_of(const Case& item, std::size_t channel, std::optional<VolumeInfo>& first,
                                  const PreparePlan& plan) const {
  if (first) return channel_info(item, channel, *first, plan.resamples_channels, formats_);
  first = read_volume_info(item.images[channel], formats_);
  return *first;
}

Shape CasePredictor::planned_extents(const Case& item, const VolumeModel& model) const {
  Shape extents;
  try {
    std::optional<VolumeInfo> first;
    for (std::size_t c = 0; c < item.images.size(); ++c) {
      const VolumeInfo info = info_of(item, c, first, model.plan);
      if (!info.readable) return {};
      static_cast<void>(predicting_plan(info, item.images[c], model.plan, {.held = base_plan(b_.context.base_bytes())},
                                        formats_.limits));
      if (extents.axes() == 0) extents = extents_of(info, model);
    }
  } catch (const Error&) {
    return {};
  }
  return extents;
}

ProcessPlan CasePredictor::plan_that_fits(const Case& item) const {
  ProcessPlan plan;
  // Where no case fits, nothing was planned that the process holds.
  const ProcessPlan held = widest(b_.planned().held, base_plan(b_.context.base_bytes()));
  std::optional<VolumeInfo> first;
  for (std::size_t c = 0; c < item.images.size(); ++c) {
    const fs::path& path = item.images[c];
    const VolumeInfo info = info_of(item, c, first, models_.front().plan);
    if (!info.readable) return {};  // reading reports why
    PredictionTurn turn{extents_of(info, models_.front()), {}};
    for (std::size_t model = 1; model < models_.size(); ++model)
      turn.further.push_back(extents_of(info, models_[model]));
    if (c == 0) b_.require_planned(turn);
    for (std::size_t model = 0; model < models_.size(); ++model)
      plan = widest(plan, predicting_plan(info, path, models_[model].plan,
                                          {.held = held,
                                           .cores = b_.planned(model).cores(turn.extents_of(model)),
                                           .sums = summed_classes(model),
                                           .reads_again = averages(),
                                           .keeps_sums = keeps_,
                                           .other_processes = !b_.context.alone()},
                                          formats_.limits));
    if (!info.warning.empty()) b_.progress.warn("case " + item.id + ": " + info.warning);
  }
  return plan;
}

/// Reads and prepares the channels of a case. Each volume is released when the next one is made: the memory plan counts
/// on that.
CasePredictor::PreparedCase CasePredictor::prepared_case(const Case& item, const PreparePlan& plan, bool says) {
  PreparedCase found;
  const Stopwatch all;
  const double read_before = times.reading;
  const auto read = [&](std::size_t c) {
    const Stopwatch watch;
    Volume volume = c == 0 ? read_image(item.images[c], formats_)
                           : read_channel(item, c, found.original, plan.resamples_channels, formats_);
    throw_if_stopped(b_.progress);
    if (c == 0) found.original = volume.geometry;
    times.reading += watch.seconds();
    return volume;
  };
  const auto nonzero = nonzero_of_channels(plan, read);
  for (std::size_t c = 0; c < item.images.size(); ++c) {
    Volume volume = read(c);
    if (c == 0 && says && is_of_wide_ct(plan)) warn_of_mask(item, volume.voxels);
    PreparedImage prepared =
        prepare_image(std::move(volume), plan.of_channel(c), nullptr, nonzero ? &*nonzero : nullptr);
    found.grid = prepared.image.geometry, found.crop = prepared.crop;
    found.channels.push_back(std::move(prepared.image.voxels));
  }
  times.preparing += all.seconds() - (times.reading - read_before);
  return found;
}

void CasePredictor::warn_of_mask(const Case& item, const Tensor& voxels) const {
  if (!looks_like_mask(voxels)) return;
  const VolumeInfo info = read_volume_info(item.images.front(), formats_);
  if (!info.scalar_type.starts_with("int") && !info.scalar_type.starts_with("uint")) return;
  if (info.slope != 1 || info.intercept != 0) return;
  const std::string note =
      "W_MASK its values are whole numbers from 0 to 255 as those of a label map, but the run was trained on CT: is it "
      "a mask among the images? It is predicted nevertheless";
  b_.progress.warn("case " + item.id + ": " + note);
}

PredictedVolume CasePredictor::predicted(const Case& item) {
  PredictedVolume found;
  for (std::size_t model = 0; model < models_.size(); ++model) {
    const VolumeModel& own = models_[model];
    PreparedCase prepared = prepared_case(item, own.plan, model == 0);
    if (model > 0 && !(same_geometry(prepared.original, found.original) && prepared.crop == found.crop))
      throw Error(ErrorKind::kInput, "E_READ",
                  "[predict] " + shown_file(item, item.images.front(), "image") +
                      " changed while it was read for one run after another; predict again");
    found.original = prepared.original, found.grid = prepared.grid, found.crop = prepared.crop;
    if (model == 0 && own.quality && own.quality->enough())
      for (const Tensor& channel : prepared.channels) found.intensities.push_back(intensity_quantiles(channel));
    VolumeVoxels image = voxels_of(prepared.channels, air_values(own.plan));
    image.done = [&] { prepared.channels.clear(); };
    found.times += b_.run_of(model).times;
    const Stopwatch watch;
    if (sums())
      add_probabilities(b_.session(model), image, own.multiple, b_.run_of(model).times, found.sums);
    else
      found.labels = predict_volume(b_.session(model), image, own.multiple);
    b_.session(model).release();
    times.network += watch.seconds();
  }
  if (sums()) found.labels = likeliest_labels(found.sums);
  if (!keeps_) found.sums = {};
  return found;
}

}  // namespace voxshard
