#include "pipelines/tasks/segmentation/predict_volumes.h"

#include <algorithm>
#include <set>

#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "io/files/output_folder.h"
#include "io/volume/volume.h"
#include "libcore/base/stopwatch.h"
#include "pipelines/tasks/follow_predictions.h"
#include "pipelines/tasks/seen_inputs.h"
#include "pipelines/tasks/segmentation/case_memory.h"
#include "pipelines/tasks/segmentation/predict_volume.h"
#include "pipelines/tasks/segmentation/prepare_image.h"
#include "pipelines/tasks/segmentation/sample_source.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// "liver_03_0000.nii.gz" -> "liver_03".
std::string case_id(const fs::path& path, const VolumeFormats& formats) {
  constexpr std::string_view kChannel = "_0000";
  const std::string name = volume_stem(path, formats).value_or(path.filename().string());
  return name.ends_with(kChannel) ? name.substr(0, name.size() - kChannel.size()) : name;
}

std::vector<fs::path> find_images(const fs::path& input, const VolumeFormats& formats) {
  if (!fs::exists(input)) throw Error(ErrorKind::kInput, "[predict] " + input.string() + " does not exist; give an image or a folder of images");
  if (!fs::is_directory(input)) return {input};
  std::vector<fs::path> images;
  for (const auto& entry : fs::directory_iterator(input))
    if (volume_stem(entry.path(), formats) && !entry.path().filename().string().starts_with("._"))
      images.push_back(entry.path());
  std::sort(images.begin(), images.end());
  if (images.empty()) throw Error(ErrorKind::kNoCase, "[predict] " + input.string() + " holds no " + volume_endings(formats) + " image");
  return images;
}

/// To score the predictions where labels stand beside the images as in nnU-Net's folders, else to look at them.
std::vector<std::string> next_command(const PredictOptions& o) {
  const fs::path input = o.input.has_filename() ? o.input : o.input.parent_path();  // without a slash at its end
  const std::string images = input.filename().string(), output = o.output.string();
  const fs::path data = input.parent_path();
  if (!images.starts_with("images") || !fs::is_directory(data / ("labels" + images.substr(6)))) return {"info", output};
  std::vector<std::string> words = {"evaluate", output, (data / ("labels" + images.substr(6))).string()};
  if (fs::exists(data / "dataset.json")) words.insert(words.end(), {"{dataset}", data.empty() ? "." : data.string()});
  const fs::path summary = (o.output.has_filename() ? o.output : o.output.parent_path()).parent_path() / "summary.json";
  const fs::path from_data = fs::absolute(summary).lexically_normal().lexically_relative(fs::absolute(data / ".").lexically_normal());
  if (from_data.begin() != from_data.end() && *from_data.begin() == "..")  // evaluate writes nothing among its inputs
    words.insert(words.end(), {"{output}", summary.string()});
  return words;
}

class Predictor {
 public:
  Predictor(const PredictOptions& options, TrainedRun run, OutputFolder& folder, Progress& progress)
      : o_(options), folder_(folder), progress_(progress), pool_(options.threads), spec_(run.spec), made_with_(prediction_hash(options, run.file)) {
    try {
      plan_ = plan_from_json(run.preparation);
    } catch (const Error& e) {
      throw Error(ErrorKind::kCheckpoint, run.file.string() + ": " + e.what());
    }
    trained_on_ = run.trained_on;
    session_ = prediction_session(options, run, pool_);
    session_->set_stop(progress_.stop_check());
  }

  PredictReport run(std::vector<fs::path> images) {
    keep_wanted(images, {trained_on_, o_.held_out, report_.seen, pool_, progress_}, [&](const fs::path& image) {
      return HashedCase{.name = case_id(image, o_.formats), .files = files_of_volume(image)};
    });
    lead_predictions(o_, *session_, volume_work(), [&] { predict_all(images); });
    return report_;
  }

 private:
  void predict_all(const std::vector<fs::path>& images) {
    plan_all(images);
    std::set<std::string> ids;
    for (const fs::path& image : images) ids.insert(case_id(image, o_.formats));
    folder_.start({.options = made_with_, .parts = ids, .resume = true, .protect = true});
    const auto total = static_cast<std::int64_t>(images.size());
    progress_.update("predict", 0, total, case_id(images.front(), o_.formats));
    for (const fs::path& image : images) {
      try {
        if (!report_.interrupted) one(image);
      } catch (const Stopped&) {
        report_.interrupted = true;
      }
      if (report_.interrupted) report_.not_reached.push_back(case_id(image, o_.formats));
      else
        progress_.update("predict", static_cast<std::int64_t>(report_.cases.size() + report_.failures.size()), total,
                         case_id(image, o_.formats));
    }
    write_quarantine(o_.output, left_out(report_));
    write_seen(o_.output, report_.seen);
    if (report_.cases.empty() && !report_.interrupted)
      throw Error(ErrorKind::kNoCase, "[predict] none of " + std::to_string(images.size()) + " images could be predicted; the first: " +
                                          report_.failures.front().message);
  }

