// The TFRecord files that a command reads, and their records one by one: what is damaged costs its record, or the rest
// of its file where the next record cannot be found, and is named with both.
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

/// An error about what a record holds, which names itself: kInput.
///   code  "E_SHAPE"
inline Error record_error(const char* code, const std::string& what) { return Error(ErrorKind::kInput, code, what); }

struct RecordInput {
  std::filesystem::path file;
  std::string id;  // of its samples: the file's name without ending; a plain name, and no other input's
};

/// The file itself, or the files of a folder that are named as TFRecord files are, by name. Those whose names cannot be
/// taken over are failures. Errors: kInput when the path is missing; kNoCase when the folder has none.
std::vector<RecordInput> record_inputs(const std::filesystem::path& path, std::vector<CaseFailure>& failures);

/// Calls `body` with each record that is whole; the first is 1. Errors of kind kInput, also those of `body`, become
/// failures "FILE record N", after a thousand one for all others; other errors pass.   Returns how many records came to
/// their end.
std::int64_t for_each_record(const RecordInput& input, const RecordLimits& limits, std::vector<CaseFailure>& failures,
                             const std::function<void(std::int64_t number, const TfExample& example)>& body);

/// How many workers there are, and what one of them may read.
struct RecordShare {
  int workers = 1;
  RecordLimits limits;
};

/// So many side by side that `times` the largest for each stays within the memory that is free; a record that would
/// take more than its worker's share is E_BUDGET, one of a gzip file that unpacks as no sample does E_SIZE
/// (VolumeLimits).
RecordShare side_by_side(std::int64_t largest_bytes, std::int64_t times, int threads);
/// Of `free_bytes` of memory; 0: nothing says.
RecordShare side_by_side(std::int64_t largest_bytes, std::int64_t times, int threads, std::int64_t free_bytes);
/// Of these files, by the first record of each.
RecordShare share_of(const std::vector<RecordInput>& inputs, std::int64_t times, int threads);

}  // namespace voxshard
