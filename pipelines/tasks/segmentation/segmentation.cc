#include "pipelines/tasks/segmentation/segmentation.h"

#include <algorithm>

#include "io/files/channel_address.h"
#include "io/files/file_name.h"
#include "io/output/output_folder.h"
#include "libcore/base/text.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/channel_grids.h"
#include "pipelines/tasks/first_training.h"
#include "pipelines/tasks/header_info.h"
#include "pipelines/tasks/irregular_slices.h"
#include "pipelines/tasks/segmentation/checks/check_dataset.h"
#include "pipelines/tasks/segmentation/checks/prepare_checks.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"
#include "pipelines/tasks/segmentation/dataset_info.h"
#include "pipelines/tasks/segmentation/demo_volumes.h"
#include "pipelines/tasks/segmentation/evaluate_run.h"
#include "pipelines/tasks/segmentation/golden_volumes.h"
#include "pipelines/tasks/segmentation/inputs/volume_reading.h"
#include "pipelines/tasks/segmentation/predict_volumes.h"
#include "pipelines/tasks/segmentation/prediction_sheet.h"
#include "pipelines/tasks/segmentation/prepared_info.h"
#include "pipelines/tasks/segmentation/scores/evaluation_rehearsal.h"
#include "pipelines/tasks/segmentation/scores/missed_labels.h"
#include "pipelines/tasks/segmentation/volume_settings.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

const std::set<std::string> kOfRun = {"fold", "crop"};  // the other settings are for label maps

/// Sets the baseline. Errors: kUsage for a baseline that only classification has.
void set_baseline(EvaluateLabelsOptions& o, const std::string& text) {
  o.threshold_baseline = text == "threshold";
  if (text == "intensity")
    throw Error(ErrorKind::kUsage, "[evaluate] {baseline} intensity is of classes; of label maps there is threshold");
}

std::vector<Setting> evaluation_settings(EvaluateLabelsOptions& o, EvaluateRunOptions& of_run) {
  const std::string run = "Evaluation of a run";
  std::vector<Setting> settings = {
      {"fold", "Whose held-out cases are evaluated, or all: every case of the data", run, &of_run.fold},
      {"crop", "D x H x W around the centre of each volume, or whole; default: whole", run,
       [&of_run](const std::string& text) { of_run.crop = crop_from_text(text, 3); }},
      {"dataset",
       "Data set folder: class names, the classes annotated in each case, and images for {baseline} and {png}; or the "
       "folder that prepare wrote from it: class names, and the classes that count as annotated there",
       "", &o.dataset},
      {"classes",
       "Class map (TOML, JSON or YAML), as of prepare: the references are then a tree of DICOM studies with "
       "segmentations or structure sets",
       "", &o.classes},
      irregular_setting(o.irregular),
      fraction_setting(o.formats.limits),
      {.name = "baseline",
       .help = "What is scored beside it, fitted on the training cases: threshold, the best HU interval of each "
               "class; default: none",
       .value = [&o](const std::string& text) { set_baseline(o, text); },
       .choices = {"none", "threshold", "intensity"}},
      {"png", "Picture to write: slices with prediction (filled) and reference (outlined)", "", &o.png}};
  for (Setting& setting : metric_settings(o)) settings.push_back(std::move(setting));
  return settings;
}

/// Warns of settings for runs when label maps are evaluated: they have no effect there; a training config may hold
/// them.
void warn_of_settings_of_run(const EvaluateOptions& options, Progress& progress) {
  for (const GivenSetting& given : options.task.given)
    if (kOfRun.contains(given.name))
      progress.warn("[evaluate] {" + given.name + "} has no effect: it is for a run, and " +
                    options.predictions.string() + " is none");
}

/// Warns of settings for surfaces when no metric reads them.
void warn_of_settings_of_surfaces(const EvaluateOptions& options, const LabelMetrics& metrics, Progress& progress) {
  if (any_of_surfaces(metrics)) return;
  for (const GivenSetting& given : options.task.given)
    if (given.name == "tolerance-mm" || given.name == "surface-convention")
      progress.warn("[evaluate] {" + given.name +
                    "} has no effect: it is for metrics of surfaces, and {metrics} has none");
}

/// Returns the means by class and over the classes, for comparisons; of classes that were not annotated in every case
/// also those by the usual rule.
std::vector<ClassScore> scores_of(const LabelScores& r) {
  std::vector<ClassScore> scores;
  const LabelMetrics& metrics = r.rules.metrics;
  const auto add = [&](const std::string& scored, const std::vector<double>& means) {
    for (std::size_t m = 0; m < metrics.size(); ++m)
      scores.push_back({scored, metrics[m].shown.key, means[m], metrics[m].shown.digits});
  };
  for (const ClassMean& c : r.classes) add(c.scored.shown_name(), c.means);
  add("", r.means);
  for (const ClassMean& c : r.classes)
    if (c.annotated < r.cases.size()) add(c.scored.shown_name() + ", all cases", c.all_means);
  if (r.partly_annotated) add("mean, all cases", r.all_means);
  return scores;
}