  /// Plans every size there is from the headers. An unreadable image is left to its turn.
  void plan_all(const std::vector<fs::path>& images) {
    std::set<Shape> sizes;
    for (const fs::path& image : images) {
      try {
        const VolumeInfo info = read_volume_info(image, o_.formats);
        if (!info.readable) continue;
        static_cast<void>(predicting_plan(info, image, plan_, {.held = base_plan(o_.base_bytes)}, o_.formats.limits));
        sizes.insert(extents_of(info));
      } catch (const Error&) {
      }
    }
    planned_ = plan_predictions(*session_, sizes, std::to_string(images.size()) + " images",
                                {o_.host_budget_bytes, o_.base_bytes}, progress_);
    report_.memory.plan = planned_.held;
    report_.bytes_per_core = planned_.core;
    report_.host_bytes = planned_.host;
  }

  Shape extents_of(const VolumeInfo& info) const {
    return prediction_extents(prepared_geometry(info.geometry, plan_).shape(), spec_.multiple());
  }

  /// What an image takes, or its refusal, from its header. Errors: kInput E_SIZE, E_BUDGET; kBudget.
  ProcessPlan plan_that_fits(const fs::path& path) {
    const VolumeInfo info = read_volume_info(path, o_.formats);
    if (!info.readable) return {};  // reading says why
    const Shape extents = extents_of(info);
    if (const auto refused = planned_.refused.find(extents); refused != planned_.refused.end()) throw refused->second;
    const ProcessPlan plan =
        predicting_plan(info, path, plan_, {.held = planned_.held, .cores = planned_.cores(extents)}, o_.formats.limits);
    if (!info.warning.empty()) progress_.warn("case " + case_id(path, o_.formats) + ": " + info.warning);
    return plan;
  }

  /// The label map on the grid of the file. One volume goes as the next comes, and the core set when it is not needed:
  /// what is not at hand at once was not planned at once.
  Volume labels_of(const fs::path& path) {
    Volume ct = read_image(path, o_.formats);
    throw_if_stopped(progress_);
    PreparedImage prepared = prepare_image(std::move(ct), plan_);
    VolumeVoxels image = voxels_of(prepared.image.voxels);
    image.done = [&] { prepared.image.voxels = {}; };
    Volume labels{prepared.image.geometry, predict_volume(*session_, image, air_value(plan_), spec_.multiple())};
    session_->release();
    return restore_label(std::move(labels), prepared.original, plan_);
  }

  /// Errors: Stopped, before anything of this image was written.
  void one(const fs::path& path) {
    const Stopwatch watch;
    const std::string id = case_id(path, o_.formats);
    if (!seen_.insert(id).second) {
      fail({id, "E_DUPLICATE",
            "[predict] " + path.string() +
                " would overwrite the prediction of another image of the same name; rename it"});
      return;
    }
    const auto failure = failure_of(id, {ErrorKind::kInput, ErrorKind::kBudget}, [&] {
      throw_if_stopped(progress_);
      const fs::path file = named_file(o_.output, id, o_.formats.rows.front().endings.back());
      const ProcessPlan plan = plan_that_fits(path);
      const std::string data = made_of(path);
      if (folder_.holds(id, data)) {
        report_.cases.push_back({id, file, 0});
        ++report_.kept;
        return;
      }
      report_.memory.plan = widest(report_.memory.plan, plan);
      const Volume restored = labels_of(path);
      folder_.begin(id, {file.filename().string()});
      write_volume(file, restored, DiskType::kU8, o_.formats);
      folder_.commit(id, data);
      report_.cases.push_back({id, file, watch.seconds()});
    });
    if (failure && failure->code == kRefusedMemory) session_->release();
    if (!failure) return;
    folder_.drop(id);  // of an image that this one replaced
    fail(*failure);
  }

  /// Of what a prediction is kept for, should it be asked for again: the image, and the grid that it was made on.
  std::string made_of(const fs::path& path) const {
    std::string text = std::string(VOXSHARD_VERSION) + " " + to_string(spec_.cut.mesh.partition);
    for (const fs::path& file : files_of_volume(path)) text += " " + file_hash(file);
    return content_hash(text);
  }

  void fail(const CaseFailure& failure) {
    report_.failures.push_back(failure);
    progress_.log("case " + shown_name(failure.id) + ": " + failure.message + " [quarantined]");
  }

  const PredictOptions& o_;
  OutputFolder& folder_;
  Progress& progress_;
  WorkerPool pool_;
  ModelSpec spec_;
  std::string made_with_;  // hash
  TrainedOn trained_on_;
  PreparePlan plan_;
  std::unique_ptr<Session> session_;
  PlannedBytes planned_;
  PredictReport report_;
  std::set<std::string> seen_;  // case ids
};

}  // namespace

PredictReport predict_volumes(const PredictOptions& options, TrainedRun run, Progress& progress) {
  if (follows(options)) return follow_predictions(options, std::move(run), volume_work(), progress);
  const auto images = find_images(options.input, options.formats);
  OutputFolder folder({.folder = options.output, .command = "predict", .inputs = {options.input, options.run}});
  PredictReport report = Predictor(options, std::move(run), folder, progress).run(images);
  report.text = prediction_text(report, options.output / "quarantine.csv", "");
  report.next = next_command(options);
  return report;
}

}  // namespace voxshard
