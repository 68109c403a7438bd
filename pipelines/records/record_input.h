// The TFRecord files that a command reads, and their records one by one. Damage affects only its record, or the rest of
// the file when the next record cannot be found; the error names file and record.
//
//   const auto inputs = record_inputs("records", failures);
//   const RecordShare share = share_of(inputs, 4, threads);          // share.workers of them side by side
//   for_each_record(inputs[0], share.limits, failures, [](std::int64_t number, const TfExample& example) { ... });
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "io/records/record_file.h"
#include "io/records/tf_example.h"
#include "libcore/base/error.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

/// Returns a kInput error about the content of a record; for_each_record() adds file and record number.
///   code  "E_SHAPE"
inline Error record_error(const char* code, const std::string& what) { return Error(ErrorKind::kInput, code, what); }

struct RecordInput {
  std::filesystem::path file;
  std::string id;  // id of its samples: the file's name without ending; a plain name, unique among the inputs
};

/// Returns the file itself, or the files of a folder with names of TFRecord files, sorted by name. Files whose names
/// cannot be used as ids become failures. Errors: kInput when the path is missing; kNoCase when the folder has none.
std::vector<RecordInput> record_inputs(const std::filesystem::path& path, std::vector<CaseFailure>& failures);

/// Calls `body` with each intact record; the first is 1. Errors of kind kInput, also those of `body`, become failures
/// "FILE record N"; after a thousand one failure counts all others; other errors pass.   Returns the number of records
/// that were processed without an error.
std::int64_t for_each_record(const RecordInput& input, const RecordLimits& limits, std::vector<CaseFailure>& failures,
                             const std::function<void(std::int64_t number, const TfExample& example)>& body);

/// The number of workers, and the limits for each of them.
struct RecordShare {
  int workers = 1;
  RecordLimits limits;
};

/// Returns as many workers, at most `threads`, as fit into the free memory when each takes `times` the largest record.
/// A record that would take more than its worker's share is E_BUDGET; one in a gzip file that unpacks to more than any
/// real sample would (VolumeLimits) is E_SIZE.
RecordShare side_by_side(std::int64_t largest_bytes, std::int64_t times, int threads);
/// The same for `free_bytes` of free memory; 0: unknown.
RecordShare side_by_side(std::int64_t largest_bytes, std::int64_t times, int threads, std::int64_t free_bytes);
/// The same for these files; the largest record is estimated from the first one of each file.
RecordShare share_of(const std::vector<RecordInput>& inputs, std::int64_t times, int threads);

}  // namespace voxshard
