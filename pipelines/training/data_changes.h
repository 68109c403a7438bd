// A run that is resumed with changed data ({accept-changes}): the cases that are gone, changed or new, the splits that
// the run keeps from its start, and the record of the change in checkpoints and run.json.
//
//   const RunHistory history = history_of("run");
//   if (history.changed || o.accept_changes) data.kept = splits_of_run("run");     // no case changes sides
//   const DataChange change = data_change(theirs.content, mine.content);
//   progress.warn(to_text(change));  state.changes.push_back(to_json(change));
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipelines/engine/requests.h"

namespace voxshard {

/// The key of run.json with the list of changes accepted so far.
inline constexpr const char* kDataChanges = "data_changes";

/// The key of run.json and checkpoints that says with which weights the run began (fine_tuning.h).
inline constexpr const char* kFrom = "from";

/// "a, b, c": at most ten names, then ", ...".
std::string names_text(const std::vector<std::string>& names);

/// The history of a run from earlier calls, read from its run.json.
struct RunHistory {
  bool changed = false;        // true: its data changed since it began
  std::filesystem::path from;  // the run whose weights it began with; empty: none
  std::string from_hash;       // of that run's checkpoint
  std::int64_t cases = 0;      // training cases when it began, by which epochs are counted; 0: unknown
};
/// Errors: kCheckpoint when run.json is broken.
RunHistory history_of(const std::filesystem::path& run);

/// Returns the training and validation splits from splits_final.json; empty when the run has none. Errors: kInput.
std::vector<KeptSplit> splits_of_run(const std::filesystem::path& run);

struct DataChange {
  std::vector<std::string> gone, changed, added;
  bool any() const { return !gone.empty() || !changed.empty() || !added.empty(); }
};
/// Returns the difference of two CheckpointState::content.
DataChange data_change(const nlohmann::json& theirs, const nlohmann::json& mine);
/// "2 are gone (train/a.png, validate/b.png), 1 has changed (train/c.png)".
std::string to_text(const DataChange& change);
nlohmann::ordered_json to_json(const DataChange& change);

/// True for fields of a description that depend on the data and may differ when changes are accepted.
bool may_change_with_data(const std::string& field);

}  // namespace voxshard
