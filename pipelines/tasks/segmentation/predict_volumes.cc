#include "pipelines/tasks/segmentation/predict_volumes.h"

#include <algorithm>
#include <set>

#include "io/datasets/hidden_paths.h"
#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "io/files/output_folder.h"
#include "io/volume/volume.h"
#include "libcore/base/stopwatch.h"
#include "pipelines/engine/prediction.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/segmentation/dataset/case_memory.h"
#include "pipelines/tasks/segmentation/dataset/dataset_source.h"
#include "pipelines/tasks/segmentation/dataset/hiding_paths.h"
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"
#include "pipelines/tasks/segmentation/find_images.h"
#include "pipelines/tasks/segmentation/input_cases.h"
#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "pipelines/tasks/segmentation/scores/predict_volume.h"
#include "pipelines/tasks/segmentation/volume_reading.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns the suggested next command: evaluate when labels lie beside the images as in nnU-Net's folders, else info.
std::vector<std::string> next_command(const PredictOptions& o) {
  const fs::path input = o.input.has_filename() ? o.input : o.input.parent_path();  // without a trailing slash
  const std::string images = input.filename().string(), output = o.output.string();
  const fs::path data = input.parent_path();
  if (!images.starts_with("images") || !fs::is_directory(data / ("labels" + images.substr(6)))) return {"info", output};
  std::vector<std::string> words = {"evaluate", output, (data / ("labels" + images.substr(6))).string()};
  if (fs::exists(data / "dataset.json")) words.insert(words.end(), {"{dataset}", data.empty() ? "." : data.string()});
  const fs::path summary = (o.output.has_filename() ? o.output : o.output.parent_path()).parent_path() / "summary.json";
  const fs::path from_data =
      fs::absolute(summary).lexically_normal().lexically_relative(fs::absolute(data / ".").lexically_normal());
  if (from_data.begin() != from_data.end() &&
      *from_data.begin() == "..")  // evaluate writes nothing into its input folders
    words.insert(words.end(), {"{output}", summary.string()});
  return words;
}

class VolumePrediction : public Prediction {
 public:
  VolumePrediction(PredictionBatch& batch, const std::vector<fs::path>& images, OutputFolder& folder)
      : b_(batch),
        o_(batch.options),
        folder_(folder),
        spec_(batch.run.spec),
        made_with_(prediction_hash(o_, batch.run.file, naming_of(o_))) {
    try {
      plan_ = plan_from_json(batch.run.preparation);
    } catch (const Error& e) {
      throw Error(ErrorKind::kCheckpoint, batch.run.file.string() + ": " + e.what());
    }
    take_cases(images);
    keep_wanted(cases_, {batch.run.trained_on, o_.held_out, batch.report.seen, batch.context.pool(), batch.progress},
                [&](const Case& item) { return hashed_case(item); });
  }

  PredictionWords words() const override { return {.inputs = "images", .one = "case "}; }

  std::vector<std::string> names() const override {
    std::vector<std::string> ids;
    for (const Case& item : cases_) ids.push_back(item.id);
    return ids;
  }

  std::vector<PredictionTurn> turns() const override {
    std::vector<PredictionTurn> turns;
    for (std::size_t i = 0; i < cases_.size(); ++i) turns.push_back({planned_extents(cases_[i]), {i}});
    return turns;
  }

  void begin() override {
    const std::vector<std::string> ids = names();
    folder_.start({.options = made_with_, .parts = {ids.begin(), ids.end()}, .resume = true, .protect = true});
    write_names();
  }

  /// Predicts and writes one image. Errors: Stopped, before anything of this image is written.
  void predict(const PredictionTurn& turn) override {
    hiding_paths(cases_[turn.inputs.front()], [&] { predict_one(turn); });
  }

