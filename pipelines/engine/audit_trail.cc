#include "pipelines/engine/audit_trail.h"

#include "io/audit/sha256.h"
#include "io/output/output_file.h"
#include "libcore/base/plain_text.h"
#include "pipelines/engine/predicted_file.h"
#include "pipelines/model_runs/averaged_runs.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns the file once it is known that it may be the audit.
fs::path audit_file(const PredictOptions& options) {
  const fs::path file = options.task.of<AuditRequest>().file;
  require_output_file(file, {"an audit file of voxshard", {".jsonl"}, begins_with({R"({"number":)"})},
                      output_place(options, "{audit}"));
  return file;
}

std::string hash_of_checkpoints(TrainedRun& run) {
  std::vector<fs::path> files;
  for_each_run(run, [&](const TrainedRun& one) { files.push_back(one.file); });
  return files_sha256(files);
}

}  // namespace

AuditTrail::AuditTrail(const PredictOptions& options, TrainedRun& run, Progress& progress)
    : options_(options), progress_(progress), log_(audit_file(options)), model_(hash_of_checkpoints(run)) {}

std::string AuditTrail::hash_of_input(std::size_t input, const AuditInputs& known) {
  if (const auto there = inputs_.find(input); there != inputs_.end()) return there->second;
  std::string& hash = inputs_[input];
  if (input >= known.files.size()) return hash;
  const HashedCase& item = known.files[input];
  try {
    if (!item.files.empty()) hash = files_sha256(item.files);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;  // the case is left out, and says why
  }
  if (item.files.empty()) hash = item.part;  // of content in memory, the hash that the run's own files have
  return hash;
}

void AuditTrail::reads(const std::vector<std::size_t>& inputs, const AuditInputs& known) {
  for (const std::size_t input : inputs) hash_of_input(input, known);
}

void AuditTrail::write(AuditCase said) {
  said.command = "predict", said.version = VOXSHARD_VERSION, said.model = model_, said.id = plain_text(said.id);
  const std::int64_t torn = log_.torn_bytes();
  log_.append(said);
  if (log_.torn_bytes() > torn)
    progress_.warn("{audit}: a crash cut the last line short; its " + std::to_string(log_.torn_bytes() - torn) +
                   " bytes stay in the file, and line " + std::to_string(log_.number()) + " tells of them");
}

void AuditTrail::append(const PredictReport& report, const AuditInputs& known, bool finished) {
  for (; next_failure_ < report.failures.size(); ++next_failure_) {
    const CaseFailure& failure = report.failures[next_failure_];
    AuditCase said{.id = failure.id, .outcome = "failed", .code = failure.code};
    if (const auto input = known.failed.find(next_failure_); input != known.failed.end())
      said.input = hash_of_input(input->second, known);
    write(std::move(said));
  }
  std::map<fs::path, std::string> shared;  // hashes of outputs: of one that many cases share once
  const auto hash_of = [&](const fs::path& file) {
    const auto [it, is_new] = shared.emplace(file, "");
    if (is_new) it->second = file_sha256(file);
    return it->second;
  };
  for (; next_case_ < report.cases.size(); ++next_case_) {
    const PredictedCase& done = report.cases[next_case_];
    if (!finished && done.file == options_.output) return;
    const std::size_t input = known.done.at(next_case_);
    AuditCase said{.id = done.id,
                   .outcome = known.kept.at(next_case_) != 0 ? "kept" : "predicted",
                   .input = hash_of_input(input, known),
                   .outputs = {hash_of(done.file)}};
    if (const auto more = known.more.find(input); more != known.more.end())
      for (const fs::path& file : more->second) said.outputs.push_back(hash_of(file));
    write(std::move(said));
  }
}

void AuditTrail::append_one(const std::string& id, std::optional<std::size_t> input, const AuditInputs& known,
                            const Error* error) {
  AuditCase said{.id = id, .outcome = error != nullptr ? "failed" : "predicted"};
  if (input) said.input = hash_of_input(*input, known);
  if (error != nullptr)
    said.code = error->code();
  else
    said.outputs = {file_sha256(options_.output)};
  write(std::move(said));
}

}  // namespace voxshard
