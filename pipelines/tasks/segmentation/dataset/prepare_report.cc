#include "pipelines/tasks/segmentation/dataset/prepare_report.h"

#include <nlohmann/json.hpp>
#include <set>

#include "io/files/config_file.h"
#include "io/volume/mapped_volume.h"
#include "libcore/base/text.h"
#include "pipelines/engine/none_left.h"
#include "pipelines/engine/rehearsal.h"
#include "pipelines/tasks/segmentation/dataset/case_memory.h"
#include "pipelines/tasks/segmentation/dataset/hiding_paths.h"
#include "pipelines/tasks/segmentation/dataset/memory_moments.h"
#include "pipelines/tasks/segmentation/dataset/prepare_choices.h"
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"

namespace voxshard {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json prepared_listing(const Dataset& dataset, const PreparePlan& plan, const Json& records) {
  Json labels, channels;
  for (int c = 0; c < plan.classes(); ++c) labels[plan.class_names[c]] = c;
  if (plan.ignore_label) labels["ignore"] = *plan.ignore_label;
  for (std::size_t c = 0; c < plan.channels.size(); ++c) channels[std::to_string(c)] = plan.channels[c];
  Json listing = {{"name", dataset.name},          {"channel_names", channels},    {"labels", labels},
                  {"numTraining", records.size()}, {"file_ending", kMappedEnding}, {"cases", records}};
  for (const LabelRegion& region : dataset.regions) listing["regions"][region.name] = region.labels;
  if (const auto patients = prepared_by_patient(dataset, records); !patients.empty())
    listing["same_patient"] = patients;
  return listing;
}

std::vector<std::vector<std::string>> prepared_by_patient(const Dataset& dataset, const Json& records) {
  std::set<std::string> prepared;
  for (const Json& record : records) prepared.insert(record.at("case").get<std::string>());
  std::vector<Case> cases;
  for (const Case& item : dataset.training)
    if (prepared.contains(item.id)) cases.push_back(item);
  return cases_by_patient(cases);
}

namespace {

/// Says where an earlier call made the plan of fewer cases than are prepared now: a limit that was raised since left
/// the others out.
void say_plan_of_fewer(const fs::path& work, std::size_t cases, Progress& progress) {
  std::size_t planned = cases;
  try {
    planned = read_json(work / "fingerprint.json").at("per_case").size();
  } catch (const std::exception&) {  // nothing tells
  }
  if (planned < cases)
    progress.warn("spacing and intensities are those of the " + counted(static_cast<std::int64_t>(planned), "case") +
                  " that could be used at first, and " + std::to_string(cases) +
                  " are prepared so; another folder gets those of all");
}

}  // namespace

void complete_report(const PrepareOptions& options, const PreparePlan& plan, const Dataset& dataset, Json& records,
                     Progress& progress, PrepareReport& report) {
  report.plan = plan;
  report.missing_rule = options.missing.value_or(options.convention == Convention::kNnunet ? MissingClasses::kBackground
                                                                                           : MissingClasses::kAuto);
  if (!report.interrupted) report.missing = decide_missing(records, plan.class_names, report.missing_rule);
  report.coverage = class_coverage(records, plan.class_names);
  if (report.interrupted) return;
  say_plan_of_fewer(options.work, records.size(), progress);
  report.patients_of_several = std::ssize(prepared_by_patient(dataset, records));
  if (!options.judge) return;
  for (CaseFailure& odd : options.judge(records, plan.class_names)) {
    progress.warn("case " + odd.id + ": " + odd.code + " " + odd.message);
    report.warnings.push_back(std::move(odd));
  }
}

void write_run_file(const PrepareOptions& options, const PrepareReport& report) {
  write_json(options.work / "run.json", {{"command", "prepare"},
                                         {"version", VOXSHARD_VERSION},
                                         {"dataset", source_of(options)},
                                         {"report", to_json(report)}});
}

Json source_of(const PrepareOptions& options) {
  if (options.source.images.empty()) return fs::absolute(options.dataset).string();
  return {{"images", fs::absolute(options.source.images).string()},
          {"labels", fs::absolute(options.source.labels).string()}};
}

void plan_spacing_by_headers(PreparePlan& plan, const PrepareOptions& options, const std::vector<Case>& cases) {
  if (!options.chooses_spacing()) return;
  std::vector<Geometry> geometries;
  for (const Case& item : cases) {
    if (item.images.empty()) continue;
    const auto info = hiding_paths(item, [&] { return usable_info(item.images.front(), options.formats); });
    if (info) geometries.push_back(info->geometry);
  }
  if (!geometries.empty()) choose_spacing(plan, options, geometries);
}

namespace {

/// Returns the prepared size and the memory of a case. Errors: kInput, where it would be left out.
PlannedInput rehearsed_case(const Case& item, const PreparePlan& plan, const PrepareOptions& options) {
  return hiding_paths(item, [&] {
    PlannedInput planned{.id = item.id, .extents = {}};
    planned.bytes =
        widest(fingerprint_case_plan(item, plan, options.formats), preparing_case_plan(item, plan, options.formats))
            .total();
    planned.extents = prepared_geometry(read_volume_info(item.images.front(), options.formats).geometry, plan).shape();
    return planned;
  });
}

}  // namespace

void rehearse_cases(const PrepareOptions& options, const PreparePlan& plan, const std::vector<Case>& cases,
                    Progress& progress, PrepareReport& report, const std::function<bool(std::size_t)>& kept) {
  report.plan = plan;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    throw_if_stopped(progress);
    std::vector<CaseFailure> failures;
    if (options.headers) failures = options.headers(cases[i], options.formats);
    if (failures.empty())
      in_case_boundary(cases[i].id, failures, [&] {
        report.planned.push_back(rehearsed_case(cases[i], plan, options));
        report.planned.back().kept = kept(i);
        report.skipped += report.planned.back().kept;
      });
    for (CaseFailure& failure : failures) {
      progress.warn("case " + failure.id + ": " + failure.code + " " + failure.message + " [would be left out]");
      report.failures.push_back(std::move(failure));
    }
  }
  if (report.planned.empty()) throw Error(kind_of_none(report.failures), no_case_text(options, report.failures));
}