class Segmentation : public Task {
 public:
  explicit Segmentation(const OverlapMetrics& metrics) : metrics_(metrics) {}

  const char* name() const override { return "segmentation"; }
  TaskWords words() const override {
    return {.demo_cases = "12 volumes",
            .demo_test_cases = "4 volumes",
            .training_data =
                "Folder that voxshard prepare wrote, or a data set in nnU-Net's or Decathlon's form, which "
                "is prepared first, with the defaults of prepare, into NAME_prepared beside the run",
            .inputs = "An image, a DICOM file or series, a zip or tar of one, or a folder of such",
            .outputs = "Folder to write label maps to",
            .predicted = "predictions",
            .predictions = "Folder of predicted label maps, or one",
            .references =
                "Folder of reference label maps with the same file names, or one; with a class map a tree "
                "of DICOM studies",
            .run_data = "of volumes the folder that voxshard prepare wrote",
            .scores = "summary.json to write, in nnU-Net's form",
            .data_sets = "nnU-Net, Decathlon"};
  }
  bool learns(const ModelSpec& spec) const override { return spec.model->data == kVoxelLabels; }

  std::vector<Setting> settings(TaskCommand command, TaskOptions& options) const override {
    if (command == TaskCommand::kPrepare) return prepare_settings(options.of<PrepareOptions>());
    if (command == TaskCommand::kCheck) return check_settings(options.of<CheckReading>());
    if (command == TaskCommand::kPredict) return prediction_settings(options.of<VolumeReading>());
    if (command == TaskCommand::kTrain) return training_settings(options.of<VolumeTaskOptions>());
    if (command == TaskCommand::kEvaluate)
      return evaluation_settings(options.of<EvaluateLabelsOptions>(), options.of<EvaluateRunOptions>());
    return {};
  }

  DemoReport demo(const DemoOptions& options, int scale, Progress& progress) const override {
    return demo_volumes(options, scale, progress);
  }

  bool info(const fs::path& path, const InfoOptions& options, InfoReport& report) const override {
    std::error_code error;
    if (add_prepared_info(path, report)) return true;
    if (!fs::is_directory(path, error) || !(fs::exists(path / "dataset.json") || fs::is_empty(path, error) ||
                                            holds_masks_by_subject(path)))  // which is refused with what to do
      return false;
    const Dataset set = read_any_dataset(path);
    FolderInfo folder{.path = path};
    describe_dataset(set, folder);
    for (const auto& p : set.problems) report.failures.push_back({p.id, p.code, p.reason});
    add_volumes(folder, images_of(set), options, report.failures);
    report.folders.add(folder);
    if (report.next.empty() && !set.training.empty()) report.next = {"prepare", path.string(), "{output}", "work"};
    return true;
  }

  bool checks() const override { return true; }

  TaskReport check(const CheckRequest& request, const RunContext& context) const override {
    CheckDatasetOptions o{
        .dataset = request.dataset, .deep = request.deep, .output = request.output, .csv = request.csv};
    const auto& reading = request.task.of<CheckReading>();
    o.source = reading.source, o.source.folder = request.dataset, o.resamples_channels = reading.resamples_channels;
    o.formats = formats_within(with_irregular(o.formats, reading.irregular), reading.limits, context.left_bytes());
    const CheckReport report = check_dataset(o, context);
    TaskReport result{
        .json = to_json(report), .text = to_text(report), .partial = !report.findings.empty(), .memory = report.memory};
    if (!o.deep) {
      result.next = words_of(o.source);
      result.next.insert(result.next.begin(), "check"), result.next.emplace_back("{deep}");
      add_reading_words(result.next, reading.irregular, reading.resamples_channels);
    }
    return result;
  }

  bool prepares() const override { return true; }

  /// True for nnU-Net's and Decathlon's folders; what else prepare takes needs more than its defaults.
  bool is_unprepared(const fs::path& data) const override {
    std::error_code error;
    return fs::exists(data / "dataset.json", error) && fs::is_directory(data / "imagesTr", error);
  }

