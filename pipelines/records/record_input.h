// The TFRecord files that a command reads, and their records one by one: what is damaged costs its record, or the rest
// of its file where the next record cannot be found, and is named with both.
//
//   for (const RecordInput& input : record_inputs("records", failures))
//     for_each_record(input, {}, failures, [](std::int64_t number, const TfExample& example) { ... });
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "io/records/record_file.h"
#include "io/records/tf_example.h"
#include "pipelines/runs/report.h"

namespace voxshard {

struct RecordInput {
  std::filesystem::path file;
  std::string id;  // of its samples: the file's name without ending; a plain name, and no other input's
};

/// The file itself, or the files of a folder that are named as TFRecord files are, by name. Those whose names cannot be
/// taken over are failures. Errors: kInput when the path is missing; kNoCase when the folder has none.
std::vector<RecordInput> record_inputs(const std::filesystem::path& path, std::vector<CaseFailure>& failures);

/// Calls `body` with each record that is whole; the first is 1. Errors of kind kInput, also those of `body`, become
/// failures "FILE record N"; others pass.   Returns how many records came to their end.
std::int64_t for_each_record(const RecordInput& input, std::int64_t most_bytes, std::vector<CaseFailure>& failures,
                             const std::function<void(std::int64_t number, const TfExample& example)>& body);

/// How many of the inputs are read side by side so that `times` the largest file for each stays within memory.
int side_by_side(std::int64_t largest_bytes, std::int64_t times, int threads);

}  // namespace voxshard