  void predict_one(const PredictionTurn& turn) {
    const Stopwatch watch;
    const std::size_t i = turn.inputs.front();
    const Case& item = cases_[i];
    const std::string& id = item.id;
    if (!seen_.insert(id).second)
      return b_.fail(i, "E_DUPLICATE",
                     "[predict] " + (item.anonymous ? "it" : item.images.front().string()) +
                         " would overwrite the prediction of another image of the same name; rename it");
    const fs::path file = named_file(o_.output, id, o_.formats.rows.front().endings.back());
    const ProcessPlan plan = plan_that_fits(item);
    const std::string data = made_of(item, turn.extents);
    if (folder_.holds(id, data)) {
      ++b_.report.kept;
      return b_.done(i, file, 0);
    }
    b_.takes(plan);
    const Volume restored = labels_of(item);
    folder_.begin(id, {file.filename().string()});
    write_volume(file, restored, DiskType::kU8, o_.formats);
    folder_.commit(id, data);
    b_.done(i, file, watch.seconds());
  }

  /// Drops the earlier prediction of an image that failed now.
  void drop(std::size_t i) override { folder_.drop(cases_[i].id); }

  void list_failures() override {
    write_names();
    write_quarantine(o_.output, left_out(b_.report));
    write_seen(o_.output, b_.report.seen);
  }

  void finish() override {
    list_failures();
    b_.report.text = prediction_text(b_.report, o_.output / "quarantine.csv", "");
    if (!names_.empty())
      b_.report.text += (o_.output / kCaseNamesFile).string() +
                        ", for its owner's eyes alone, leads from the names of the label maps to the images\n";
    b_.report.next = next_command(o_);
  }

 private:
  /// Returns what names label maps beside their files; results of another naming are not mixed with these.
  static std::string naming_of(const PredictOptions& options) {
    const auto& reading = options.task.of<VolumeReading>();
    return reading.keep_names ? "names of folders" : reading.id_salt.empty() ? "" : "salted";
  }

  void write_names() const {
    if (!names_.empty()) write_case_names(o_.output, names_);
  }

