#include "pipelines/tasks/segmentation/volume_task.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "io/datasets/dataset.h"
#include "io/files/config_file.h"
#include "io/output/folder_lock.h"
#include "pipelines/engine/case_hashes.h"
#include "pipelines/model_runs/run_preparation.h"
#include "pipelines/tasks/group_folds.h"
#include "pipelines/tasks/segmentation/dataset/fingerprint_summary.h"
#include "pipelines/tasks/segmentation/held_out_images.h"
#include "pipelines/tasks/segmentation/quality/training_ranges.h"
#include "pipelines/tasks/segmentation/scores/case_slices.h"
#include "pipelines/tasks/segmentation/scores/predict_volume.h"
#include "pipelines/tasks/segmentation/scores/volume_validation.h"
#include "pipelines/tasks/segmentation/training_sides.h"
#include "pipelines/tasks/segmentation/volume_folds.h"
#include "pipelines/tasks/segmentation/volume_settings.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::vector<std::size_t> indices(const PreparedDataset& dataset, const std::vector<std::string>& ids) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < dataset.cases.size(); ++i)
    if (std::find(ids.begin(), ids.end(), dataset.cases[i].id) != ids.end()) found.push_back(i);
  return found;
}

class VolumeTask : public TrainingTask {
 public:
  explicit VolumeTask(const VolumeTaskOptions& options)
      : o_(options),
        asked_flip_(options.sampling.flip),
        lock_(FolderLock::reading(options.work)),
        dataset_(read_prepared(options.work, options.accepts_changes ? &failures_ : nullptr)),
        folds_(options.kept.empty() || options.fold == "all" ? folds_of(dataset_, options.fold)
                                                             : folds_as_kept(dataset_, options.kept)),
        split_(choose_split(dataset_, folds_, options.fold)),
        sides_(dataset_.plan),
        source_(dataset_, indices(dataset_, split_.train), options.sampling) {
    std::vector<CasePlaces> places;
    for (const std::size_t i : indices(dataset_, split_.train))
      places.push_back(case_places(source_.grid(places.size()), source_.foreground(places.size()).by_class,
                                   dataset_.cases[i].class_voxels));
    sides_.add_placed(places);
    if (options.kept.empty()) return;
    std::vector<std::string> known;
    for (const PreparedCase& item : dataset_.cases) known.push_back(item.id);
    for (const CaseFailure& failure : failures_) known.push_back(failure.id);
    for (CaseFailure& gone : gone_from(options.kept.front(), known)) failures_.push_back(std::move(gone));
  }

  const char* metric() const override { return o_.metrics.front().key; }
  bool higher_is_better() const override { return o_.metrics.front().higher_is_better; }

  void complete(ModelSpec& spec) const override {
    if (spec.spatial_axes() != 3)
      throw Error(ErrorKind::kConfig, "[train] only unet3d trains on volumes, got " + spec.model_name() +
                                          "; for pictures use {model} retinanet");
    const auto channels = static_cast<std::int64_t>(dataset_.plan.channels.size());
    spec.set("classes", dataset_.plan.classes());
    spec.set("channels", channels);
  }

  void settle(ModelSpec& spec, const TaskOptions& options, const RunLength& length) override {
    const auto& settled = options.of<VolumeTaskOptions>();
    o_.sampling.crop = settled.sampling.crop, o_.sampling.crops = settled.sampling.crops, o_.sides = settled.sides;
    o_.sampling.augmentation = settled.sampling.augmentation;
    o_.sampling.whole_steps = settled.sampling.whole_steps;
    const std::vector<std::size_t> trained = indices(dataset_, split_.train);
    sides_.settle(o_.sides, trained.size(), [&](std::size_t item) {
      return case_sides(source_.grid(item), source_.foreground(item).by_class,
                        dataset_.cases[trained[item]].class_voxels, sides_.pairs());
    });
    o_.sampling.joined = sides_.rule().joined();
    o_.sampling.flip = sides_.mirrored(asked_flip_);
    spec.set("classes", o_.sampling.joined.classes());
    const auto* unet = std::any_cast<UNetConfig>(&spec.config);
    o_.sampling.merge = unet != nullptr && unet->marginal;
    source_.set(o_.sampling, length);
    if (!o_.sampling.merge) require_background();
  }

