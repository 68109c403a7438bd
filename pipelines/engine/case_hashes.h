// What the cases of a run hold, as one hash each: for checkpoints, so that a run does not go on with data that were
// changed in between; and as keys by which an input is known as one that was trained on, whatever it is called.
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
#include "pipelines/model_runs/report.h"

namespace voxshard {

struct HashedCase {
  std::string name;                                         // cases that share one get one hash of all of them
  std::vector<std::filesystem::path> files;                 // each file is read once, however many cases it belongs to
  std::string text = {};                                    // what belongs to the case but stands in no file of its own
  std::map<std::filesystem::path, std::string> known = {};  // hashes of files that are not read again
  std::string part = {};  // of a file that holds many items, which it is: "#frame=17"; without files
                          // a hash of what the item holds
  bool trains = false;    // else it validates
};

struct CaseHashes {
  nlohmann::ordered_json cases;      // by name, in the order of the cases
  std::vector<std::string> trained;  // the keys of those that train
};

/// Errors: kInput for a file that cannot be read.
CaseHashes case_hashes(const std::vector<HashedCase>& cases, WorkerPool& pool, Progress& progress);

/// The keys of each item, one for each of its files; none for one that cannot be read, of which its turn says why.
std::vector<std::vector<std::string>> item_keys(const std::vector<HashedCase>& items, WorkerPool& pool,
                                                Progress& progress);

}  // namespace voxshard
