#include "pipelines/tasks/classification/classification.h"

#include <algorithm>

#include "libcore/base/text.h"
#include "pipelines/model_runs/missed_classes.h"
#include "pipelines/tasks/classification/class_info.h"
#include "pipelines/tasks/classification/class_models.h"
#include "pipelines/tasks/classification/demo/demo_digits.h"
#include "pipelines/tasks/classification/demo/demo_motions.h"
#include "pipelines/tasks/classification/demo/golden_item.h"
#include "pipelines/tasks/classification/evaluate_items.h"
#include "pipelines/tasks/classification/samples/sample_memory.h"
#include "pipelines/tasks/classification/scores/class_predictions.h"
#include "pipelines/tasks/classification/scores/classes_difference.h"
#include "pipelines/tasks/codecs_plan.h"
#include "pipelines/tasks/group_folds.h"
#include "pipelines/tasks/input_tree.h"
#include "pipelines/tasks/irregular_slices.h"
#include "pipelines/tasks/series_choice.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMotion = "motion";

/// Parses "224x224" or "64x128x128".
Dims size_from_text(const std::string& text) {
  return crop_from_text(text, 1 + static_cast<int>(std::ranges::count(text, 'x')));
}

/// Adds the setting with which a model of one size sees images that are larger.
void add_size(std::vector<std::string>& words, const char* model, const ClassSetInfo& info) {
  const ModelSpec usual = usual_spec(model_named(model_table(), model));
  if (usual.model->size == nullptr) return;
  const Dims own = usual.model->size(usual.config);
  std::int64_t times = 1;
  for (const ClassPartInfo& part : info.parts)
    for (int a = 0; a < std::min(own.axes(), part.largest.axes()); ++a)
      times = std::max(times, (part.largest[a] + own[a] - 1) / own[a]);
  if (times > 1) words.insert(words.end(), {"{size-multiplier}", std::to_string(times)});
}

std::vector<Setting> training_settings(ClassTaskOptions& o) {
  const std::string samples = "Samples", own = "Samples of classes";
  std::vector<Setting> settings = {
      {"fold", kFoldHelp, "Training",
       [&o](const std::string& text) { o.validates = text != "all", o.fold = o.validates ? text : ""; }},
      {.name = "pad-multiple",
       .help = "What is whole is padded to a multiple of this; default: 8, of pictures 32, 1 where all have one size",
       .group = samples,
       .value = &o.pad_multiple,
       .range = kPadMultiples,
       .tells_default = false},
      most_pixels_setting(o.most_pixels),
      {.name = "val",
       .help = "The data set that validates; default: the data folder's own, else a share of all",
       .group = "Samples of pictures",
       .value = &o.val},
      {"val-fraction",
       "Share of the pictures that validates when nothing names them",
       "Samples of pictures",
       &o.val_fraction,
       {{0, 0.99}}},
      {.name = "fit",
       .help = "What differs from {size} is padded (bottom and right) or resized; without a size a batch is padded "
               "to its largest",
       .group = own,
       .value = &o.fit,
       .choices = {"pad", "resize"}},
      {"size",
       "H x W, of volumes D x H x W, of clips the frames' H x W, that every sample gets; default: its own, or what the "
       "model has",
       own, [&o](const std::string& text) { o.size = size_from_text(text); }},
      {"clip-length", "Frames of a clip; default: 16", own, &o.clip_length, {{1, kMostClipLength}}},
      {"stride", "Of a clip: every n-th frame of the video; default: 1", own, &o.clip_stride, {{1, kMostClipStride}}},
      {"clip-shift",
       "Frames of the video by which a clip begins sooner or later at most, at random, within its video or interval",
       own,
       &o.clips.shift,
       {{0, static_cast<double>(kMostClipShift)}}},
      {"clip-mirror", "Probability of mirroring all frames of a clip left to right", own, &o.clips.mirror, {{0, 1}}},
      {.name = "colour",
       .help = "Of pictures and clips: as colour, as grey, or auto: as colour when one of the training is",
       .group = own,
       .value = &o.colour,
       .choices = {"auto", "colour", "grey"}},
      {.name = "balance",
       .help = "weights: the loss counts all classes alike, however many items each has (in place of "
               "{class-weights}); none",
       .group = own,
       .value = &o.balance,
       .choices = {"none", "weights"}},
      {.name = "intensities",
       .help = "dataset: less their mean, by their deviation over all training samples; none: from 0 to 1",
       .group = own,
       .value = &o.normalise,
       .choices = {"dataset", "none"}},
      {"window", "LOW,HIGH in HU of volumes: these become 0 and 1", own, &o.window_hu, {{-32768, 65535}}},
      irregular_setting(o.irregular, own),
      series_setting(o.best_series, own)};
  for (Setting& setting : augmentation_settings(o.augmentation)) settings.push_back(std::move(setting));
  return settings;
}

