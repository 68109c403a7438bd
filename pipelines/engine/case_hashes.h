// Content hashes of the cases of a run, one each. Checkpoints hold them, so that a run does not resume on data that
// were changed in between; they are also the keys that recognise an input as one that was trained on, whatever its
// name.
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
  std::string name;                                         // cases with the same name share one hash of all of them
  std::vector<std::filesystem::path> files;                 // each file is read once, however many cases it belongs to
  std::string text = {};                                    // content of the case that is in no file of its own
  std::map<std::filesystem::path, std::string> known = {};  // hashes of files that are not read again
  std::string part = {};     // the item's place in a file that holds many items: "#frame=17"; without files
                             // a hash of the item's content
  bool trains = false;       // false: the case is for validation
  std::string content = {};  // of an input of predict, a hash of its keys; empty: it cannot be read
  std::string times = {};    // and times_of() before its files were read for that
};

struct CaseHashes {
  nlohmann::ordered_json cases;            // by name, in the order of the cases
  std::vector<std::string> trained;        // the keys of the training cases
  std::vector<std::string> held_out = {};  // the keys of the validation cases
};

/// Errors: kInput for a file that cannot be read.
CaseHashes case_hashes(const std::vector<HashedCase>& cases, WorkerPool& pool, Progress& progress);

/// Returns the keys of each item, one for each of its files. An item with an unreadable file has no keys; the error is
/// reported when the item is processed.
std::vector<std::vector<std::string>> item_keys(const std::vector<HashedCase>& items, WorkerPool& pool,
                                                Progress& progress);

/// Returns a hash of the sizes and times of an item's files: another one when a file was written since.
std::string times_of(const HashedCase& item);

}  // namespace voxshard
