#include "pipelines/commands/run_attest.h"

#include <algorithm>

#include "io/files/atomic_file.h"
#include "io/files/file_error.h"
#include "io/files/private_folder.h"
#include "io/output/output_folder.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/stop.h"
#include "pipelines/commands/golden_case.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/model_runs/newer_fields.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFindings = 20;

/// The folder below which each instruction set has its answer, named by the set.
fs::path answers_below(const PrivateFolder& room, InstructionSet set, const Task& task) {
  return room.path() / instruction_set_name(set) / task.words().predicted;
}

/// Predicts the golden input as `predict` does, and returns the file with the answer.
fs::path predicted_answer(const AttestRequest& request, const fs::path& input, const fs::path& output,
                          const RunContext& context, const TaskTable& tasks) {
  make_output_folder(output.parent_path());
  const PredictReport report = run_predict({.run = request.model,
                                            .input = input,
                                            .output = output,
                                            .checkpoint = request.checkpoint,
                                            .weights = request.weights,
                                            .models = request.models},
                                           context, tasks);
  if (report.interrupted) throw Stopped();
  if (report.cases.size() != 1 || !report.failures.empty())
    throw Error(ErrorKind::kMismatch, "[attest] of the golden input " + std::to_string(report.cases.size()) +
                                          " cases were predicted and " + std::to_string(report.failures.size()) +
                                          " left out; expected one predicted case");
  return report.cases.front().file;
}

std::vector<std::string> sets_of(const GoldenCase& golden) {
  std::vector<std::string> sets;
  for (const char* name : kInstructionSetNames)
    if (golden.answers.contains(name)) sets.emplace_back(name);
  return sets;
}

/// Refuses to make a golden case in the place of another one, or of a folder that is none.
void require_free(const fs::path& folder, bool replace) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder, error))) return;
  if (!replace)
    throw Error(ErrorKind::kOutput, "[attest] " + folder.string() +
                                        " is there already; compare with it by leaving {make} out, or add {replace}");
  if (!fs::exists(folder / kGoldenName, error))
    throw Error(ErrorKind::kOutput, "[attest] " + folder.string() +
                                        " holds no golden.json, so that it is no golden case; move it elsewhere");
}

void rename_folder(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) throw output_error(to, error.message(), "check that its folder may be written");
}

/// A golden case that is being made. What was not given its name is removed at the end.
class UnfinishedCase {
 public:
  explicit UnfinishedCase(const fs::path& folder) : path_(folder.parent_path() / "golden.unfinished") {
    remove();  // as a killed call leaves it
    for (const char* part : {"input", "answer"}) make_output_folder(path_ / part);
  }
  ~UnfinishedCase() { remove(); }
  UnfinishedCase(const UnfinishedCase&) = delete;
  UnfinishedCase& operator=(const UnfinishedCase&) = delete;

  const fs::path& path() const { return path_; }

