// `voxshard convert`: TFRecord files of the reference models to folders that the other commands read, and back; boxes
// in images to a folder per class.
//
//   TaskReport r = run_convert({.input = "records", .output = "data"}, ConvertTo::kFolder, progress);
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/records/convert_request.h"

namespace voxshard {

enum class ConvertTo { kFolder, kRecords, kClasses };

/// Returns the default direction for a path: TFRecord files become a folder, all else becomes TFRecord files.
ConvertTo convert_direction(const std::filesystem::path& input);

/// Errors: kInput, kNoCase when nothing can be converted, kOutput; Stopped.
TaskReport run_convert(const ConvertRequest& request, ConvertTo to, Progress& progress);

}  // namespace voxshard
