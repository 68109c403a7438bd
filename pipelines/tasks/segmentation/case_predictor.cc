#include "pipelines/tasks/segmentation/case_predictor.h"

#include <utility>

#include "io/datasets/hidden_paths.h"
#include "libcore/base/stopwatch.h"
#include "pipelines/tasks/channel_grids.h"
#include "pipelines/tasks/segmentation/dataset/case_memory.h"
#include "pipelines/tasks/segmentation/dataset/hiding_paths.h"
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"
#include "pipelines/tasks/segmentation/inputs/input_cases.h"
#include "pipelines/tasks/segmentation/outputs/made_hash.h"
#include "pipelines/tasks/segmentation/samples/sample_source.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

Shape extents_of(const VolumeInfo& info, const VolumeModel& model) {
  return prediction_extents(prepared_geometry(info.geometry, model.plan).shape(), model.multiple);
}

}  // namespace

CasePredictor::CasePredictor(PredictionBatch& batch, bool keeps_probabilities)
    : b_(batch), formats_(batch.options.formats), keeps_(keeps_probabilities) {
  for (std::size_t model = 0; model < batch.models(); ++model) models_.push_back(volume_model_of(batch.run_of(model)));
}

CasePredictor::~CasePredictor() { b_.ahead.drop(); }

PredictionTurn CasePredictor::turn_of(const Case& item, std::size_t i) const {
  PredictionTurn turn{planned_extents(item, models_.front()), {i}};
  for (std::size_t model = 1; model < models_.size(); ++model)
    turn.further.push_back(planned_extents(item, models_[model]));
  return turn;
}

BytesBeside CasePredictor::bytes_beside(std::size_t model) const {
  return {
      .staying = ceil_div(summed_classes(model) * dtype_bytes(DType::kF32), std::ssize(models_[model].plan.channels)),
      .in_turns = 0};
}

bool CasePredictor::spills(const PredictionTurn& turn) const {
  if (!sums()) return false;
  for (std::size_t model = 0; model < models_.size(); ++model) {
    const auto planned = b_.planned(model).fits.find(turn.extents_of(model));
    if (planned != b_.planned(model).fits.end() && planned->second.run.takes_turns()) return true;
  }
  return false;
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

ProcessPlan CasePredictor::plan_of_turn(const Case& item, const PredictionTurn& turn) {
  // Sums take the room beside the cores: they are held until the label map is made, or written.
  const auto planned = b_.planned().fits.find(turn.extents);
  const bool stays =
      !sums() && b_.next_turn() != nullptr && planned != b_.planned().fits.end() && !planned->second.run.takes_turns();
  spills_ = spills(turn);
  warm_ = {.own = b_.cores(turn), .before = b_.warm(), .after = stays ? b_.cores(turn) : ProcessPlan()};
  const ProcessPlan alone = plan_that_fits(item, true, &warm_);
  if (b_.fits(warm_.plan + b_.behind.held())) return warm_.plan;
  b_.release_cores();
  warm_.before = warm_.after = {};
  return alone;
}

bool CasePredictor::fits(const Case& item) const {
  const auto refused = failure_of("", {ErrorKind::kInput, ErrorKind::kBudget}, [&] { plan_that_fits(item, false); });
  return !refused || refused->code != "E_BUDGET";
}

ProcessPlan CasePredictor::rehearsed_plan(const Case& item, bool kept) const {
  ProcessPlan plan = b_.planned().held;
  const std::exception_ptr refused = thrown_by([&] { plan = plan_that_fits(item); });
  if (refused && !kept) std::rethrow_exception(refused);
  return plan;
}

ProcessPlan CasePredictor::plan_that_fits(const Case& item, bool says, WarmCores* warm) const {
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
    if (c == 0 && b_.is_refused(turn)) b_.require_planned(turn, beside_cores(info, path));
    for (std::size_t model = 0; model < models_.size(); ++model) {
      Predicting process{.held = held,
                         .cores = b_.planned(model).cores(turn.extents_of(model)),
                         .sums = summed_classes(model),
                         .sums_window = spills(turn) ? SpilledFloats::window_bytes(b_.context.threads()) : 0,
                         .reads_again = averages(),
                         .keeps_sums = keeps_,
                         .other_processes = !b_.context.alone()};
      process.would_do = [&](const ProcessPlan& whole) {  // of a case that is only tried, nobody reads the refusal
        return says ? b_.would_do(turn, whole, process.cores.total()) : std::nullopt;
      };
      const PreparePlan& seen = models_[model].plan;
      plan = widest(plan, predicting_plan(info, path, seen, process, formats_.limits));
      if (warm == nullptr) continue;
      process.before = warm->before, process.after = warm->after;
      VolumeLimits limits = formats_.limits;
      limits.memory_bytes = 0;  // the caller decides
      warm->plan = widest(warm->plan, predicting_plan(info, path, seen, process, limits));
    }
    if (says && !info.warning.empty()) b_.progress.warn("case " + item.id + ": " + info.warning);
  }
  return plan;
}