 private:
  void remove() const noexcept {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path path_;
};

/// Gives the finished folder its name. An earlier golden case is removed when the new one is in its place.
void put_in_place(const fs::path& finished, const fs::path& folder) {
  const fs::path replaced = folder.parent_path() / "golden.replaced";
  std::error_code error;
  fs::remove_all(replaced, error);
  if (fs::exists(fs::symlink_status(folder, error))) rename_folder(folder, replaced);
  rename_folder(finished, folder);
  fs::remove_all(replaced, error);
}

AttestReport made_case(const AttestRequest& request, TrainedRun& run, const Task& task, const RunContext& context,
                       const TaskTable& tasks) {
  const fs::path folder = golden_folder_of(request.model);
  require_free(folder, request.replace);
  const UnfinishedCase made(folder);
  const fs::path& unfinished = made.path();
  task.golden_input(run, unfinished / "input");

  const PrivateFolder room(folder);
  const InstructionSet own = instruction_set();
  GoldenCase golden = golden_facts(run);
  run.parameters.clear();  // the prediction loads them again
  golden.task = task.name(), golden.reference = instruction_set_name(own);
  const fs::path output = answers_below(room, own, task);
  const fs::path answer = predicted_answer(request, unfinished / "input", output, context, tasks);
  golden.answers[golden.reference] = task.answer_hash(answer);
  for (const InstructionSet set : instruction_sets()) {
    if (set >= own || !request.predict_as) continue;
    context.progress().log(std::string("golden case: predicted with ") + instruction_set_name(set));
    const fs::path other = answers_below(room, set, task);
    make_output_folder(other.parent_path());
    request.predict_as(set, unfinished / "input", other);
    const fs::path found = answer == output ? other : other / answer.lexically_relative(output);
    golden.answers[instruction_set_name(set)] = task.answer_hash(found);
  }
  std::error_code error;
  fs::copy_file(answer, unfinished / "answer" / answer.filename(), error);
  if (error) throw output_error(unfinished / "answer", error.message(), "check the space of its disk");
  golden.files = golden_files(unfinished);
  write_text_atomically(unfinished / kGoldenName, golden_text(golden));
  put_in_place(unfinished, folder);
  return {.golden = folder,
          .checkpoint = run.file,
          .made = true,
          .task = golden.task,
          .version = golden.version,
          .processor = golden.processor,
          .instruction_set = own,
          .sets = sets_of(golden),
          .predicted = true,
          .by_hash = true,
          .reference = golden.reference};
}

/// Adds a finding on one line: somebody may have changed golden.json, or added a file whose name forges a result.
void add_finding(AttestReport& report, std::string what, const std::string& text) {
  if (report.findings.size() < kMostFindings)
    report.findings.push_back({std::move(what), plain_text(text)});
  else
    ++report.further;
}

/// Adds what differs between two lists of hashes by name.
///   thing   "parameter"
///   values  what a hash is of: "values"
void compare_hashes(const std::map<std::string, std::string>& golden, const std::map<std::string, std::string>& now,
                    const std::string& thing, const std::string& values, AttestReport& report) {
  for (const auto& [name, hash] : golden) {
    const auto found = now.find(name);
    if (found == now.end())
      add_finding(report, thing, thing + " " + name + " is gone");
    else if (found->second != hash)
      add_finding(report, thing, thing + " " + name + " has other " + values);
  }
  for (const auto& [name, hash] : now)
    if (!golden.contains(name)) add_finding(report, thing, thing + " " + name + " was added");
}

/// Adds the members of the model's settings that differ, by their path: "/base_filters".
void compare_settings(const nlohmann::json& golden, const nlohmann::json& now, AttestReport& report) {
  for (const auto& change : nlohmann::json::diff(golden, now))
    add_finding(report, "settings", "setting " + change.at("path").get<std::string>() + " of the model is another one");
}

/// "3 of 61440 voxels differ from the stored answer, that of amx".
std::string difference_text(const AttestReport& report) {
  return std::to_string(report.apart->differing) + " of " + std::to_string(report.apart->compared) + " " +
         report.apart->unit + " differ from the stored answer, that of " + report.reference;
}

/// Adds how the answer differs from the golden one.
void compare_answers(const GoldenCase& golden, const fs::path& answer, const Task& task, DType precision,
                     AttestReport& report) {
  report.predicted = true;
  const std::string set = instruction_set_name(report.instruction_set);
  const auto own = golden.answers.find(set);
  report.by_hash = own != golden.answers.end() && task.answer_hash(answer) == own->second;
  if (report.by_hash) return;
  report.apart = task.answer_difference(report.golden / "answer" / answer.filename(), answer, precision);
  if (own != golden.answers.end() && golden.processor == cpu_name())
    add_finding(report, "answer", "the answer has another hash than that of " + set + "; " + difference_text(report));
  else if (!report.apart->within())
    add_finding(report, "answer", difference_text(report) + "; allowed are " + std::to_string(report.apart->allowed));
}

AttestReport compared_case(const AttestRequest& request, TrainedRun& run, const Task& task, const RunContext& context,
                           const TaskTable& tasks) {
  AttestReport report{.golden = golden_folder_of(request.model),
                      .checkpoint = run.file,
                      .task = task.name(),
                      .instruction_set = instruction_set()};
  const GoldenCase golden = read_golden(report.golden), now = golden_facts(run);
  run.parameters.clear();  // the prediction loads them again
  report.version = plain_text(golden.version), report.processor = plain_text(golden.processor);
  report.sets = sets_of(golden), report.reference = golden.reference;
  if (golden.task != task.name()) add_finding(report, "task", "it was made for " + golden.task);
  compare_settings(with_newer_fields(golden.model), with_newer_fields(now.model), report);
  compare_hashes(golden.files, golden_files(report.golden), "file", "bytes", report);
  const bool predictable = report.equal();
  if (golden.preparation != now.preparation)
    add_finding(report, "preparation", "the preparation of inputs is another one");
  compare_hashes(golden.parameters, now.parameters, "parameter", "values", report);
  if (!predictable) return report;
  const PrivateFolder room(report.golden);
  const fs::path answer = predicted_answer(request, report.golden / "input",
                                           answers_below(room, report.instruction_set, task), context, tasks);
  compare_answers(golden, answer, task, run.spec.precision, report);
  return report;
}

}  // namespace

