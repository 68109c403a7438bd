// The audit of a batch of `predict`: a line in an audit file (io/audit/audit_log.h) for each case that was predicted,
// kept or left out, before the case counts as done. Hashes are SHA-256, so that others can check them with `sha256sum`.
//
//   options.task.of<AuditRequest>().file = "/var/log/voxshard/audit.jsonl";
//
// Cases with an output of their own get their line when it is written; cases that share one output, such as the JSON
// file of all images, get theirs when that is written, in their order. Rank 0 alone writes.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/audit/audit_log.h"
#include "pipelines/engine/case_hashes.h"
#include "pipelines/engine/requests.h"
#include "pipelines/model_runs/trained_run.h"

namespace voxshard {

/// Asked for by the command, for all tasks: it is among the options of the tasks.
struct AuditRequest {
  std::filesystem::path file;  // empty: there is no audit
};

/// What the batch knows of its inputs, by their index.
struct AuditInputs {
  std::vector<HashedCase> files = {};                                   // of each input
  std::vector<std::size_t> done = {};                                   // the input of each of PredictReport::cases
  std::map<std::size_t, std::size_t> failed = {};                       // the input of each of PredictReport::failures
  std::map<std::size_t, std::vector<std::filesystem::path>> more = {};  // further outputs of an input
  std::vector<char> kept = {};                                          // of each of PredictReport::cases
};

class AuditTrail {
 public:
  /// Opens the file and hashes the checkpoints. Errors: kUsage and kOutput for a file that cannot be the audit; kInput
  /// for a checkpoint that cannot be read.
  AuditTrail(const PredictOptions& options, TrainedRun& run, Progress& progress);

  /// Hashes the files of inputs that are predicted next.
  void reads(const std::vector<std::size_t>& inputs, const AuditInputs& known);
  /// Appends what ended since the last call. Errors: kOutput.
  ///   finished  the outputs that cases share are written
  void append(const PredictReport& report, const AuditInputs& known, bool finished);
  /// Says that so many of the cases and failures that were appended have left the report.
  void dropped(std::size_t cases, std::size_t failures) { next_case_ -= cases, next_failure_ -= failures; }
  /// Appends a case that has no place in the report: the one at hand when an error ends the batch, or a video that is
  /// one stream. `error`: null: it was predicted into the output.
  void append_one(const std::string& id, std::optional<std::size_t> input, const AuditInputs& known,
                  const Error* error);

 private:
  void write(AuditCase said);
  std::string hash_of_input(std::size_t input, const AuditInputs& known);

  const PredictOptions& options_;
  Progress& progress_;
  AuditLog log_;
  std::string model_;
  std::map<std::size_t, std::string> inputs_;  // hashes by input
  std::size_t next_case_ = 0, next_failure_ = 0;
};

}  // namespace voxshard