std::vector<Setting> prediction_settings(ClassPredictionOptions& o) {
  return {draw_setting(o.draw),
          {.name = "hop",
           .help = "Of a classifier of clips: frames from one clip that is looked at to the next; default: "
                   "as many as a clip spans, so that they follow one another; fewer: they overlap and are averaged",
           .group = "Prediction on a video",
           .value = &o.hop,
           .range = {{1, static_cast<double>(kMostHop)}},
           .tells_default = false},
          most_pixels_setting(o.most_pixels),
          keep_names_setting(o.keep_names),
          irregular_setting(o.irregular),
          series_setting(o.best_series)};
}

/// Sets the baseline. Errors: kUsage for a baseline that only label maps have.
void set_baseline(EvaluateClassesOptions& o, const std::string& text) {
  o.intensity_baseline = text == "intensity";
  if (text == "threshold")
    throw Error(ErrorKind::kUsage, "[evaluate] {baseline} threshold is of label maps; of classes there is intensity");
}

/// Returns the scores by class and over the classes, for comparisons.
std::vector<ClassScore> scores_of(const ClassReport& r) {
  std::vector<ClassScore> scores;
  for (std::size_t c = 0; c < r.classes.size(); ++c)
    for (std::size_t m = 0; m < r.metrics.size(); ++m)
      scores.push_back({r.classes[c], r.metrics[m].key, r.by_class[m][c], r.metrics[m].digits});
  for (std::size_t m = 0; m < r.metrics.size(); ++m)
    if (r.metrics[m].has_mean) scores.push_back({"", r.metrics[m].key, r.means[m], r.metrics[m].digits});
  scores.push_back({"", "accuracy", r.accuracy});
  scores.push_back({"", "top_" + std::to_string(r.top_k), r.top_k_accuracy});
  scores.push_back({"", "expected_calibration_error", r.calibration.expected_error});
  return scores;
}

/// Returns lines on the classes of which nothing was recognised.
std::string missed_text_of(const ClassReport& r) {
  std::vector<ScoresOfClass> classes;
  for (std::size_t c = 0; c < r.classes.size(); ++c) classes.push_back({r.classes[c], r.scores[c].recall});
  return missed_text(missed_classes(classes, {.metric = "recall", .over_all = "over all", .unscored = ""}));
}

class ClassificationRow : public Task {
 public:
  ClassificationRow(const ClassKinds& kinds, const ClassMetrics& metrics) : kinds_(kinds), metrics_(metrics) {}

  const char* name() const override { return "classification"; }
  TaskWords words() const override {
    return {.demo_cases = "4000 digits, 240 clips",
            .demo_test_cases = "1000 digits, 60 clips",
            .demo_kinds = "digits (the usual), or motion: clips whose classes no single frame tells apart",
            .training_data = "of a classifier " + class_sets_help(kinds_),
            .inputs = "of a classifier also its data set, of one of clips videos",
            .outputs =
                "of a classifier the file of classes, .json, beside which the same is written as .csv, of one of "
                "clips the time lines",
            .json_predictions = "classes",
            .data_references =
                "of classes a data set, whose test part counts, of videos also a CSV of file,start,end,class",
            .run_data = "of a classifier a data set of classes",
            .scores = "the scores of classes",
            .data_sets = class_folders(kinds_)};
  }
  bool learns(const ModelSpec& spec) const override { return spec.model->data == kClassLabels; }