  std::int64_t training_cases() const override { return static_cast<std::int64_t>(split_.train.size()); }
  ClassesOfCases classes_of_cases() const override {
    ClassesOfCases classes;
    const std::vector<std::size_t> trained = indices(dataset_, split_.train);
    classes.partly_annotated =
        std::ranges::count_if(trained, [&](std::size_t i) { return dataset_.cases[i].annotated.has_value(); });
    const bool draws = !o_.sampling.crop.empty();  // else no class is drawn
    for (std::size_t c = 1; draws && c < dataset_.plan.class_names.size(); ++c) {
      const std::int64_t having = std::ranges::count_if(trained, [&](std::size_t i) {
        const std::vector<std::int64_t>& voxels = dataset_.cases[i].class_voxels;
        return c < voxels.size() && voxels[c] > 0;
      });
      if (having > 0 && (classes.rarest.empty() || having < classes.cases_with_rarest))
        classes.rarest = dataset_.plan.class_names[c], classes.cases_with_rarest = having;
    }
    if (!sides_.pairs().empty()) classes.sided = pair_text(sides_.pairs().front(), dataset_.plan.class_names);
    return classes;
  }
  Json drawn_on(std::int64_t samples) const override {
    if (o_.sampling.crop.empty()) return nullptr;
    const std::vector<std::int64_t> counts = source_.drawn_on(samples);
    Json drawn = {{"anywhere", counts.at(0)}};
    for (std::size_t c = 1; c < counts.size(); ++c) drawn[dataset_.plan.class_names.at(c)] = counts[c];
    return drawn;
  }
  std::int64_t validation_cases() const override { return static_cast<std::int64_t>(split_.val.size()); }
  Json preparation() const override {
    Json json = to_json(dataset_.plan);
    if (!sides_.rule().empty()) json[kTrainedClasses] = to_json(sides_.rule(), dataset_.plan.class_names);
    if (!usual_) usual_ = training_ranges(dataset_, indices(dataset_, split_.train));
    json[kUsualCases] = to_json(*usual_);
    return json;
  }

  Json sampling() const override {
    const SamplingOptions& s = o_.sampling;
    Json json = {{"fold", o_.fold},
                 {"cases", split_.train},
                 {"seed", s.seed},
                 {"crop", s.crop.empty() ? "whole" : to_string(s.crop)},
                 {"foreground", s.foreground},
                 {"crops", kCropsOnNames[static_cast<std::size_t>(s.crops)]},
                 {"intensity_scale", s.intensity_scale},
                 {"noise", s.noise},
                 {"flip", s.flip},
                 {"augment", augmentation_name(s.augmentation)},
                 {"rotation", s.augmentation.rotation_degrees},
                 {"zoom", s.augmentation.zoom},
                 {"pad_multiple", s.pad_multiple}};
    if (s.trims) json["trim_crops"] = true;
    if (s.whole_steps > 0) json["whole_steps"] = s.whole_steps;
    Json& annotated = json["annotated"] = Json::object();  // of the cases in which not every class was
    for (const std::vector<std::string>* ids : {&split_.train, &split_.val})
      for (const std::size_t i : indices(dataset_, *ids))
        if (dataset_.cases[i].annotated) annotated[dataset_.cases[i].id] = *dataset_.cases[i].annotated;
    if (o_.sides != Sides::kKeep) json["sides"] = kSidesNames[static_cast<std::size_t>(o_.sides)];
    return json;
  }

