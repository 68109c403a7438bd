#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "io/datasets/class_names.h"
#include "io/datasets/dataset.h"
#include "io/files/file_name.h"
#include "io/image/sheet_file.h"
#include "io/output/folder_lock.h"
#include "io/output/output_file.h"
#include "libcore/base/error.h"
#include "pipelines/engine/case_pass.h"
#include "pipelines/engine/none_left.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/segmentation/dataset/case_memory.h"
#include "pipelines/tasks/segmentation/dataset/dataset_source.h"
#include "pipelines/tasks/segmentation/dataset/hiding_paths.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"
#include "pipelines/tasks/segmentation/labels/byte_labels.h"
#include "pipelines/tasks/segmentation/scores/evaluated_set.h"
#include "pipelines/tasks/segmentation/scores/label_means.h"
#include "pipelines/tasks/segmentation/scores/label_outputs.h"
#include "pipelines/tasks/segmentation/scores/label_pairs.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Returns the classes of an evaluation without a data set: from the dataset.json beside the references, as nnU-Net's
/// folders have it, else from the file that `predict` left beside its label maps; none when no file names them. A file
/// that cannot be used is reported, and the next one counts.
///   references   a folder of label maps, or one
///   predictions  folders of label maps, or one
NamedClasses classes_beside(const fs::path& references, const std::vector<fs::path>& predictions, Progress& progress) {
  std::error_code error;
  const auto folder_of = [&](const fs::path& path) {
    const fs::path whole = (fs::absolute(path) / "").lexically_normal().parent_path();
    return fs::is_directory(path, error) ? whole : whole.parent_path();
  };
  std::vector<fs::path> files = {folder_of(references).parent_path() / "dataset.json",
                                 folder_of(references) / "dataset.json"};
  for (const fs::path& one : predictions) files.push_back(folder_of(one) / kClassNamesFile);
  for (const fs::path& file : files) {
    if (!fs::is_regular_file(file, error)) continue;
    try {
      return read_named_classes(file);
    } catch (const Error& e) {
      progress.warn(std::string("names of classes are not taken: ") + e.what());
    }
  }
  return {};
}

int highest_label(const Tensor& label, std::optional<int> ignored = std::nullopt) {
  const auto* v = label.as<std::int32_t>();
  int highest = 0;
  for (std::int64_t i = 0; i < label.count(); ++i)
    if (v[i] > highest && v[i] != ignored) highest = v[i];
  return highest;
}

std::vector<std::string> ids_of(const auto& cases) {
  std::vector<std::string> ids;
  for (const auto& item : cases) ids.push_back(item.id);
  return ids;
}

/// Returns the number of classes when there is no data set: one more than the highest label of any reference.
int classes_in(const std::vector<LabelPair>& pairs, std::optional<int> ignored, const VolumeFormats& formats,
               const RunContext& context, MemoryGate& gate) {
  std::vector<int> highest(pairs.size(), 0);
  const auto plan = [&](std::int64_t i) { return evaluating_case_plan({.reference = pairs[i].reference}, formats); };
  CasePass pass("classes", ids_of(pairs), context, gate,
                nullptr);  // an unreadable reference is reported when it is scored
  pass.run({.need = plan,
            .body =
                [&](std::int64_t i) {
                  const auto at = static_cast<std::size_t>(i);
                  const int label = highest_label(read_label(pairs[at].reference, formats).voxels, ignored);
                  if (label <= kHighestLabel) highest[at] = label;  // else the case is refused when it is scored
                },
            .value = [&](std::int64_t i) { return Json(highest[i]); },
            .take = [&](std::int64_t i, const Json& value) { value.get_to(highest[i]); },
            .size = [&](std::int64_t i) { return plan(i).total(); }});
  if (pass.stopped()) throw Stopped();
  return std::max(2, *std::max_element(highest.begin(), highest.end()) + 1);
}

/// Fits the best threshold of each class. The counts are integers, so the sums do not depend on the division of the
/// cases.
std::vector<ThresholdInterval> fit_thresholds(const Dataset& dataset, const VolumeFormats& formats,
                                              const RunContext& context, MemoryGate& gate) {
  const int classes = static_cast<int>(dataset.label_names.size());
  ThresholdFit fit(classes, dataset.ignore_label.value_or(-1));
  std::mutex adding;
  const auto plan = [&](std::int64_t i) { return reading_case_plan(dataset.training[i], formats); };
  CasePass pass("threshold baseline", ids_of(dataset.training), context, gate, nullptr);
  pass.run({.need = plan,
            .body =
                [&](std::int64_t i) {
                  SourceCase source = read_source_case(dataset.training[i], classes, formats, dataset.ignore_label);
                  source.label.voxels = labels_as_i32(std::move(source.label.voxels));
                  const std::scoped_lock lock(adding);
                  fit.add(source.image.voxels, source.label.voxels, dataset.training[i].annotated);
                },
            .size = [&](std::int64_t i) { return plan(i).total(); }});
  if (pass.stopped()) throw Stopped();
  for (const auto& f : pass.failures())
    context.progress().log("threshold baseline leaves out case " + f.id + ": " + f.message);
  join(fit, context);
  return fit.solve();
}

