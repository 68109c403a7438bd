// Files of an input folder that a command does not read, counted and named for the log and the report. Names are shown
// only where outputs carry the names of files anyway: names of folders may be those of patients.
//
//   ForeignFiles foreign{.files = {"inbox/notes.txt"}, .folder = "inbox"};
//   text_of(foreign)                    // "1 file that is no input: notes.txt"
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace voxshard {

struct ForeignFiles {
  std::vector<std::filesystem::path> files = {};  // sorted
  std::filesystem::path folder = {};              // the input, below which they are named
  std::int64_t links = 0;                         // links to files outside of the folder, which are not followed
  std::int64_t folders = 0;                       // folders that were not entered
  bool is_tree = false;                           // folders were entered, but those too deep or not readable
  bool shows_names = false;                       // false: endings of a fixed list stand for the names

  bool any() const { return !files.empty() || links > 0 || folders > 0; }
};

/// Returns "3 files that are no inputs (2 .txt, 1 of another kind), 1 link that leads out of the folder"; empty when
/// there are none. Up to 10 names are listed where names are shown.
std::string text_of(const ForeignFiles& foreign);

/// Returns the end of the message that a folder holds no input: " (but 2 files that are no inputs (2 .txt)); what is
/// read: voxshard help formats".
///   instead  what it holds; may be empty
std::string none_found_text(const std::string& instead);

/// {"files", "links", "folders", "kinds": {".txt": 2, "other": 1}, "names"}: all names below the folder, where they are
/// shown.
nlohmann::ordered_json to_json(const ForeignFiles& foreign);

}  // namespace voxshard