  /// Returns a case with the files that hold it; none where they cannot be told: predict() reports why.
  HashedCase hashed_case(const Case& item) const {
    VolumeFiles known;
    try {
      known = files_of_case(item, o_.formats);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kInput) throw;
    }
    return {.name = item.id, .files = known.files, .known = known.hashes};
  }

  /// Groups the images into cases; a case without one of its channels is left out.
  void take_cases(const std::vector<fs::path>& images) {
    InputCases found = cases_of_images(images, plan_.channels, o_.formats);
    if (found.left_out > 0)
      b_.progress.warn("left out: " + std::to_string(found.left_out) + " files of channels behind the " +
                       std::to_string(plan_.channels.size()) + " of the run");
    if (found.further > 0)
      b_.progress.warn(std::to_string(found.further) +
                       " images are named like further channels of others, but the run reads one channel: each is "
                       "predicted as an image of its own");
    const auto& reading = o_.task.of<VolumeReading>();
    names_ = name_cases(found, {.folder = o_.input, .id_salt = reading.id_salt, .keep_names = reading.keep_names},
                        o_.output, b_.progress);
    b_.list(found.failures);
    cases_ = std::move(found.cases);
  }

  Shape extents_of(const VolumeInfo& info) const {
    return prediction_extents(prepared_geometry(info.geometry, plan_).shape(), spec_.multiple());
  }

  /// Returns the extents from the headers; empty for an image that cannot be read or is too large: predict() reports
  /// why.
  Shape planned_extents(const Case& item) const {
    Shape extents;
    try {
      for (const fs::path& image : item.images) {
        const VolumeInfo info = read_volume_info(image, o_.formats);
        if (!info.readable) return {};
        static_cast<void>(
            predicting_plan(info, image, plan_, {.held = base_plan(b_.context.base_bytes())}, o_.formats.limits));
        if (extents.axes() == 0) extents = extents_of(info);
      }
    } catch (const Error&) {
      return {};
    }
    return extents;
  }

  /// Returns the memory plan of a case from its headers. Errors, which refuse it: kInput E_SIZE, E_BUDGET; kBudget.
  ProcessPlan plan_that_fits(const Case& item) {
    ProcessPlan plan;
    for (const fs::path& path : item.images) {
      const VolumeInfo info = read_volume_info(path, o_.formats);
      if (!info.readable) return {};  // reading reports why
      const Shape extents = extents_of(info);
      if (&path == &item.images.front()) b_.require_planned(extents);
      const ProcessPlan one = predicting_plan(
          info, path, plan_, {.held = b_.planned().held, .cores = b_.planned().cores(extents)}, o_.formats.limits);
      plan = widest(plan, one);
      if (!info.warning.empty()) b_.progress.warn("case " + item.id + ": " + info.warning);
    }
    return plan;
  }

  /// Returns the label map on the grid of the files. Each volume is released when the next one is made, and the core
  /// set as soon as it is not needed: the memory plan counts on that.
  Volume labels_of(const Case& item) {
    Geometry original, grid;
    std::optional<Box> crop;  // of nnU-Net's convention, the same for all channels
    std::vector<Tensor> channels;
    const auto read = [&](std::size_t c) {
      Volume volume = read_image(item.images[c], o_.formats);
      throw_if_stopped(b_.progress);
      if (c == 0) original = volume.geometry;
      require_same_channels(original, volume.geometry,
                            shown_file(item, item.images[c], "channel " + std::to_string(c)));
      return volume;
    };
    const auto nonzero = nonzero_of_channels(plan_, read);
    for (std::size_t c = 0; c < item.images.size(); ++c) {
      PreparedImage prepared = prepare_image(read(c), plan_.of_channel(c), nullptr, nonzero ? &*nonzero : nullptr);
      grid = prepared.image.geometry, crop = prepared.crop;
      channels.push_back(std::move(prepared.image.voxels));
    }
    VolumeVoxels image = voxels_of(channels, air_values(plan_));
    image.done = [&] { channels.clear(); };
    Volume labels{grid, predict_volume(b_.session(), image, spec_.multiple())};
    b_.session().release();
    return restore_label(std::move(labels), original, plan_, crop);
  }

  /// Returns a hash of the case's files, whether they were resampled, the program version and the partition that its
  /// size has, by which a later call knows that it may keep the prediction.
  std::string made_of(const Case& item, const Shape& extents) const {
    const auto planned = b_.planned().fits.find(extents);
    std::string text =
        std::string(VOXSHARD_VERSION) + " " +
        to_string(planned != b_.planned().fits.end() ? planned->second.partition : spec_.cut.mesh.partition);
    for (const fs::path& image : item.images)
      if (read_volume_info(image, o_.formats).warning.starts_with("W_RESAMPLED")) text += " resampled";
    const VolumeFiles known = files_of_case(item, o_.formats);
    for (const fs::path& file : known.files) text += " " + known.hash_of(file);
    return content_hash(text);
  }

  PredictionBatch& b_;
  const PredictOptions& o_;
  OutputFolder& folder_;
  ModelSpec spec_;
  std::string made_with_;  // hash
  PreparePlan plan_;
  std::vector<Case> cases_;
  CaseNames names_;             // where ids are not the names of files
  std::set<std::string> seen_;  // case ids
};

}  // namespace

PredictReport predict_volumes(const PredictOptions& options, TrainedRun run, const RunContext& context) {
  if (volume_stem(options.output, options.formats) && !fs::is_directory(options.output))
    throw Error(ErrorKind::kUsage,
                "[predict] {output} " + options.output.string() +
                    " is named like a volume, but label maps go to a folder, each named by its case; "
                    "give a folder");
  std::optional<OutputFolder> folder;
  return run_prediction(options, std::move(run), volume_work(), context, [&](PredictionBatch& batch) {
    auto images =
        find_images(options.input, options.formats, options.task.of<VolumeReading>().best_series, context.progress());
    folder.emplace(FolderUse{.folder = options.output, .command = "predict", .inputs = {options.input, options.run}});
    return std::make_unique<VolumePrediction>(batch, images, *folder);
  });
}

}  // namespace voxshard
