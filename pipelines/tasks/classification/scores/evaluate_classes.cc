#include "pipelines/tasks/classification/scores/evaluate_classes.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "io/image/class_plots.h"
#include "io/image/sheet_file.h"
#include "io/output/output_folder.h"
#include "libcore/base/text.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/classification/dataset/class_clips.h"
#include "pipelines/tasks/classification/dataset/class_memory.h"
#include "pipelines/tasks/classification/samples/class_statistics.h"
#include "pipelines/tasks/classification/samples/sample_memory.h"
#include "pipelines/tasks/classification/scores/class_predictions.h"
#include "pipelines/tasks/classification/scores/intensity_baseline.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the mean of the finite values; NaN when there is none.
double mean_of(const std::vector<double>& values) {
  double sum = 0;
  std::int64_t count = 0;
  for (const double v : values)
    if (std::isfinite(v)) sum += v, ++count;
  return count > 0 ? sum / static_cast<double>(count) : std::nan("");
}

/// Returns the mean recall of all classes that have an item.
double mean_recall_of(const Classified& items) {
  std::vector<double> recalls;
  for (const RecallAndPrecision& s : class_scores(confusion_matrix(items), items.classes)) recalls.push_back(s.recall);
  return mean_of(recalls);
}

std::vector<std::int64_t> labels_of(const ClassDataset& set) {
  std::vector<std::int64_t> labels;
  for (const ClassItem& item : set.items) labels.push_back(item.label);
  return labels;
}

/// Returns the names of the scored items, for clips those of their videos.
std::vector<std::string> names_scored(const ClassDataset& truth) {
  std::set<std::string> names;
  for (const ClassItem& item : truth.items) names.insert(video_of(item));
  return {names.begin(), names.end()};
}

/// Reads the predictions of all files as one set. Errors: kInput for files of other classes or clips.
ClassPredictions read_predictions(const EvaluateClassesOptions& options) {
  ClassPredictions all = read_class_predictions(options.predictions);
  for (const std::filesystem::path& file : options.further) {
    ClassPredictions more = read_class_predictions(file);
    if (more.classes != all.classes || more.items != all.items || more.clip_length != all.clip_length ||
        more.clip_stride != all.clip_stride)
      throw input_error(file, "has other classes or clips than " + options.predictions.string(),
                        "give predictions of runs with the same settings, or each alone");
    all.trained_on += more.trained_on;
    std::ranges::move(more.rows, std::back_inserter(all.rows));
    std::ranges::move(more.failures, std::back_inserter(all.failures));
  }
  return all;
}

/// Fits the intensity baseline on the training part and scores it on the items of `scored`.
IntensityScores intensity_scores(const EvaluateClassesOptions& o, const ClassReading& reading, ClassDataset scored,
                                 const Progress& progress) {
  const std::filesystem::path& data = o.dataset.empty() ? o.references : o.dataset;
  const auto part = find_class_parts(data, o.kinds).train;
  if (!part)
    throw Error(ErrorKind::kUsage, "[evaluate] {baseline} intensity learns from a training part, which " +
                                       data.string() + " does not have; name the data set that has one with {dataset}");
  ClassDataset train = read_class_part(*part, reading, &scored.classes);
  const ClassPreparation preparation{
      .items = reading.items,
      .clip_length = reading.clip_length,
      .clip_stride = reading.clip_stride,
      .channels = reading.items == ItemKind::kVolume ? 1 : choose_colour(train, "auto").channels};
  const std::int64_t limit = o.formats.limits.memory_bytes;
  const auto looked_at = [&](ClassDataset& set, const ClassDataset& other) {
    return look_at_items(set, preparation, reading,
                         {.threads = o.threads,
                          .memory_bytes = left_of(limit, held_plan(other).total()),
                          .stop = progress.stop_check()});
  };
  const ItemSums seen = looked_at(train, scored);
  scored.failures.clear();  // reported already
  const ItemSums asked = looked_at(scored, train);
  LogisticFit fit{.features = mean_intensities(seen), .labels = labels_of(train), .classes = std::ssize(train.classes)};
  IntensityScores scores{.trained = std::ssize(train.items),
                         .asked = std::ssize(scored.items),
                         .failures = scored.failures,
                         .training_failures = train.failures,
                         .memory = widest(seen.plan + held_plan(scored), asked.plan + held_plan(train))};
  for (const bool balanced : {false, true}) {
    fit.balanced = balanced;
    Classified guessed = fitted_logistic(fit, mean_intensities(asked));
    guessed.truth = labels_of(scored);
    (balanced ? scores.balanced_accuracy : scores.accuracy) = accuracy(guessed);
    if (balanced) scores.mean_recall = mean_recall_of(guessed);
  }
  return scores;
}

