#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "io/datasets/dataset.h"
#include "io/files/file_name.h"
#include "io/files/output_folder.h"
#include "io/image/overlay.h"
#include "io/image/sheet_file.h"
#include "pipelines/engine/case_pass.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/segmentation/dataset/case_memory.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
constexpr std::size_t kMostCasesInImage = 6;

/// One reference with its prediction and, when the data set names one, its image.
struct Pair {
  std::string id;
  fs::path reference, prediction, image;
};

Evaluated files_of(const Pair& pair, bool with_image, bool surfaces = false) {
  return {pair.reference, pair.prediction, with_image ? pair.image : fs::path(), surfaces};
}

std::map<std::string, fs::path> images_by_case(const Dataset& dataset) {
  std::map<std::string, fs::path> images;
  for (const auto* cases : {&dataset.training, &dataset.test})
    for (const auto& c : *cases) images[c.id] = c.images.at(0);
  return images;
}

int highest_label(const Tensor& label) {
  const auto* v = label.as<std::int32_t>();
  return label.count() == 0 ? 0 : *std::max_element(v, v + label.count());
}

std::vector<std::string> ids_of(const auto& cases) {
  std::vector<std::string> ids;
  for (const auto& item : cases) ids.push_back(item.id);
  return ids;
}

/// Returns the number of classes when there is no dataset.json: one more than the highest label of any reference.
int classes_in(const std::vector<Pair>& pairs, const VolumeFormats& formats, const RunContext& context,
               MemoryGate& gate) {
  std::vector<int> highest(pairs.size(), 0);
  const auto plan = [&](std::int64_t i) {
    return evaluating_case_plan({.reference = pairs[static_cast<std::size_t>(i)].reference}, formats);
  };
  CasePass pass("classes", ids_of(pairs), context, gate,
                nullptr);  // an unreadable reference is reported when it is scored
  pass.run({.need = plan,
            .body =
                [&](std::int64_t i) {
                  const auto at = static_cast<std::size_t>(i);
                  highest[at] = highest_label(read_label(pairs[at].reference, formats).voxels);
                },
            .value = [&](std::int64_t i) { return Json(highest[static_cast<std::size_t>(i)]); },
            .take = [&](std::int64_t i, const Json& value) { value.get_to(highest[static_cast<std::size_t>(i)]); },
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
  const auto plan = [&](std::int64_t i) {
    return reading_case_plan(dataset.training[static_cast<std::size_t>(i)], formats);
  };
  CasePass pass("threshold baseline", ids_of(dataset.training), context, gate, nullptr);
  pass.run({.need = plan,
            .body =
                [&](std::int64_t i) {
                  const SourceCase source = read_source_case(dataset.training[static_cast<std::size_t>(i)], classes,
                                                             formats, dataset.ignore_label);
                  const std::scoped_lock lock(adding);
                  fit.add(source.image.voxels, source.label.voxels);
                },
            .size = [&](std::int64_t i) { return plan(i).total(); }});
  if (pass.stopped()) throw Stopped();
  for (const auto& f : pass.failures())
    context.progress().log("threshold baseline leaves out case " + f.id + ": " + f.message);
  join(fit, context);
  return fit.solve();
}

/// Scores one case. `ignored` is the label of voxels that do not count, or -1.
EvaluatedCase evaluate_case(const Pair& pair, int classes, int ignored,
                            const std::vector<ThresholdInterval>& thresholds, const ScoringRules& rules,
                            const VolumeFormats& formats) {
  if (pair.prediction.empty())
    throw Error(ErrorKind::kInput, "E_MISSING",
                "[" + pair.id + "] there is no prediction for " + pair.reference.filename().string() +
                    "; run `voxshard predict` on its image");
  const Volume reference = read_label(pair.reference, formats), prediction = read_label(pair.prediction, formats);
  require_same_grid(reference.geometry, prediction.geometry, pair.prediction.filename().string());
  EvaluatedCase result{.id = pair.id, .scores = {pair.prediction, pair.reference, {}}, .baseline_dice = {}};
  result.scores.classes = score_classes(prediction, reference, {.classes = classes, .ignored = ignored}, rules);
  if (thresholds.empty()) return result;
  const Volume image = read_image(pair.image, formats);
  require_same_grid(image.geometry, reference.geometry, pair.reference.filename().string());
  result.baseline_dice.assign(classes, std::nan(""));
  for (int c = 1; c < classes; ++c) {
    const Tensor mask = threshold_mask(image.voxels, thresholds[c], c);
    result.baseline_dice[c] = dice(count_classes(mask.view(), reference.voxels.view(), classes, ignored)[c]);
  }
  return result;
}

void summarise(LabelScores& report, int classes, const std::vector<std::string>& names) {
  std::vector<double> baselines;
  for (int c = 1; c < classes; ++c) {
    std::vector<double> b;
    for (const auto& item : report.cases)
      if (!item.baseline_dice.empty()) b.push_back(item.baseline_dice[c]);
    const std::string name = c < static_cast<int>(names.size()) ? names[c] : std::to_string(c);
    report.classes.push_back({.label = c,
                              .name = name,
                              .means = {},
                              .cases = {},
                              .baseline_dice = b.empty() ? std::nullopt : std::optional(nan_mean(b))});
    if (!b.empty()) baselines.push_back(nan_mean(b));
  }
  for (const LabelMetric& metric : report.rules.metrics) {
    std::vector<double> by_class;
    for (ClassMean& one : report.classes) {
      std::vector<double> by_case;
      for (const auto& item : report.cases)
        by_case.push_back(item.scores.classes.at(one.label).scores.at(metric.shown.name));
      one.cases.push_back(by_case.size() - static_cast<std::size_t>(std::ranges::count_if(
                                               by_case, [](double score) { return std::isnan(score); })));
      by_class.push_back(one.means.emplace_back(nan_mean(by_case)));
    }
    report.means.push_back(nan_mean(by_class));
  }
  if (!baselines.empty()) report.baseline_mean_dice = nan_mean(baselines);
}

void write_image(const EvaluateLabelsOptions& options, const std::vector<Pair>& pairs, const LabelScores& report,
                 const std::vector<std::string>& names, MemoryGate& gate) {
  std::vector<const Pair*> chosen;
  std::vector<Evaluated> files;
  for (const auto& pair : pairs) {
    const bool scored =
        std::any_of(report.cases.begin(), report.cases.end(), [&](const auto& c) { return c.id == pair.id; });
    if (!scored || pair.image.empty() || chosen.size() == kMostCasesInImage) continue;
    chosen.push_back(&pair), files.push_back(files_of(pair, true));
  }
  const auto hold = gate.enter(image_plan(files, options.formats));
  std::vector<std::array<Volume, 3>> volumes;
  std::vector<OverlayCase> shown;
  volumes.reserve(kMostCasesInImage);
  for (const Pair* one : chosen) {
    const Pair& pair = *one;
    volumes.push_back({read_image(pair.image, options.formats), read_label(pair.reference, options.formats),
                       read_label(pair.prediction, options.formats)});
    const auto& [image, reference, prediction] = volumes.back();
    shown.push_back({.image = &image, .reference = &reference, .prediction = &prediction, .caption = pair.id});
  }
  if (shown.empty())
    throw Error(ErrorKind::kInput,
                "[evaluate] {png} needs images, and " + options.dataset.string() + " holds none of these cases");
  OverlayOptions look;
  look.label_names = names;
  if (options.png.has_parent_path()) make_output_folder(options.png.parent_path());
  write_sheet(options.png, overlay_sheet(shown, look));
}

void write_outputs(const EvaluateLabelsOptions& options, const std::vector<Pair>& pairs, const LabelScores& report,
                   const std::vector<std::string>& names, MemoryGate& gate) {
  if (!options.summary.empty()) {
    std::vector<CaseScores> all;
    for (const auto& c : report.cases) all.push_back(c.scores);
    if (options.summary.has_parent_path()) make_output_folder(options.summary.parent_path());
    write_summary(options.summary, all);
  }
  if (!options.png.empty()) write_image(options, pairs, report, names, gate);
}

/// The label maps of both sides by case. Two files are one case, of the name of the reference.
struct LabelFiles {
  std::map<std::string, fs::path> references, predictions;
};

LabelFiles label_files(const EvaluateLabelsOptions& o) {
  const auto is_file = [&](const fs::path& path) {
    return !fs::is_directory(path) && volume_stem(path, o.formats).has_value();
  };
  if (is_file(o.references) != is_file(o.predictions))
    throw Error(ErrorKind::kUsage, "[evaluate] " + o.predictions.string() + " and " + o.references.string() +
                                       ": give two label maps, or two folders of them");
  if (is_file(o.references)) {
    const std::string id = volume_stem(o.references, o.formats).value();
    return {{{id, o.references}}, {{id, o.predictions}}};
  }
  LabelFiles files{.references = volume_files(o.references, o.formats)};
  const bool none = fs::is_directory(o.predictions) && fs::is_empty(o.predictions);  // every case is then missing
  if (!none) files.predictions = volume_files(o.predictions, o.formats);
  return files;
}

}  // namespace

LabelScores evaluate_labels(const EvaluateLabelsOptions& options, const RunContext& context) {
  if (options.dataset.empty() && (options.threshold_baseline || !options.png.empty()))
    throw Error(ErrorKind::kUsage, "[evaluate] {baseline} and {png} need the images: give {dataset} FOLDER");
  const ScoringRules rules{.metrics = chosen_metrics(options.metric_keys, options.metrics),
                           .surface = options.surface,
                           .empty = options.empty};
  const std::vector<fs::path> inputs = {options.predictions, options.references, options.dataset};
  require_output_file(options.summary, summary_file(), {.inputs = inputs});
  require_output_file(options.png, sheet_file(), {.inputs = inputs, .option = "{png}"});
  std::optional<FolderLock> reading;
  if (fs::is_directory(options.predictions)) reading.emplace(FolderLock::reading(options.predictions));
  std::optional<Dataset> dataset;
  if (!options.dataset.empty()) dataset = read_source_dataset(options.dataset);
  const auto [references, predictions] = label_files(options);
  const auto images = dataset ? images_by_case(*dataset) : std::map<std::string, fs::path>();

  std::vector<Pair> pairs;
  const auto in = [](const auto& files, const std::string& id) {
    return files.contains(id) ? files.at(id) : fs::path();
  };
  const std::set<std::string> unasked(options.seen.left_out.begin(), options.seen.left_out.end());
  for (const auto& [id, path] : references)
    if (!unasked.contains(id)) pairs.push_back({id, path, in(predictions, id), in(images, id)});
  if (pairs.empty())
    throw Error(ErrorKind::kNoCase,
                "[evaluate] none of the references was predicted: the run was trained on all of them");
  for (const auto& [id, path] : predictions)
    if (!references.contains(id))
      context.progress().log("prediction " + path.filename().string() + " has no reference; left out");
  MemoryGate gate(options.formats.limits.memory_bytes);
  const int classes =
      dataset ? static_cast<int>(dataset->label_names.size()) : classes_in(pairs, options.formats, context, gate);

  const int ignored = dataset ? dataset->ignore_label.value_or(-1) : -1;
  LabelScores report{.rules = rules, .states_rules = options.states_rules()};
  if (options.threshold_baseline) report.thresholds = fit_thresholds(*dataset, options.formats, context, gate);
  std::vector<EvaluatedCase> scored(pairs.size());
  const auto plan = [&](std::int64_t i) {
    const Pair& pair = pairs[static_cast<std::size_t>(i)];
    return evaluating_case_plan(files_of(pair, options.threshold_baseline, any_of_surfaces(rules.metrics)),
                                options.formats);
  };
  CasePass pass("evaluate", ids_of(pairs), context, gate, "");
  const auto good = pass.run({.need = plan,
                              .body =
                                  [&](std::int64_t i) {
                                    const auto at = static_cast<std::size_t>(i);
                                    require_utf8_name(pairs[at].id);
                                    scored[at] = evaluate_case(pairs[at], classes, ignored, report.thresholds, rules,
                                                               options.formats);
                                  },
                              .value =
                                  [&](std::int64_t i) {
                                    const EvaluatedCase& one = scored[static_cast<std::size_t>(i)];
                                    return Json{{"classes", class_scores_message(one.scores.classes, rules.metrics)},
                                                {"baseline", one.baseline_dice}};
                                  },
                              .take =
                                  [&](std::int64_t i, const Json& value) {
                                    const auto at = static_cast<std::size_t>(i);
                                    scored[at] = {.id = pairs[at].id,
                                                  .scores = {pairs[at].prediction, pairs[at].reference,
                                                             class_scores_of(value.at("classes"), rules.metrics)},
                                                  .baseline_dice = value.at("baseline").get<std::vector<double>>()};
                                  },
                              .size = [&](std::int64_t i) { return plan(i).total(); }});
  if (pass.stopped()) throw Stopped();
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (good[i]) report.cases.push_back(std::move(scored[i]));
  report.failures = pass.failures();
  report.seen = seen_among(options.seen, ids_of(report.cases));
  if (report.cases.empty())
    throw Error(ErrorKind::kNoCase, "[evaluate] none of the " + std::to_string(pairs.size()) +
                                        " references could be scored; " + "the first: case " + report.failures[0].id +
                                        ": " + report.failures[0].message);
  const auto names = dataset ? dataset->label_names : std::vector<std::string>();
  summarise(report, classes, names);
  if (context.writes()) write_outputs(options, pairs, report, names, gate);
  report.memory = gate.widest();
  return report;
}

}  // namespace voxshard
