// `voxshard convert`: TFRecord files of the reference models to folders that the other commands read, and back; boxes
// of images to a folder per class.
//
//   TaskReport r = run_convert({.input = "records", .output = "data"}, ConvertTo::kFolder, progress);
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/records/convert_request.h"

namespace voxshard {

enum class ConvertTo { kFolder, kRecords, kClasses };

/// What a path is converted to where nobody says: TFRecord files to a folder, all else to TFRecord files.
ConvertTo convert_direction(const std::filesystem::path& input);

/// Errors: kInput, kNoCase when nothing can be converted, kOutput; Stopped.
TaskReport run_convert(const ConvertRequest& request, ConvertTo to, Progress& progress);

}  // namespace voxshard