  TaskReport prepare(const PrepareRequest& request, const RunContext& context) const override {
    PrepareOptions o = request.task.of<PrepareOptions>();
    o.dataset = request.dataset, o.work = request.work;
    o.seed = request.seed, o.resume = request.resume;
    o.formats = with_irregular(o.formats, o.irregular);
    const auto& given = request.task.given;
    const bool oriented =
        std::any_of(given.begin(), given.end(), [](const GivenSetting& one) { return one.name == "orientation"; });
    if (o.convention == Convention::kNnunet && !oriented) o.orientation = "keep";  // nnU-Net does not reorient
    o.formats = formats_within(o.formats, o.formats.limits, context.left_bytes());
    o.dry_run = request.dry_run, o.judge = odd_volumes;
    o.headers = [resamples = o.resamples_channels](const Case& item, const VolumeFormats& formats) {
      return header_failures(item, formats, resamples);
    };
    PrepareReport report = prepare_dataset(o, context);
    DatasetSource source = o.source;
    source.folder = o.dataset;
    report.check = words_of(source);
    add_reading_words(report.check, o.irregular, o.resamples_channels);
    const std::int64_t cases = report.prepared + report.skipped;
    const FirstTraining first =
        first_training({"train", o.work.string(), "{output}", "run"},
                       first_unet({.threads = context.threads(), .cases = cases, .voxels = report.voxels}));
    return {.json = to_json(report),
            .text = to_text(report),
            .partial = !report.failures.empty(),
            .interrupted = report.interrupted,
            .next = o.dry_run ? std::vector<std::string>() : first.words,
            .note = report.interrupted || o.dry_run ? "" : first.note,
            .memory = report.memory};
  }

  std::unique_ptr<TrainingTask> training(const TrainingData& data, const TaskOptions& options,
                                         const ModelSpec&) const override {
    VolumeTaskOptions o = options.of<VolumeTaskOptions>();
    o.work = data.data, o.sampling.seed = data.seed, o.kept = data.kept, o.accepts_changes = data.accepts_changes;
    o.metrics = metrics_;
    require_pad_multiple(o.sampling.pad_multiple);
    return volume_task(o);
  }

  bool averages() const override { return true; }

  PredictReport predict(const PredictOptions& options, TrainedRun run, const RunContext& context) const override {
    PredictOptions o = options;
    const auto& reading = options.task.of<VolumeReading>();
    o.formats = formats_within(with_irregular(o.formats, reading.irregular), reading.limits, context.budget_bytes());
    return predict_volumes(o, std::move(run), context);
  }

  void golden_input(const TrainedRun& run, const fs::path& folder) const override { write_golden_volumes(run, folder); }
  std::string answer_hash(const fs::path& file) const override { return label_map_hash(file); }
  AnswerDifference answer_difference(const fs::path& reference, const fs::path& found, DType precision) const override {
    return label_map_difference(reference, found, precision);
  }

  bool predicted(const fs::path& predictions) const override {
    return fs::is_directory(predictions) || volume_stem(predictions).has_value();
  }

  TaskReport evaluate(const EvaluateOptions& options, const RunContext& context) const override {
    warn_of_settings_of_run(options, context.progress());
    EvaluateLabelsOptions o = options.task.of<EvaluateLabelsOptions>();
    o.predictions = options.predictions, o.references = options.references;
    o.summary = options.summary, o.seen = options.seen, o.further = options.further;
    o.metrics = metrics_;
    warn_of_settings_of_surfaces(options, chosen_metrics(o.metric_keys, metrics_), context.progress());
    o.formats = formats_within(with_irregular(o.formats, o.irregular), o.formats.limits, context.left_bytes());
    if (options.dry_run) return rehearse_evaluation(o, context);
    const LabelScores scores = evaluate_labels(o, context);
    TaskReport report{.json = to_json(scores),
                      .text = to_text(scores) + missed_labels_text(scores),
                      .partial = !scores.failures.empty(),
                      .memory = scores.memory};
    report.scores = scores_of(scores);
    for (const EvaluatedCase& one : scores.cases) report.cases.push_back(one.id);
    if (o.png.empty() && !o.dataset.empty() && !is_prepared(o.dataset))  // the next step is an image of slices
      report.next = {"evaluate",
                     o.predictions.string(),
                     o.references.string(),
                     "{dataset}",
                     o.dataset.string(),
                     "{png}",
                     (o.summary.parent_path() / "slices.png").string()};
    return report;
  }

  TaskReport contact_sheet(const SheetRequest& request, Progress& progress) const override {
    return prediction_sheet(request, progress);
  }
  bool shares_evaluation() const override { return true; }
  bool rehearses_evaluation() const override { return true; }
  TaskReport evaluate_run(const EvaluateOptions& options, TrainedRun run, const RunContext& context) const override {
    require_settings_of_run(options, kOfRun, "label maps");
    EvaluateRunOptions o = options.task.of<EvaluateRunOptions>();
    o.work = options.references;
    const auto evaluation = evaluate_volumes(o, run, context.progress());
    return report_run_scores(options, std::move(run), context, *evaluation);
  }

  /// Records are gzip files of an f32 image and an f32 one-hot label, which are sent to the cores unchanged.
  /// Source: tensorflow/tpu, models/official/unet3d/input_reader.py.
  RecordFormat records() const override { return {.image_bytes = 4, .one_hot = true, .unpacked_image_bytes = 4}; }

 private:
  OverlapMetrics metrics_;
};

}  // namespace

std::shared_ptr<const Task> segmentation(const OverlapMetrics& metrics) {
  return std::make_shared<Segmentation>(metrics);
}

}  // namespace voxshard
