// A run that goes on with data that are not what they were ({accept-changes}): what is gone, changed or new, what the
// run keeps of how it began, and the record of it, in checkpoints and run.json.
//
//   const RunHistory history = history_of("run");
//   if (history.changed || o.accept_changes) data.kept = splits_of_run("run");     // nothing changes sides
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

/// The key of run.json with the changes that were accepted so far, a list.
inline constexpr const char* kDataChanges = "data_changes";

/// Of an earlier call, by its run.json.
struct RunHistory {
  bool changed = false;    // its data did since it began
  std::int64_t cases = 0;  // that it trained on when it began, by which epochs are counted; 0: not told
};
/// Errors: kCheckpoint when run.json is broken.
RunHistory history_of(const std::filesystem::path& run);

/// What trained and what validated, by splits_final.json; empty where the run has none. Errors: kInput.
std::vector<KeptSplit> splits_of_run(const std::filesystem::path& run);

struct DataChange {
  std::vector<std::string> gone, changed, added;
  bool any() const { return !gone.empty() || !changed.empty() || !added.empty(); }
};
/// Of two CheckpointState::content.
DataChange data_change(const nlohmann::json& theirs, const nlohmann::json& mine);
/// "2 are gone (train/a.png, validate/b.png), 1 has changed (train/c.png)".
std::string to_text(const DataChange& change);
nlohmann::ordered_json to_json(const DataChange& change);

/// Fields of a description that the data decide and that may be others when changes are accepted.
bool may_change_with_data(const std::string& field);

}  // namespace voxshard
