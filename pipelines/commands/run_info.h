// `voxshard info`: reports the headers of files and folders, and the tasks' summaries of data sets. No voxel is read;
// the frames of videos are counted by decoding them.
//
//   InfoReport r = run_info({"liver_03.nii.gz", "Dataset001", "clip.mp4"}, {.threads = 2});
#pragma once

#include "pipelines/tasks/table/task_table.h"

namespace voxshard {

/// Errors: kInput when a path is missing or a single given file cannot be read; kNoCase for an empty folder.
InfoReport run_info(const std::vector<std::filesystem::path>& paths, const InfoOptions& options = {},
                    const TaskTable& tasks = task_table());
nlohmann::ordered_json to_json(const InfoReport& report);
std::string to_text(const InfoReport& report);

}  // namespace voxshard