/// Returns the bytes of the scores of all cases, which outlive their volumes: as maps by both rules, again as they are
/// copied for summary.json, and as its text. What is less than a MiB does not count.
std::int64_t scores_bytes(std::size_t cases, std::size_t scored, std::size_t metrics) {
  constexpr std::int64_t kClass = 160, kScore = 96, kTextOfClass = 400, kTextOfScore = 48, kFree = 1 << 20;
  const auto numbers = static_cast<std::int64_t>(cases) * static_cast<std::int64_t>(scored);
  const auto each = static_cast<std::int64_t>(metrics);
  const std::int64_t bytes = numbers * (3 * (kClass + each * kScore) + kTextOfClass + each * kTextOfScore);
  return bytes < kFree ? 0 : bytes;
}

/// A case whose files may be named.
const Case kNamed{.id = {}, .images = {}, .label = {}};

/// Scores one case by its annotated classes.
EvaluatedCase evaluate_case(const LabelPair& pair, ScoredLabels labels,
                            const std::vector<ThresholdInterval>& thresholds, const ScoringRules& rules,
                            const VolumeFormats& formats) {
  require_both(pair);
  std::vector<std::string> notes;
  const Volume reference = read_reference(pair, formats, notes), prediction = read_label(pair.prediction, formats);
  require_same_grid(reference.geometry, prediction.geometry, pair.prediction.filename().string());
  if (const int highest = highest_label(reference.voxels); highest > kHighestLabel)
    throw Error(ErrorKind::kInput, "E_LABELS",
                "[" + pair.id + "] " + pair.shown_reference() + " has the label " + std::to_string(highest) +
                    ", beyond " + std::to_string(kHighestLabel) + "; is it the image?");
  labels.annotated = pair.annotated;
  EvaluatedCase result{.id = pair.id,
                       .scores = {pair.prediction, pair.listed_reference(), {}},
                       .baseline_dice = {},
                       .notes = std::move(notes)};
  result.scores.classes = score_classes(prediction, reference, labels, rules);
  if (labels.annotated) {
    ScoredLabels all = labels;
    all.annotated.reset();
    result.all_classes = score_classes(prediction, reference, all, rules);
  }
  if (thresholds.empty()) return result;
  const Volume image = read_image(pair.image, formats);
  require_same_grid(image.geometry, reference.geometry, pair.shown_reference());
  result.baseline_dice.assign(labels.classes, std::nan(""));
  for (const ScoredClass& one : labels.scored) {
    if (one.is_region || !one.is_annotated(labels.annotated)) continue;
    const int c = one.id;
    const Tensor mask = threshold_mask(image.voxels, thresholds[c], c);
    result.baseline_dice[c] =
        dice(count_classes(mask.view(), reference.voxels.view(), labels.classes, labels.ignored)[c]);
  }
  return result;
}

}  // namespace