namespace {

/// Returns the report of a dry run, for people.
std::string rehearsed_text(const PrepareReport& report) {
  std::string text = rehearsal_text(report.planned, report.failures.size(), "prepared") + " for one case";
  if (report.plan.spacing_mm)
    text += "; spacing " + joined_text(report.plan.spacing_mm->data(), 3, 3) + " mm" +
            (report.plan.kept ? " of images that are not near it" : "");
  return text + "; labels and intensities were not looked at, which voxshard check does; nothing was written\n";
}

}  // namespace

Json to_json(const PrepareReport& report) {
  Json json = {{"work", report.work.string()},
               {"plan", to_json(report.plan)},
               {"ids", report.ids},
               {"prepared", report.prepared},
               {"skipped", report.skipped},
               {"failed", report.failures.size()},
               {"failures", to_json(report.failures)},
               {"warnings", to_json(report.warnings)},
               {"annotated", to_json(report.coverage)},
               {"missing_classes", kMissingClassesNames[static_cast<std::size_t>(report.missing_rule)]},
               {"missing", to_json(report.missing)},
               {"patients_of_several_cases", report.patients_of_several},
               {"interrupted", report.interrupted},
               {"seconds", report.seconds}};
  if (!report.planned.empty()) json["planned"] = to_json(report.planned);
  return json;
}

std::string no_case_text(const PrepareOptions& options, const std::vector<CaseFailure>& failures) {
  std::string text = "[prepare] no usable case in " + options.dataset.string() + ": " +
                     std::to_string(failures.size()) + " failed" +
                     (options.dry_run ? "" : ", listed in " + (options.work / "quarantine.csv").string());
  if (!failures.empty()) text += "; the first: case " + failures[0].id + ": " + failures[0].message;
  return text;
}

std::string to_text(const PrepareReport& r) {
  if (!r.planned.empty()) return rehearsed_text(r);
  std::string text = to_text(r.plan) + "\n" + std::to_string(r.prepared) + " prepared, " + std::to_string(r.skipped) +
                     " finished before, " + std::to_string(r.failures.size()) + " quarantined";
  if (!r.failures.empty()) text += " (see " + (r.work / "quarantine.csv").string() + ")";
  if (!r.warnings.empty())
    text += ", " + std::to_string(r.warnings.size()) + " warnings (see " + (r.work / "run.json").string() + ")";
  text += " in " + duration_text(r.seconds) + (r.interrupted ? "; INCOMPLETE: stopped, go on with {resume}\n" : "\n");
  if (r.ids != "names")
    text += "ids of cases are " + std::string(r.ids == "salted" ? "made with {id-salt}" : "numbers") + "; " +
            (r.work / kCaseNamesFile).string() + ", for its owner's eyes alone, leads from them to the files\n";
  if (r.patients_of_several > 0)
    text += std::to_string(r.patients_of_several) + (r.patients_of_several == 1 ? " patient has" : " patients have") +
            " several cases, by the ids in the headers: the folds of train keep them together\n";
  text += to_text(r.missing, r.missing_rule) + to_text(r.coverage);
  if (!r.check.empty() && !r.interrupted)
    text += "what is odd in its cases tells: voxshard check " + joined(r.check, " ") + "\n";
  return text;
}

}  // namespace voxshard
