#include "pipelines/tasks/segmentation/checks/check_dataset.h"

#include <nlohmann/json.hpp>
#include <set>

#include "io/files/atomic_file.h"
#include "io/files/content_hash.h"
#include "io/output/output_file.h"
#include "io/output/output_folder.h"
#include "libcore/base/text.h"
#include "pipelines/engine/case_pass.h"
#include "pipelines/tasks/segmentation/checks/case_facts_message.h"
#include "pipelines/tasks/segmentation/checks/finding_pictures.h"
#include "pipelines/tasks/segmentation/dataset/hiding_paths.h"
#include "pipelines/tasks/segmentation/dataset/prepare_sources.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

const std::string kCsvHeading = "case,code,classes,";
constexpr const char* kPart = "findings";  // the one part of the output folder

OutputKind csv_file() { return {"findings of voxshard check", {".csv"}, begins_with({kCsvHeading})}; }

std::vector<Case> cases_of(const Dataset& dataset) {
  std::vector<Case> cases = dataset.training;
  cases.insert(cases.end(), dataset.test.begin(), dataset.test.end());
  return cases;
}

/// Takes the facts of all cases in one pass, which the processes of the run divide; all have the facts of all cases
/// afterwards. A case that the memory does not hold has its refusal as a problem.
std::vector<CaseFacts> read_facts(const Dataset& dataset, const FactOptions& options, const RunContext& context,
                                  MemoryGate& gate) {
  const std::vector<Case> cases = cases_of(dataset);
  std::vector<CaseFacts> facts(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) facts[i].id = cases[i].id;
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  const auto plan_of = [&](const Case& item) {
    return hiding_paths(item, [&] { return case_facts_plan(item, options); });
  };
  CasePass pass("check", case_ids(cases), context, gate, nullptr);
  pass.run({.need =
                [&](std::int64_t i) {
                  ProcessPlan plan;
                  in_case_boundary(cases[at(i)].id, facts[at(i)].problems, [&] { plan = plan_of(cases[at(i)]); });
                  return plan;
                },
            .body =
                [&](std::int64_t i) {
                  if (facts[at(i)].problems.empty()) facts[at(i)] = read_case_facts(cases[at(i)], options);
                },
            .value = [&](std::int64_t i) { return facts_message(facts[at(i)]); },
            .take = [&](std::int64_t i, const auto& value) { facts[at(i)] = facts_of_message(value); },
            .size = [&](std::int64_t i) { return plan_of(cases[at(i)]).total(); }});
  if (pass.stopped()) throw Stopped();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    facts[i].part = i < dataset.training.size() ? "training" : "test";
    facts[i].patient = cases[i].patient;
  }
  for (const CaseFailure& f : pass.failures())
    for (CaseFacts& one : facts)
      if (one.id == f.id) one.problems.push_back(f);
  return facts;
}

/// Reads the folds beside dataset.json, if there are any; a damaged file is a finding of its own.
std::vector<Split> splits_of(const fs::path& folder, std::vector<CaseFailure>& problems) {
  const fs::path file = folder / "splits_final.json";
  std::error_code error;
  std::vector<Split> splits;
  if (!folder.empty() && fs::exists(file, error))
    in_case_boundary(file.filename().string(), problems, [&] { splits = read_splits(file); });
  return splits;
}

/// Reads the data set. One with a dataset.json may have several channels.
SourceDataset checked_dataset(const CheckDatasetOptions& options, const RunContext& context, MemoryGate& gate) {
  DatasetSource source = options.source;
  source.folder = options.dataset;
  SourceDataset found = read_dataset_source(source, options.output, options.formats, context, gate);
  if (!found.names.empty() && options.output.empty())
    context.progress().log(std::string("ids stand for the names of files; {output} FOLDER writes ") + kCaseNamesFile +
                           " into it, which leads from them to the files");
  return found;
}

bool is_ct(const Dataset& dataset) { return !dataset.channels.empty() && lower_case(dataset.channels[0]) == "ct"; }

void write_output(const CheckDatasetOptions& options, const SourceDataset& source, const CheckedSet& set,
                  CheckReport& report, const RunContext& context, MemoryGate& gate) {
  OutputFolder folder({.folder = options.output, .command = "check", .inputs = inputs_of(source.dataset)});
  folder.start({.options = content_hash(std::string_view(kPart)), .parts = {kPart}, .protect = true});
  const std::vector<PlannedPicture> pictures = plan_pictures(report.findings);
  std::set<std::string> files = {"findings.json", "findings.csv"};
  for (const PlannedPicture& one : pictures) files.insert(one.file);
  folder.begin(kPart, files);
  if (!source.names.empty()) write_case_names(options.output, source.names);
  draw_findings(pictures, cases_of(source.dataset), set,
                {.folder = options.output, .formats = options.formats, .progress = context.progress(), .gate = gate},
                report.findings);
  write_json(options.output / "findings.json", to_json(report));
  write_text_atomically(options.output / "findings.csv", csv_of(report));
  folder.commit(kPart, content_hash(csv_of(report)));
  folder.finish({kPart});
}

}  // namespace

CheckReport check_dataset(const CheckDatasetOptions& options, const RunContext& context) {
  MemoryGate gate(options.formats.limits.memory_bytes);
  const SourceDataset source = checked_dataset(options, context, gate);
  const Dataset& dataset = source.dataset;
  require_output_file(options.csv, csv_file(), {.inputs = inputs_of(dataset), .option = "{csv}"});
  if (!options.output.empty()) require_outside(options.output, inputs_of(dataset));
  CheckReport report{.dataset = options.dataset.empty() ? options.source.images : options.dataset,
                     .output = options.output,
                     .kind = dataset.kind,
                     .training = static_cast<int>(dataset.training.size()),
                     .test = static_cast<int>(dataset.test.size()),
                     .deep = options.deep,
                     .is_ct = is_ct(dataset)};
  CheckedSet set{.class_names = dataset.label_names, .is_ct = report.is_ct};
  std::vector<CaseFailure> left_out;
  for (const CaseProblem& p : dataset.problems) left_out.push_back({p.id, p.code, p.reason});
  set.splits = splits_of(options.dataset, left_out);
  set.cases = read_facts(dataset,
                         {.classes = static_cast<int>(dataset.label_names.size()),
                          .ignored = dataset.ignore_label,
                          .deep = options.deep,
                          .resamples_channels = options.resamples_channels,
                          .formats = options.formats},
                         context, gate);
  report.findings = apply_rules(check_rules(), set);
  for (const CaseFailure& f : left_out)
    report.findings.push_back({.code = f.code, .id = f.id, .what = f.message, .next = "add the file, or rename it"});
  std::set<std::string> odd;
  for (const Finding& f : report.findings) odd.insert(f.id);
  report.odd_cases = static_cast<int>(odd.size());
  for (const CheckRule& rule : check_rules())
    if (rule.deep && !(options.deep && report.is_ct)) report.skipped.emplace_back(rule.code);
  if (!options.output.empty() && context.writes()) write_output(options, source, set, report, context, gate);
  if (!options.csv.empty() && context.writes()) {
    if (options.csv.has_parent_path()) make_output_folder(options.csv.parent_path());
    write_text_atomically(options.csv, csv_of(report));
  }
  report.memory = gate.widest();
  return report;
}

}  // namespace voxshard
