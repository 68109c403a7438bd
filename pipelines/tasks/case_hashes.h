// What the cases of a run hold, as one hash each: for checkpoints, so that a run does not go on with data that were
// changed in between.
//
//   case_hashes({{.name = "train/liver_03", .files = {"images/liver_03.nii", "labels/liver_03.nii"}}}, pool, progress)
//   ->  {"train/liver_03": "99aa06d3014798d86001c324468d497f"}
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libcore/base/parallel.h"
#include "pipelines/runs/report.h"

namespace voxshard {

struct HashedCase {
  std::string name;                          // cases that share one get one hash of all of them
  std::vector<std::filesystem::path> files;  // each file is read once, however many cases it belongs to
  std::string text = {};                     // what belongs to the case but stands in no file of its own
  std::map<std::filesystem::path, std::string> known = {};  // hashes of files that are not read again
};

/// In the order of `cases`. Errors: kInput for a file that cannot be read.
nlohmann::ordered_json case_hashes(const std::vector<HashedCase>& cases, WorkerPool& pool, Progress& progress);

}  // namespace voxshard