  /// Hashes image, label and foreground of each case. A new run takes the hashes that `prepare` noted: read_prepared
  /// has checked that size and time of the files are unchanged.
  CaseHashes content(bool resumes, WorkerPool& pool, Progress& progress) const override {
    if (!resumes)
      progress.log("what the " + std::to_string(dataset_.cases.size()) +
                   " cases hold is as `prepare` noted it, by size "
                   "and time of their files; they are read and compared when the run goes on");
    std::vector<HashedCase> cases;
    for (const auto& [role, ids] : {std::pair("train/", &split_.train), std::pair("validate/", &split_.val)})
      for (std::size_t index : indices(dataset_, *ids)) {
        const PreparedCase& item = dataset_.cases[index];
        std::vector<fs::path> files = item.images;
        files.insert(files.end(), {item.label, item.foreground});
        cases.push_back({.name = role + item.id,
                         .files = std::move(files),
                         .known = resumes ? std::map<fs::path, std::string>() : item.hashes,
                         .trains = ids == &split_.train});
      }
    CaseHashes hashes = case_hashes(cases, pool, progress);
    for (std::size_t index : indices(dataset_, split_.train))
      for (const std::string& source : dataset_.cases[index].sources) hashes.trained.push_back(source);
    for (std::size_t index : indices(dataset_, split_.val))
      for (const std::string& source : dataset_.cases[index].sources) hashes.held_out.push_back(source);
    return hashes;
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = sides_.notes();
    const std::string patients = patients_text(dataset_, folds_);
    if (!patients.empty() && !patients.starts_with("W_")) notes.push_back(patients);
    return notes;
  }
  std::vector<std::string> warnings() const override {
    std::vector<std::string> warnings = sides_.warnings(asked_flip_);
    for (std::string& setting : without_effect(o_.sampling)) warnings.push_back(std::move(setting));
    if (std::string file = folds_file_text(dataset_, folds_); !file.empty()) warnings.push_back(std::move(file));
    const std::string patients = patients_text(dataset_, folds_);
    if (patients.starts_with("W_")) warnings.push_back(patients);
    return warnings;
  }

  std::int64_t left_out() const override { return std::ssize(failures_); }

  void describe(const std::filesystem::path& run) override {
    if (!folds_.empty()) write_run_splits(run, folds_, o_.kept);
    write_fingerprint_summary(o_.work, dataset_.plan.class_names, run);
    if (!failures_.empty() || fs::exists(run / "quarantine.csv")) write_quarantine(run, failures_);
  }

  /// Returns the test images of the data set, else the training images, which include the validation cases; run.json of
  /// `prepare` names the data set.
  Unseen unseen() const override {
    std::error_code error;
    const auto has = [&](const fs::path& images) {
      return fs::is_directory(images, error) && !fs::is_empty(images, error) && !error;
    };
    const fs::path data = source_of_prepared(o_.work);
    if (data.empty()) return {};
    if (has(data / "imagesTs")) return {.data = data / "imagesTs"};
    if (!split_.val.empty() && has(data / "imagesTr")) return {.data = data / "imagesTr", .among_trained = true};
    return {};
  }

  HeldOut held_out() const override { return held_out_images(o_.work); }

  std::optional<double> mean_points() const override { return source_.mean_voxels(); }
  std::optional<SampleSizes> sample_sizes(std::int64_t batch) const override { return source_.sample_sizes(batch); }
  Shape largest_extents(std::int64_t batch) const override { return source_.largest_extents(batch); }

  std::vector<Shape> validation_extents(const ModelSpec& spec) const override {
    std::vector<Shape> extents;
    for (std::size_t index : indices(dataset_, split_.val))
      extents.push_back(prediction_extents(dataset_.cases[index].shape, spec.multiple()));
    return extents;
  }

