#include "pipelines/commands/evaluate_several.h"

#include <algorithm>
#include <set>

#include "io/files/atomic_file.h"
#include "io/output/output_file.h"
#include "io/output/output_folder.h"
#include "libcore/base/text.h"
#include "pipelines/model_runs/score_spread.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The options that write a file of one prediction; several would overwrite one another's.
const std::set<std::string> kOfOne = {"png", "curves", "froc-curves"};

std::vector<fs::path> inputs_of(const EvaluateOptions& o) {
  std::vector<fs::path> inputs = {o.predictions};
  inputs.insert(inputs.end(), o.further.begin(), o.further.end());
  return inputs;
}

/// Returns "scores.csv" for "scores.json".
fs::path table_of(const fs::path& summary) {
  return summary.empty() ? fs::path() : fs::path(summary).replace_extension(".csv");
}

void check(const EvaluateOptions& o) {
  const std::vector<fs::path> inputs = inputs_of(o);
  std::set<fs::path> seen;
  std::error_code error;
  for (const fs::path& input : inputs) {
    if (is_trained_run(input) != is_trained_run(inputs.front()))
      throw Error(ErrorKind::kUsage, "[evaluate] " + inputs.front().string() + " and " + input.string() +
                                         ": one is a run and one is none; give several runs, or several predictions");
    if (!seen.insert(fs::weakly_canonical(input, error)).second)
      throw Error(ErrorKind::kUsage, "[evaluate] " + input.string() + " is given twice; give each once");
  }
  for (const GivenSetting& given : o.task.given)
    if (kOfOne.contains(given.name))
      throw Error(ErrorKind::kUsage, "[evaluate] {" + given.name + "} writes what is seen of one prediction, got " +
                                         std::to_string(inputs.size()) + "; give one of them, or leave it out");
  std::vector<fs::path> read = inputs;
  read.push_back(o.references);
  require_output_file(o.summary, {"scores of several predictions", {".json"}, begins_with({R"({"several":)"})},
                      {.inputs = read});
  require_output_file(table_of(o.summary), {"scores of several predictions", {".csv"}, begins_with({kSpreadCsvHead})},
                      {.inputs = read});
}

/// Returns an entry of a report; 0 on the ranks that have none.
std::int64_t count_of(const TaskReport& report, const char* key) {
  return report.json.is_object() && report.json.contains(key) && report.json.at(key).is_number()
             ? report.json.at(key).get<std::int64_t>()
             : 0;
}

std::string notes_of(const std::string& name, const TaskReport& report) {
  std::string text;
  if (const std::int64_t failed = count_of(report, "failed"); failed > 0)
    text += name + ": " + std::to_string(failed) + " left out; evaluate it alone for the reasons\n";
  if (const std::int64_t trained = count_of(report, "trained_on"); trained > 0)
    text += name + ": W_TRAINED " + std::to_string(trained) +
            " that are scored are what the run was trained on: these scores say little about new data\n";
  if (report.json.is_object() && report.json.contains("found_without"))  // of label maps
    for (const Json& line : report.json.at("found_without"))
      text += name + ": found: " + line.get<std::string>() + "\n";
  return text;
}

/// True when every report has cases and no case is in two of them: they are then parts of one set.
bool share_no_case(const std::vector<TaskReport>& reports) {
  std::set<std::string> cases;
  for (const TaskReport& report : reports) {
    if (report.cases.empty()) return false;
    for (const std::string& name : report.cases)
      if (!cases.insert(name).second) return false;
  }
  return true;
}

void write(const EvaluateOptions& o, const Json& json, const ScoreSpread& spread) {
  if (o.summary.empty()) return;
  if (o.summary.has_parent_path()) make_output_folder(o.summary.parent_path());
  write_text_atomically(o.summary, json.dump(2) + "\n");
  write_text_atomically(table_of(o.summary), spread.to_csv());
}

}  // namespace

TaskReport evaluate_several(const EvaluateOptions& options, const EvaluateOne& one, const RunContext& context) {
  check(options);
  const std::vector<fs::path> inputs = inputs_of(options);
  std::vector<TaskReport> reports;
  std::vector<std::vector<ClassScore>> scores;
  std::vector<std::string> names;
  TaskReport all;
  for (const fs::path& input : inputs) {
    EvaluateOptions alone = options;
    alone.predictions = input, alone.further.clear(), alone.summary.clear();
    reports.push_back(one(alone));
    const TaskReport& report = reports.back();
    names.push_back(input.string()), scores.push_back(report.scores);
    all.partial = all.partial || report.partial;
    all.memory = widest(all.memory, report.memory);
  }
  const bool apart = context.broadcast([&] { return Json(share_no_case(reports)); }).get<bool>();
  const ScoreSpread spread(names, scores);
  all.json = {{"several", inputs.size()}, {"predictions", names}, {"spread", spread.to_json()}};
  if (apart) {
    EvaluateOptions together = options;
    together.summary.clear();
    const TaskReport report = one(together);
    all.memory = widest(all.memory, report.memory);
    all.json["together"] = report.json;
    all.text = "all " + std::to_string(inputs.size()) + " together, which share no case:\n" + report.text;
  }
  all.json["each"] = Json::array();
  for (std::size_t i = 0; i < reports.size(); ++i) {
    all.json["each"].push_back(reports[i].json);
    all.text += notes_of(names[i], reports[i]);
  }
  all.text += "each of the " + std::to_string(inputs.size()) + ", with mean and standard deviation of the sample:\n" +
              spread.to_text();
  if (context.writes()) write(options, all.json, spread);
  return all;
}

}  // namespace voxshard