AttestReport run_attest(const AttestRequest& request, const RunContext& context, const TaskTable& tasks) {
  if (request.replace && !request.make)
    throw Error(ErrorKind::kUsage, "[attest] {replace} is for {make}, which makes a golden case; add it");
  TrainedRun run = load_trained_run(
      {.run = request.model, .checkpoint = request.checkpoint, .weights = request.weights, .models = request.models});
  const Task& task = task_of(tasks, run.spec);
  return request.make ? made_case(request, run, task, context, tasks)
                      : compared_case(request, run, task, context, tasks);
}

nlohmann::ordered_json to_json(const AttestReport& report) {
  nlohmann::ordered_json findings = nlohmann::ordered_json::array(), apart;
  for (const AttestFinding& one : report.findings) findings.push_back({{"what", one.what}, {"text", one.text}});
  if (report.apart)
    apart = {{"compared", report.apart->compared},
             {"differing", report.apart->differing},
             {"allowed", report.apart->allowed},
             {"unit", report.apart->unit}};
  return {{"golden", report.golden.string()},
          {"checkpoint", report.checkpoint.string()},
          {"made", report.made},
          {"equal", report.equal()},
          {"task", report.task},
          {"version", report.version},
          {"processor", report.processor},
          {"instruction_set", instruction_set_name(report.instruction_set)},
          {"instruction_sets", report.sets},
          {"predicted", report.predicted},
          {"by_hash", report.by_hash},
          {"reference", report.reference},
          {"difference", apart},
          {"findings", findings},
          {"further", report.further}};
}

std::string to_text(const AttestReport& report) {
  std::string sets;
  for (const std::string& set : report.sets) sets += (sets.empty() ? "" : ", ") + set;
  if (report.made)
    return report.golden.string() + ": made from " + report.checkpoint.string() + ", with the answers of " + sets +
           "\n";
  const std::string set = instruction_set_name(report.instruction_set);
  std::string text = report.golden.string() + ", made by voxshard " + report.version + " on " +
                     (report.processor.empty() ? "an unknown processor" : report.processor) + " with " + sets + "\n";
  for (const AttestFinding& one : report.findings) text += "DIFFERENT: " + one.text + "\n";
  if (report.further > 0) text += "and " + std::to_string(report.further) + " further differences\n";
  if (!report.predicted) text += "the golden case was not predicted, since its files or the model's settings differ\n";
  if (!report.equal()) return text;
  if (report.by_hash) return text + "EQUAL: parameters, settings, input, and the answer of " + set + " by its hash\n";
  return text + "EQUAL within what is allowed: parameters, settings, input; on this processor " + set +
         " has no hash of its own: " + difference_text(report) + ", allowed are " +
         std::to_string(report.apart->allowed) + "\n";
}

}  // namespace voxshard