/// Returns the items that have a prediction and a label, in the order of the references; removes the others from
/// `truth`.
Classified matched(const ClassPredictions& found, ClassDataset& truth, std::vector<CaseFailure>& failures) {
  std::map<std::string, const ClassPrediction*> rows;
  for (const ClassPrediction& row : found.rows) rows[row.file] = &row;
  Classified items{.classes = std::ssize(found.classes)};
  std::erase_if(truth.items, [&](const ClassItem& item) {
    const auto it = rows.find(item.name);
    if (it == rows.end()) {
      failures.push_back({item.name, "E_MISSING", "has no prediction; predict it, or leave it out of the references"});
      return true;
    }
    items.truth.push_back(item.label);
    items.probabilities.insert(items.probabilities.end(), it->second->probabilities.begin(),
                               it->second->probabilities.end());
    rows.erase(it);
    return false;
  });
  for (const CaseFailure& failure : truth.failures) rows.erase(failure.id);  // reported already
  for (const auto& [name, row] : rows)
    failures.push_back({name, "E_MISSING", "is predicted, but the references do not have it"});
  return items;
}

void log_failures(const std::vector<CaseFailure>& failures, Progress& progress) {
  constexpr std::size_t kMostLines = 20;
  for (std::size_t i = 0; i < std::min(kMostLines, failures.size()); ++i)
    progress.warn(shown_name(failures[i].id) + ": " + failures[i].code + " " + failures[i].message);
  if (failures.size() > kMostLines)
    progress.warn("... and " + std::to_string(failures.size() - kMostLines) + " more left out");
}

Tensor image_of(const ClassReport& r) {
  ClassPlots plots{.classes = r.classes,
                   .confusion = r.confusion,
                   .title = "accuracy " + fixed_text(r.accuracy) + " of " + std::to_string(r.items),
                   .note = "expected calibration error " + fixed_text(r.calibration.expected_error)};
  for (const CalibrationBin& bin : r.calibration.bins)
    plots.bars.push_back({bin.low, bin.high, static_cast<double>(bin.items) / static_cast<double>(r.items),
                          bin.confidence, bin.accuracy});
  return class_plots(plots);
}

}  // namespace

