// `voxshard convert`: TFRecord files of the reference models to folders that the other commands read, and back; boxes
// in images to a folder per class; one volume of any format, such as a DICOM series, to NIfTI; data sets and folders of
// volumes to nnU-Net.
//
//   TaskReport r = run_convert({.input = "records", .output = "data"}, ConvertTo::kFolder, progress);
#pragma once

#include "pipelines/engine/requests.h"
#include "pipelines/records/convert_request.h"

namespace voxshard {

enum class ConvertTo { kFolder, kRecords, kClasses, kVolume, kNnunet };

/// Returns the direction for two paths: an output that is named like a volume takes one; else TFRecord files become a
/// folder, and all else becomes TFRecord files.
ConvertTo convert_direction(const std::filesystem::path& input, const std::filesystem::path& output);

/// Errors: kInput, kNoCase when nothing can be converted, kOutput; Stopped.
TaskReport run_convert(const ConvertRequest& request, ConvertTo to, Progress& progress);

}  // namespace voxshard