  std::vector<Setting> settings(TaskCommand command, TaskOptions& options) const override {
    if (command == TaskCommand::kTrain) return training_settings(options.of<ClassTaskOptions>());
    if (command == TaskCommand::kPredict) return prediction_settings(options.of<ClassPredictionOptions>());
    if (command != TaskCommand::kEvaluate) return {};
    EvaluateClassesOptions& o = options.of<EvaluateClassesOptions>();
    return {
        {"top-k",
         "Of classes: a prediction counts when the true one is among so many likeliest",
         "",
         &o.top_k,
         {{1, 1e6}}},
        most_pixels_setting(o.most_pixels,
                            "Of classes: pixels of a picture or frame of the references; what has more "
                            "is left out with E_SIZE"),
        {"dataset", "Data set folder: class names, and images for {baseline} and {png}", "", &o.dataset},
        {.name = "baseline",
         .help = "intensity: a logistic model on the mean of each channel, fitted on the training part; default: none",
         .value = [&o](const std::string& text) { set_baseline(o, text); },
         .choices = {"none", "threshold", "intensity"}},
        irregular_setting(o.irregular),
        series_setting(o.best_series),
        {"png", "Picture to write: confusion and calibration of the classes", "", &o.png}};
  }

  std::vector<std::string> demo_kinds() const override { return {"digits", kMotion}; }
  DemoReport demo(const DemoOptions& options, int scale, Progress& progress) const override {
    return options.kind == kMotion ? demo_motions(options, scale, progress) : demo_digits(options, scale, progress);
  }

  bool info(const fs::path& path, const InfoOptions& options, InfoReport& report) const override {
    InfoSection& sets = report.set("class_sets");
    const ClassParts parts = find_class_parts(path, recognised_kinds(kinds_));
    if (!parts.any()) return false;
    // Volumes beside folders with volumes are more likely scans and their masks than classes.
    if (parts.whole && holds_volume_files(path, options.formats)) return false;
    const ClassSetInfo info = read_class_info(path, options.formats, recognised_kinds(kinds_));
    sets.add(info);
    report.failures.insert(report.failures.end(), info.failures.begin(), info.failures.end());
    const auto kind =
        std::ranges::find(kinds_, info.parts.front().kind, [](const ClassKind& k) { return std::string(k.name); });
    if (!report.next.empty() || !(parts.train || parts.whole)) return true;
    const bool has_usual = kind != kinds_.end() && kind->usual_model != nullptr;
    report.next = {"train",
                   path.string(),
                   "{output}",
                   "run",
                   "{model}",
                   has_usual                        ? kind->usual_model
                   : info.items == ItemKind::kImage ? "resnet18"
                   : info.items == ItemKind::kClip  ? "r2plus1d18"
                                                    : "resnet3d18",
                   "{batch}",
                   has_usual ? kind->usual_batch : "8"};
    if (has_usual) add_size(report.next, kind->usual_model, info);
    return true;
  }

  std::unique_ptr<TrainingTask> training(const TrainingData& data, const TaskOptions& options,
                                         const ModelSpec& spec) const override {
    ClassTaskOptions o = options.of<ClassTaskOptions>();
    o.data = data.data, o.seed = data.seed, o.threads = data.threads, o.memory_bytes = data.memory_bytes;
    o.stop = data.stop, o.kept = data.kept, o.kinds = kinds_;
    if (!(o.window_hu[0] < o.window_hu[1]))
      throw Error(ErrorKind::kUsage, "[usage] {window} should be LOW,HIGH with LOW < HIGH, like -160,240");
    require_scales(o.augmentation, 0.25, 4);
    return class_task(o, spec);
  }