ClassReport evaluate_classes(const EvaluateClassesOptions& options, Progress& progress) {
  std::vector<std::filesystem::path> inputs = {options.predictions, options.references};
  inputs.insert(inputs.end(), options.further.begin(), options.further.end());
  require_output_file(options.summary, {"scores of voxshard evaluate", {".json"}, begins_with({R"({"accuracy":)"})},
                      {.inputs = inputs});
  require_output_file(options.png, sheet_file(), {.inputs = inputs, .option = "{png}"});
  const ClassPredictions found = read_predictions(options);
  require_fits(evaluating_classes_plan(options.predictions, options.references, options.kinds) +
                   confusion_plan(std::ssize(found.classes)),
               options.formats.limits.memory_bytes, ErrorKind::kBudget, options.predictions.string(),
               "Its classes are counted in pairs; score fewer at a time");
  const ClassReading reading{.items = found.items,
                             .clip_length = found.clip_length,
                             .clip_stride = found.clip_stride,
                             .most_pixels = options.most_pixels,
                             .formats = options.formats,
                             .kinds = options.kinds,
                             .best_series = options.best_series};
  ClassDataset truth = read_unseen_classes(options.references, reading, &found.classes);
  const std::set<std::string> left_out(options.seen.left_out.begin(), options.seen.left_out.end());
  std::erase_if(truth.items, [&](const ClassItem& item) { return left_out.contains(video_of(item)); });
  ClassReport report{
      .classes = found.classes, .top_k = options.top_k, .metrics = options.metrics, .failures = found.failures};
  report.failures.insert(report.failures.end(), truth.failures.begin(), truth.failures.end());
  const std::size_t known = truth.items.size();
  std::optional<ClipScores> clips;  // over all labels, before items without a prediction are removed
  if (found.items == ItemKind::kClip) clips = score_time_lines(found, truth, options.references, options.kinds);
  const Classified items = found.items == ItemKind::kClip ? matched_clips(found, truth, report.failures)
                                                          : matched(found, truth, report.failures);
  log_failures(report.failures, progress);
  if (items.truth.empty())
    throw Error(ErrorKind::kNoCase, "[evaluate] none of the " + std::to_string(known) + " items of " +
                                        options.references.string() + " is in " + options.predictions.string() +
                                        ", which begins with " +
                                        (found.rows.empty() ? "none" : shown_name(found.rows[0].file)) +
                                        "; give the data set that was predicted");
  report.names = names_scored(truth);
  report.seen = seen_among(options.seen, report.names);
  if (options.intensity_baseline) {
    report.intensities = intensity_scores(options, reading, truth, progress);
    log_failures(report.intensities->failures, progress);
    log_failures(report.intensities->training_failures, progress);
  }
  report.items = items.count();
  report.accuracy = accuracy(items);
  report.top_k_accuracy = top_k_accuracy(items, options.top_k);
  report.confusion = confusion_matrix(items);
  report.scores = class_scores(report.confusion, items.classes);
  report.calibration = calibration(items);
  for (const ClassMetric& metric : report.metrics) {
    std::vector<double>& by_class = report.by_class.emplace_back();
    for (std::size_t c = 0; c < report.scores.size(); ++c) {
      throw_if_stopped(progress);
      by_class.push_back(metric.of({items, static_cast<std::int64_t>(c), report.scores[c]}));
    }
    report.means.push_back(mean_of(by_class));
  }
  std::int64_t commonest = 0;
  for (const RecallAndPrecision& one : report.scores) commonest = std::max(commonest, one.items);
  report.majority_accuracy = static_cast<double>(commonest) / static_cast<double>(report.items);
  report.clips = std::move(clips);
  for (const auto* file : {&options.summary, &options.png})
    if (file->has_parent_path()) make_output_folder(file->parent_path());
  if (!options.summary.empty()) write_json(options.summary, to_json(report));
  if (!options.png.empty()) write_sheet(options.png, image_of(report));
  return report;
}