/// Returns the memory for a case beside its cores and what the process holds, from the header of a channel.
ProcessPlan CasePredictor::beside_cores(const VolumeInfo& info, const fs::path& path) const {
  ProcessPlan most;
  VolumeLimits limits = formats_.limits;
  limits.memory_bytes = 0;  // it is refused already
  for (std::size_t model = 0; model < models_.size(); ++model)
    most = widest(most, predicting_plan(info, path, models_[model].plan,
                                        {.sums = summed_classes(model),
                                         .reads_again = averages(),
                                         .keeps_sums = keeps_,
                                         .other_processes = !b_.context.alone()},
                                        limits));
  return most;
}

/// Returns the plan of reading a case ahead. Errors: those of plan_that_fits(), which its own turn reports.
ProcessPlan CasePredictor::plan_ahead(const Case& item) const {
  static_cast<void>(plan_that_fits(item, false));
  const PreparePlan& seen = models_.front().plan;
  ProcessPlan plan;
  std::optional<VolumeInfo> first;
  for (std::size_t c = 0; c < item.images.size(); ++c)
    plan = widest(plan, preparing_ahead_plan(info_of(item, c, first, seen), seen));
  return plan;
}

/// Begins to read the next case: the other thread works on a copy of what names it.
void CasePredictor::read_next(const CaseInTurn& turn) {
  if (turn.next == nullptr) return;
  const Case& next = *turn.next;
  b_.read_ahead({.number = b_.next_turn()->inputs.front(),
                 .plan = [this, next] { return hiding_paths(next, [&] { return plan_ahead(next); }); },
                 .read =
                     [this, next](const StopCheck& dropped) {
                       hiding_paths(next, [&] {
                         CaseAhead& found = ahead_.emplace();
                         found.hashes = hashes_of(files_of_case(next, formats_));
                         found.prepared = prepared_channels(next, models_.front().plan,
                                                            {.formats = formats_,
                                                             .check = [&] { throw_if_stopped(dropped); },
                                                             .like_mask = [&] { found.like_mask = true; }});
                       });
                     },
                 .release = [this] { ahead_.reset(); }});
}

PreparedChannels CasePredictor::read_now(const Case& item, const PreparePlan& plan, bool says) {
  PreparedChannels found =
      prepared_channels(item, plan,
                        {.formats = formats_,
                         .check = [&] { throw_if_stopped(b_.progress); },
                         .like_mask = says ? [&] { warn_of_mask(item); } : std::function<void()>()});
  times.reading += found.reading_s, times.preparing += found.preparing_s;
  return found;
}

PreparedChannels CasePredictor::first_seen(const CaseInTurn& turn) {
  const Stopwatch watch;
  const bool there = b_.ahead.take(turn.number);
  const double waited_s = watch.seconds();
  times.reading += waited_s, times.waited_for_reading += waited_s;
  if (!there) return read_now(turn.item, models_.front().plan, true);
  CaseAhead found = std::move(*ahead_);
  ahead_.reset();
  throw_if_stopped(b_.progress);
  if (found.hashes != turn.hashes) {
    found = {};  // released before it is read anew
    return read_now(turn.item, models_.front().plan, true);
  }
  times.read_ahead += found.prepared.reading_s + found.prepared.preparing_s;
  if (found.like_mask) warn_of_mask(turn.item);
  return std::move(found.prepared);
}

void CasePredictor::warn_of_mask(const Case& item) const {
  const VolumeInfo info = read_volume_info(item.images.front(), formats_);
  if (!info.scalar_type.starts_with("int") && !info.scalar_type.starts_with("uint")) return;
  if (info.slope != 1 || info.intercept != 0) return;
  const std::string note =
      "W_MASK its values are whole numbers from 0 to 255 as those of a label map, but the run was trained on CT: is it "
      "a mask among the images? It is predicted nevertheless";
  b_.progress.warn("case " + item.id + ": " + note);
}

PredictedVolume CasePredictor::predicted(const CaseInTurn& turn) {
  const Case& item = turn.item;
  PredictedVolume found;
  for (std::size_t model = 0; model < models_.size(); ++model) {
    const VolumeModel& own = models_[model];
    PreparedChannels prepared = model == 0 ? first_seen(turn) : read_now(item, own.plan, false);
    if (model == 0) read_next(turn);
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
    times.warm += warm_.before.total() > 0 && b_.warm().total() > 0;
    b_.keep_cores(warm_.own);
    if (sums())
      add_probabilities(b_.session(model), image, own.multiple, b_.run_of(model).times, found.sums,
                        spills_ ? b_.context.resources().scratch : fs::path());
    else
      found.labels = predict_volume(b_.session(model), image, own.multiple);
    if (warm_.after.total() == 0) b_.release_cores();
    times.network += watch.seconds();
  }
  if (sums()) found.labels = likeliest_labels(found.sums);
  if (!keeps_) found.sums = {};
  return found;
}

}  // namespace voxshard
