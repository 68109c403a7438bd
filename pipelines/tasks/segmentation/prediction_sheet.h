// `voxshard report PREDICTIONS`: the contact sheet of a folder of predicted label maps. Images are those to which the
// folder's case_paths.jsonl leads, or those of a folder that is given, by their names; a case without one is shown by
// its labels alone.
//
//   TaskReport report = prediction_sheet({.predictions = "pred", .images = "data/imagesTs", .file =
//   "pred/report.html"},
//                                        progress);
#pragma once

#include "pipelines/engine/requests.h"

namespace voxshard {

/// Writes the page, whole or not at all; a label map that cannot be read is left out, and the report is then partial.
/// Errors: kNoCase for a folder without a label map that can be read; kInput for images that are missing; kOutput;
/// Stopped.   Cost: reads every label map and its image, one after the other.
TaskReport prediction_sheet(const SheetRequest& request, Progress& progress);

}  // namespace voxshard