Json to_json(const ClassReport& r) {
  Json json = {{"accuracy", json_number(r.accuracy)},
               {"top_" + std::to_string(r.top_k), json_number(r.top_k_accuracy)},
               {"majority_accuracy", json_number(r.majority_accuracy)}};
  for (std::size_t m = 0; m < r.metrics.size(); ++m)
    if (r.metrics[m].has_mean) json[std::string("mean_") + r.metrics[m].key] = json_number(r.means[m]);
  json["expected_calibration_error"] = json_number(r.calibration.expected_error);
  json["rule"] =
      "the likeliest class, of equals the first; ROC-AUC of a class against the rest, ties one half; calibration over "
      "15 bins "
      "of equal width; null: no such item";
  json["items"] = r.items;
  if (r.intensities)
    json["intensity_baseline"] = {{"rule",
                                   "logistic model on the mean of each channel, fitted on the training items; "
                                   "mean_recall and balanced_accuracy of the fit in which all classes count alike"},
                                  {"training_items", r.intensities->trained},
                                  {"items", r.intensities->asked},
                                  {"failures", to_json(r.intensities->failures)},
                                  {"training_failures", to_json(r.intensities->training_failures)},
                                  {"accuracy", json_number(r.intensities->accuracy)},
                                  {"mean_recall", json_number(r.intensities->mean_recall)},
                                  {"balanced_accuracy", json_number(r.intensities->balanced_accuracy)}};
  json["classes"] = Json::array();
  for (std::size_t c = 0; c < r.classes.size(); ++c) {
    const RecallAndPrecision& s = r.scores[c];
    json["classes"].push_back({{"name", r.classes[c]}, {"items", s.items}, {"predicted", s.found}});
    for (std::size_t m = 0; m < r.metrics.size(); ++m)
      json["classes"].back()[r.metrics[m].key] = json_number(r.by_class[m][c]);
  }
  json["confusion"] = Json::array();  // a row per true class
  const auto classes = static_cast<std::ptrdiff_t>(r.classes.size());
  for (std::ptrdiff_t c = 0; c < classes; ++c)
    json["confusion"].push_back(
        std::vector<std::int64_t>(r.confusion.begin() + c * classes, r.confusion.begin() + (c + 1) * classes));
  json["calibration"] = Json::array();
  for (const CalibrationBin& bin : r.calibration.bins)
    json["calibration"].push_back({{"above", bin.low},
                                   {"to", bin.high},
                                   {"items", bin.items},
                                   {"confidence", json_number(bin.confidence)},
                                   {"accuracy", json_number(bin.accuracy)}});
  if (r.clips) json.update(to_json(*r.clips, r.classes));
  json["failed"] = r.failures.size();
  json["failures"] = to_json(r.failures);
  if (r.seen.any()) add_counts(json, r.seen);
  return json;
}

namespace {

std::string baseline_text(const ClassReport& r) {
  if (!r.intensities) return "";
  return "logistic model on the mean of each channel: accuracy " + fixed_text(r.intensities->accuracy) +
         "; with all classes counting alike " + fixed_text(r.intensities->balanced_accuracy) + ", mean recall " +
         fixed_text(r.intensities->mean_recall) + " (of " + std::to_string(r.intensities->asked) +
         " items that can be read, trained on " + std::to_string(r.intensities->trained) + ", " +
         std::to_string(r.intensities->training_failures.size()) + " of the training part left out)\n";
}

}  // namespace

std::string to_text(const ClassReport& r) {
  constexpr std::size_t kMostRows = 40;
  std::vector<std::vector<std::string>> rows = {{"class", "items"}};
  for (const ClassMetric& metric : r.metrics) rows[0].push_back(heading_of(metric));
  for (std::size_t c = 0; c < std::min(kMostRows, r.classes.size()); ++c) {
    rows.push_back({shown_name(r.classes[c]), std::to_string(r.scores[c].items)});
    for (std::size_t m = 0; m < r.metrics.size(); ++m)
      rows.back().push_back(fixed_text(r.by_class[m][c], r.metrics[m].digits));
  }
  rows.push_back({"mean", std::to_string(r.items)});
  for (std::size_t m = 0; m < r.metrics.size(); ++m)
    rows.back().push_back(r.metrics[m].has_mean ? fixed_text(r.means[m], r.metrics[m].digits) : "");
  std::string text = seen_text(r.seen) + text_table(rows);
  if (r.classes.size() > kMostRows)
    text += "... and " + std::to_string(r.classes.size() - kMostRows) + " more classes; all of them with {json}\n";
  rows = {{"confidence", "items", "mean", "accuracy"}};
  for (const CalibrationBin& bin : r.calibration.bins)
    if (bin.items > 0)
      rows.push_back({fixed_text(bin.low, 2) + " to " + fixed_text(bin.high, 2), std::to_string(bin.items),
                      fixed_text(bin.confidence), fixed_text(bin.accuracy)});
  text += text_table(rows);
  if (r.clips) text += to_text(*r.clips, r.classes);
  return text + "accuracy " + fixed_text(r.accuracy) + ", top " + std::to_string(r.top_k) + " " +
         fixed_text(r.top_k_accuracy) + ", expected calibration error " + fixed_text(r.calibration.expected_error) +
         "; always the commonest class: " + fixed_text(r.majority_accuracy) + "\n" + baseline_text(r) +
         counted(r.items, "item") + " scored, " + std::to_string(r.failures.size()) + " left out\n";
}

}  // namespace voxshard
