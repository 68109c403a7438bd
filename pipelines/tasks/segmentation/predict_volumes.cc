#include "pipelines/tasks/segmentation/predict_volumes.h"

#include <algorithm>
#include <set>

#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "io/files/output_folder.h"
#include "io/volume/volume.h"
#include "libcore/base/stopwatch.h"
#include "pipelines/engine/prediction.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/segmentation/dataset/case_memory.h"
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"
#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "pipelines/tasks/segmentation/scores/predict_volume.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns the case of an image file: "liver_03_0000.nii.gz" -> "liver_03".
std::string case_id(const fs::path& path, const VolumeFormats& formats) {
  constexpr std::string_view kChannel = "_0000";
  const std::string name = volume_stem(path, formats).value_or(path.filename().string());
  return name.ends_with(kChannel) ? name.substr(0, name.size() - kChannel.size()) : name;
}

std::vector<fs::path> find_images(const fs::path& input, const VolumeFormats& formats, Progress& progress) {
  if (is_volume_address(input, formats)) return {input};
  if (!fs::exists(input))
    throw Error(ErrorKind::kInput,
                "[predict] " + input.string() + " does not exist; give an image or a folder of images");
  if (!fs::is_directory(input)) return {input};
  std::vector<fs::path> images;
  for (const auto& entry : fs::directory_iterator(input))
    if (volume_id(entry.path(), formats)) images.push_back(entry.path());
  if (images.empty()) {
    const FoundVolumes found = find_volumes(input, formats);
    for (const FoundVolume& volume : found.volumes) images.push_back(volume.path);
    if (!found.left_out.empty()) progress.log("left out: " + found.left_out);
  } else if (const std::string beside = series_beside(input, formats); !beside.empty()) {
    progress.warn("left out: " + beside);
  }
  std::sort(images.begin(), images.end());
  if (images.empty())
    throw Error(ErrorKind::kNoCase,
                "[predict] " + input.string() + " holds no " + volume_endings(formats) + " image and no DICOM series");
  return images;
}

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
  VolumePrediction(PredictionBatch& batch, std::vector<fs::path> images, OutputFolder& folder)
      : b_(batch),
        o_(batch.options),
        folder_(folder),
        spec_(batch.run.spec),
        made_with_(prediction_hash(o_, batch.run.file)),
        images_(std::move(images)) {
    try {
      plan_ = plan_from_json(batch.run.preparation);
    } catch (const Error& e) {
      throw Error(ErrorKind::kCheckpoint, batch.run.file.string() + ": " + e.what());
    }
    keep_wanted(
        images_, {batch.run.trained_on, o_.held_out, batch.report.seen, batch.context.pool(), batch.progress},
        [&](const fs::path& image) { return HashedCase{.name = id_of(image), .files = files_of_volume(image)}; });
  }

  PredictionWords words() const override { return {.inputs = "images", .one = "case "}; }

  std::vector<std::string> names() const override {
    std::vector<std::string> ids;
    for (const fs::path& image : images_) ids.push_back(id_of(image));
    return ids;
  }

  std::vector<PredictionTurn> turns() const override {
    std::vector<PredictionTurn> turns;
    for (std::size_t i = 0; i < images_.size(); ++i) turns.push_back({planned_extents(images_[i]), {i}});
    return turns;
  }

  void begin() override {
    const std::vector<std::string> ids = names();
    folder_.start({.options = made_with_, .parts = {ids.begin(), ids.end()}, .resume = true, .protect = true});
  }

  /// Predicts and writes one image. Errors: Stopped, before anything of this image is written.
  void predict(const PredictionTurn& turn) override {
    const Stopwatch watch;
    const std::size_t i = turn.inputs.front();
    const fs::path& path = images_[i];
    const std::string id = id_of(path);
    if (!seen_.insert(id).second)
      return b_.fail(i, "E_DUPLICATE",
                     "[predict] " + path.string() +
                         " would overwrite the prediction of another image of the same name; rename it");
    const fs::path file = named_file(o_.output, id, o_.formats.rows.front().endings.back());
    const ProcessPlan plan = plan_that_fits(path);
    const std::string data = made_of(path);
    if (folder_.holds(id, data)) {
      ++b_.report.kept;
      return b_.done(i, file, 0);
    }
    b_.takes(plan);
    const Volume restored = labels_of(path);
    folder_.begin(id, {file.filename().string()});
    write_volume(file, restored, DiskType::kU8, o_.formats);
    folder_.commit(id, data);
    b_.done(i, file, watch.seconds());
  }

  /// Drops the earlier prediction of an image that failed now.
  void drop(std::size_t i) override { folder_.drop(id_of(images_[i])); }

  void list_failures() override {
    write_quarantine(o_.output, left_out(b_.report));
    write_seen(o_.output, b_.report.seen);
  }

  void finish() override {
    list_failures();
    b_.report.text = prediction_text(b_.report, o_.output / "quarantine.csv", "");
    b_.report.next = next_command(o_);
  }

 private:
  std::string id_of(const fs::path& image) const { return case_id(image, o_.formats); }

  Shape extents_of(const VolumeInfo& info) const {
    return prediction_extents(prepared_geometry(info.geometry, plan_).shape(), spec_.multiple());
  }

  /// Returns the extents from the header; empty for an image that cannot be read or is too large: predict() reports
  /// why.
  Shape planned_extents(const fs::path& image) const {
    try {
      const VolumeInfo info = read_volume_info(image, o_.formats);
      if (!info.readable) return {};
      static_cast<void>(
          predicting_plan(info, image, plan_, {.held = base_plan(b_.context.base_bytes())}, o_.formats.limits));
      return extents_of(info);
    } catch (const Error&) {
      return {};
    }
  }

  /// Returns the memory plan of an image from its header. Errors, which refuse it: kInput E_SIZE, E_BUDGET; kBudget.
  ProcessPlan plan_that_fits(const fs::path& path) {
    const VolumeInfo info = read_volume_info(path, o_.formats);
    if (!info.readable) return {};  // reading reports why
    const Shape extents = extents_of(info);
    b_.require_planned(extents);
    const ProcessPlan plan = predicting_plan(
        info, path, plan_, {.held = b_.planned().held, .cores = b_.planned().cores(extents)}, o_.formats.limits);
    if (!info.warning.empty()) b_.progress.warn("case " + id_of(path) + ": " + info.warning);
    return plan;
  }

  /// Returns the label map on the grid of the file. Each volume is released when the next one is made, and the core set
  /// as soon as it is not needed: the memory plan counts on that.
  Volume labels_of(const fs::path& path) {
    Volume ct = read_image(path, o_.formats);
    throw_if_stopped(b_.progress);
    PreparedImage prepared = prepare_image(std::move(ct), plan_);
    VolumeVoxels image = voxels_of(prepared.image.voxels);
    image.done = [&] { prepared.image.voxels = {}; };
    Volume labels{prepared.image.geometry, predict_volume(b_.session(), image, air_value(plan_), spec_.multiple())};
    b_.session().release();
    return restore_label(std::move(labels), prepared.original, plan_);
  }

  /// Returns a hash of the image, the program version and the partition, by which a later call knows that it may keep
  /// the prediction.
  std::string made_of(const fs::path& path) const {
    std::string text = std::string(VOXSHARD_VERSION) + " " + to_string(spec_.cut.mesh.partition);
    for (const fs::path& file : files_of_volume(path)) text += " " + file_hash(file);
    return content_hash(text);
  }

  PredictionBatch& b_;
  const PredictOptions& o_;
  OutputFolder& folder_;
  ModelSpec spec_;
  std::string made_with_;  // hash
  PreparePlan plan_;
  std::vector<fs::path> images_;
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
    auto images = find_images(options.input, options.formats, context.progress());
    folder.emplace(FolderUse{.folder = options.output, .command = "predict", .inputs = {options.input, options.run}});
    return std::make_unique<VolumePrediction>(batch, std::move(images), *folder);
  });
}

}  // namespace voxshard
