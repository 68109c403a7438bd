// The files of a folder and of the folders in it, for `predict {recursive}`, and what outputs call them. Folders and
// files in hospitals are named after patients, and two folders often hold files of one name: inputs below a folder are
// numbered, and only a file for its owner leads back, as case_paths.jsonl does; or outputs name their paths where that
// is asked for.
//
//   const InputTree tree = files_below("inbox");
//   const NamedInputs named = name_inputs(tree.files, {.folder = "inbox", .earlier = names_file_of("found.json")});
//   named.names[0]                                           // "case_0001", the same in a later call
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "io/datasets/case_ids.h"
#include "pipelines/engine/requests.h"
#include "pipelines/settings/setting.h"

namespace voxshard {

struct InputTree {
  std::vector<std::filesystem::path> files;  // regular files, sorted, without hidden ones
  std::int64_t links = 0;                    // links to files outside of the folder, which are left out
  std::int64_t folders = 0;                  // folders that are too deep or cannot be read
};

/// Returns the files below a folder, up to 16 folders deep. Links to folders, and those that lead out of the folder,
/// are not followed. Errors: kInput for more than a million files, or when the folder cannot be read.
InputTree files_below(const std::filesystem::path& folder);

/// Returns the files directly in a folder as foreign ones, sorted, without hidden ones, and counts the folders in it.
ForeignFiles foreign_in(const std::filesystem::path& folder);

/// True for a link that leads out of a folder.
bool leads_out(const std::filesystem::path& file, const std::filesystem::path& folder);

/// Returns the files below a folder, of a task that takes those for which `is_input` is true; the others become
/// `foreign`. Errors: as files_below(); kNoCase when there is none.
///   what  "picture", for the message
std::vector<std::filesystem::path> inputs_below(const std::filesystem::path& folder, const std::string& what,
                                                const std::function<bool(const std::filesystem::path&)>& is_input,
                                                ForeignFiles& foreign);

/// Returns a path below a folder as one text that a JSON file can hold: "a/b.png", of a volume that is no file of its
/// own "a/ct_77dddbdf335a", and a hash of what is no UTF-8.
std::string name_below(const std::filesystem::path& path, const std::filesystem::path& folder);

struct InputNaming {
  std::filesystem::path folder;   // below which the files lie
  bool keep_names = false;        // they are called by their paths
  std::filesystem::path earlier;  // file of the names that an earlier call gave; may be missing
};

struct NamedInputs {
  std::vector<std::string> names;  // by file
  CaseNames paths;                 // what leads back from them; empty where they are paths
};

/// Errors: kInput when the file of earlier names is damaged.
NamedInputs name_inputs(const std::vector<std::filesystem::path>& files, const InputNaming& naming);

/// Returns how the inputs of a prediction into one file are named.
InputNaming input_naming(const PredictOptions& options, bool keep_names);

/// Returns the setting of names, the same for all tasks.
Setting keep_names_setting(bool& keep_names);

/// Returns the setting of the drawings, the same for all tasks that draw.
Setting draw_setting(std::filesystem::path& draw);

/// Returns the setting of the largest image or frame, the same for all commands but `evaluate`, which has its own help.
Setting most_pixels_setting(
    std::int64_t& most_pixels,
    const std::string& help = "Pixels of a picture or frame; what has more is left out with E_SIZE");

}  // namespace voxshard