  bool averages() const override { return true; }

  PredictReport predict(const PredictOptions& options, TrainedRun run, const RunContext& context) const override {
    ClassPredictionOptions own = options.task.of<ClassPredictionOptions>();
    own.volume_limits.memory_bytes = context.left_bytes();
    own.kinds = kinds_;
    return predict_classes(options, own, std::move(run), context);
  }

  void golden_input(const TrainedRun& run, const fs::path& folder) const override {
    write_golden_item(class_preparations_of(run).front(), folder);
  }
  AnswerDifference answer_difference(const fs::path& reference, const fs::path& found, DType precision) const override {
    return classes_difference(reference, found, precision);
  }

  bool predicted(const fs::path& predictions) const override {
    std::error_code error;
    return predictions.extension() == ".json" && fs::is_regular_file(predictions, error) &&
           class_predictions_file().is_ours(predictions);
  }

  TaskReport evaluate(const EvaluateOptions& options, const RunContext& context) const override {
    EvaluateClassesOptions o = options.task.of<EvaluateClassesOptions>();
    o.predictions = options.predictions, o.references = options.references, o.summary = options.summary;
    o.threads = context.threads(), o.seen = options.seen, o.kinds = kinds_, o.metrics = metrics_;
    o.formats = with_irregular(o.formats, o.irregular);
    o.formats.limits.memory_bytes = context.left_bytes();
    o.further = options.further;
    ProcessPlan memory = evaluating_classes_plan(o.predictions, o.references, kinds_);
    for (const fs::path& further : o.further) memory += {{MemoryPart::kReading, planned_bytes(json_bytes(further))}};
    if (!o.png.empty()) memory += codecs_plan();
    require_fits(base_plan(context.base_bytes()) + memory, context.budget_bytes(), ErrorKind::kBudget,
                 "counting " + o.predictions.filename().string(), "Score fewer items at a time");
    const ClassReport report = evaluate_classes(o, context.progress());
    memory += confusion_plan(std::ssize(report.classes));
    if (report.intensities) memory += report.intensities->memory;
    TaskReport result{.json = to_json(report),
                      .text = to_text(report) + missed_text_of(report),
                      .partial = is_partial(report),
                      .memory = memory};
    result.scores = scores_of(report), result.cases = report.names;
    if (o.png.empty())
      result.next = {"evaluate", o.predictions.string(), o.references.string(), "{png}",
                     (o.summary.parent_path() / "confusion.png").string()};
    return result;
  }

  TaskReport evaluate_run(const EvaluateOptions& options, TrainedRun run, const RunContext& context) const override {
    const auto& own = options.task.of<EvaluateClassesOptions>();
    EvaluateItemsOptions o{.data = options.references,
                           .most_pixels = own.most_pixels,
                           .formats = with_irregular(own.formats, own.irregular),
                           .kinds = kinds_,
                           .best_series = own.best_series};
    o.formats.limits.memory_bytes = context.left_bytes();
    require_settings_of_run(options, {"most-pixels", "irregular-slices", "series"}, "classes");
    const auto evaluation = evaluate_items(o, run, context);
    return report_run_scores(options, std::move(run), context, *evaluation);
  }

  /// Records are files of u8 pixels, decoded at the rate of unpacking; f32 pixels and an i32 label are sent to the
  /// cores.
  RecordFormat records() const override { return {.image_bytes = 4, .one_hot = false, .unpacked_image_bytes = 1}; }

 private:
  ClassKinds kinds_;
  ClassMetrics metrics_;
};

}  // namespace

std::shared_ptr<const Task> classification(const ClassKinds& kinds, const ClassMetrics& metrics) {
  return std::make_shared<ClassificationRow>(kinds, metrics);
}

}  // namespace voxshard