LabelScores evaluate_labels(const EvaluateLabelsOptions& options, const RunContext& context) {
  if (options.dataset.empty() && (options.threshold_baseline || (!options.png.empty() && options.classes.empty())))
    throw Error(ErrorKind::kUsage, "[evaluate] {baseline} and {png} need the images: give {dataset} FOLDER");
  const ScoringRules rules{.metrics = chosen_metrics(options.metric_keys, options.metrics),
                           .surface = options.surface,
                           .empty = options.empty};
  std::vector<fs::path> inputs = {options.predictions, options.references, options.dataset};
  inputs.insert(inputs.end(), options.further.begin(), options.further.end());
  require_output_file(options.summary, summary_file(), {.inputs = inputs});
  require_output_file(options.png, sheet_file(), {.inputs = inputs, .option = "{png}"});
  std::vector<FolderLock> reading;
  if (fs::is_directory(options.predictions)) reading.push_back(FolderLock::reading(options.predictions));
  for (const fs::path& further : options.further) reading.push_back(FolderLock::reading(further));
  EvaluatedSet evaluated = read_evaluated(options, context);
  const std::optional<Dataset>& dataset = evaluated.dataset;
  std::vector<LabelPair>& pairs = evaluated.pairs;
  if (dataset && dataset->channels.size() > 1 && (options.threshold_baseline || !options.png.empty()))
    context.progress().log("of the " + std::to_string(dataset->channels.size()) + " channels the first, " +
                           shown_name(dataset->channels.front()) + ", is used for {baseline} and {png}");
  if (options.threshold_baseline && !dataset->regions.empty())
    throw Error(ErrorKind::kUsage, "[evaluate] {baseline} threshold is of classes, and " + options.dataset.string() +
                                       " is scored by its regions; leave {baseline} out");
  MemoryGate gate(options.formats.limits.memory_bytes);
  std::vector<fs::path> predictions = options.further;
  predictions.insert(predictions.begin(), options.predictions);
  const NamedClasses named = dataset ? NamedClasses{dataset->label_names, dataset->ignore_label, dataset->regions}
                                     : classes_beside(options.references, predictions, context.progress());
  const int of_names = static_cast<int>(named.names.size()),
            classes = dataset
                          ? of_names
                          : std::max(of_names, classes_in(pairs, named.ignore_label, options.formats, context, gate));
  const ScoredLabels labels{.classes = classes,
                            .ignored = named.ignore_label.value_or(-1),
                            .scored = scored_classes({.classes = classes,
                                                      .names = named.names,
                                                      .regions = named.regions,
                                                      .asked = options.regions,
                                                      .has_dataset = dataset.has_value()})};
  LabelScores report{.rules = rules, .states_rules = options.states_rules(), .scored = labels.scored};
  if (options.threshold_baseline) report.thresholds = fit_thresholds(*dataset, options.formats, context, gate);
  std::vector<EvaluatedCase> scored(pairs.size());
  const ProcessPlan results = {
      {MemoryPart::kResults, scores_bytes(pairs.size(), labels.scored.size(), rules.metrics.size())}};
  require_fits(results, options.formats.limits.memory_bytes, ErrorKind::kBudget, "the scores of all cases",
               "Score fewer cases, classes or metrics at a time");
  VolumeFormats formats = options.formats;
  if (formats.limits.memory_bytes > 0) formats.limits.memory_bytes -= results.total();
  MemoryGate scoring(formats.limits.memory_bytes);
  const auto plan = [&](std::int64_t i) {
    const LabelPair& pair = pairs[i];
    return evaluating_case_plan(pair.files(options.threshold_baseline, any_of_surfaces(rules.metrics)), formats);
  };
  CasePass pass("evaluate", ids_of(pairs), context, scoring, "");
  const auto good =
      pass.run({.need = plan,
                .body =
                    [&](std::int64_t i) {
                      const auto at = static_cast<std::size_t>(i);
                      require_utf8_name(pairs[at].id);
                      scored[at] = hiding_paths(pairs[at].drawn.value_or(kNamed), [&] {
                        return evaluate_case(pairs[at], labels, report.thresholds, rules, formats);
                      });
                    },
                .value =
                    [&](std::int64_t i) {
                      const EvaluatedCase& one = scored[i];
                      return Json{{"classes", class_scores_message(one.scores.classes, rules.metrics)},
                                  {"all_classes", class_scores_message(one.all_classes, rules.metrics)},
                                  {"baseline", one.baseline_dice},
                                  {"notes", one.notes}};
                    },
                .take =
                    [&](std::int64_t i, const Json& value) {
                      const auto at = static_cast<std::size_t>(i);
                      scored[at] = {.id = pairs[at].id,
                                    .scores = {pairs[at].prediction, pairs[at].listed_reference(),
                                               class_scores_of(value.at("classes"), rules.metrics)},
                                    .all_classes = class_scores_of(value.at("all_classes"), rules.metrics),
                                    .baseline_dice = value.at("baseline").get<std::vector<double>>(),
                                    .notes = value.at("notes").get<std::vector<std::string>>()};
                    },
                .size = [&](std::int64_t i) { return plan(i).total(); }});
  if (pass.stopped()) throw Stopped();
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (good[i]) {
      for (const std::string& note : scored[i].notes) context.progress().warn("case " + scored[i].id + ": " + note);
      report.cases.push_back(std::move(scored[i]));
    }
  report.failures = pass.failures();
  report.seen = seen_among(options.seen, ids_of(report.cases));
  if (report.cases.empty())
    throw Error(kind_of_none(report.failures), "[evaluate] none of the " + std::to_string(pairs.size()) +
                                                   " references could be scored; " + "the first: case " +
                                                   report.failures[0].id + ": " + report.failures[0].message);
  add_means(report);
  if (context.writes()) write_label_outputs(options, pairs, report, named.names, gate);
  report.memory = widest(gate.widest(), scoring.widest() + results);
  return report;
}

}  // namespace voxshard