  /// Memory of a step: one sample of each box while it is filled, f32 or i32, the mapped pages of the files, and for
  /// each thread what changing a tile of a sample holds.
  ProcessPlan step_plan(const StepSize& step) const override {
    return {{MemoryPart::kFeeding,
             4 * step.box_points + source_.mapped_bytes(step.extents) + step.workers * source_.augmentation_bytes()}};
  }
  /// Memory of validation, bytes a voxel: predicted labels 1, reference labels mapped 2 and as boxes 4; the mapped
  /// image, 4, is released before. Joined classes: the labels of all cores 1, and a core's classes of the data 4.
  /// Slices are for the page of the run.
  ProcessPlan validation_plan(const Shape& extents) const override {
    const std::int64_t voxels = element_count(extents);
    const std::int64_t slices = slice_bytes({extents[1], extents[2], extents[3]}, kMostSlicedCases);
    if (o_.sampling.joined.any())
      return {{MemoryPart::kResults, 2 * voxels + slices}, {MemoryPart::kMetrics, 10 * voxels}};
    return {{MemoryPart::kResults, voxels + slices}, {MemoryPart::kMetrics, 6 * voxels}};
  }
  std::string size_setting(const std::string& size) const override {
    const SamplingOptions& s = o_.sampling;
    return s.whole_steps > 0 && !s.crop.empty() ? "{whole-steps} 0" : TrainingTask::size_setting(size);
  }
  std::int64_t step_sizes(std::int64_t batch) const override {
    const std::int64_t sizes = source_.sizes();
    return batch == 1 ? sizes : sizes * sizes;  // the extents of a batch are the largest in it, axis by axis
  }

  void share(std::int64_t begin, std::int64_t end) override { begin_ = begin, end_ = end; }

  Shape load(std::int64_t step, std::int64_t batch, WorkerPool&) override {
    source_.done_with(batch_);
    batch_ = source_.batch(step, batch);
    const std::vector<Sample> next = source_.batch(step + 1, batch);
    const std::int64_t begin = std::min(begin_, batch), end = std::min(end_, batch);
    source_.prefetch(std::span(next).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    return source_.extents(batch_);
  }

  void fill(const InputInfo& input, const TensorView& box) const override { source_.fill(batch_, input, box); }

  std::unique_ptr<ValidationPass> validation(const ModelSpec& spec) const override {
    return validate_volumes(dataset_, indices(dataset_, split_.val), o_.metrics.front(), spec.multiple(),
                            sides_.rule());
  }
  std::vector<std::string> scored_classes() const override {
    const std::vector<std::string>& names = dataset_.plan.class_names;
    return {names.begin() + 1, names.end()};  // without the background
  }

 private:
  /// Throws kConfig when no case that trains has every class annotated: the background of all of them is ignored, and
  /// nothing teaches it.
  void require_background() const {
    const std::vector<std::size_t> trained = indices(dataset_, split_.train);
    if (std::ranges::any_of(trained, [&](std::size_t i) { return !dataset_.cases[i].annotated; })) return;
    throw Error(ErrorKind::kConfig,
                "[train] in none of the " + std::to_string(trained.size()) +
                    " cases that train was every class annotated (key annotated of dataset.json), so that nothing "
                    "teaches the background; take {unannotated} merge, or prepare again without the rare classes");
  }

  VolumeTaskOptions o_;
  TrainingSides::Mirrored asked_flip_;
  std::vector<CaseFailure> failures_;  // cases that the run started with and now goes on without
  FolderLock lock_;                    // keeps `prepare` from rewriting the folder while its volumes are read
  PreparedDataset dataset_;
  std::vector<Split> folds_;
  Split split_;
  TrainingSides sides_;
  mutable std::optional<QualityRanges> usual_;  // read when the preparation is asked for, once
  SampleSource source_;
  std::vector<Sample> batch_;  // samples of the step that was loaded last
  // the samples of the step that this process fills
  std::int64_t begin_ = 0, end_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace

std::vector<std::size_t> evaluated_cases(const PreparedDataset& dataset, const std::string& fold) {
  const Split split = choose_split(dataset, folds_of(dataset, fold), fold);
  return indices(dataset, fold == "all" ? split.train : split.val);
}

std::unique_ptr<TrainingTask> volume_task(const VolumeTaskOptions& options) {
  return std::make_unique<VolumeTask>(options);
}

}  // namespace voxshard
