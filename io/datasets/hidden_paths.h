// Takes paths out of texts. Folders and files in hospitals are named after patients, and errors about a file begin with
// its path.
//
//   without_paths("[input] /data/MEIER/ct/1.dcm: is cut", item)      // "[input] the image: is cut"
#pragma once

#include <filesystem>
#include <string>

#include "io/datasets/dataset.h"

namespace voxshard {

/// Returns the text with a path, and the name of its file, replaced.
std::string without_path(std::string text, const std::filesystem::path& path, const std::string& by);

/// Returns the text with every path that begins with a folder replaced up to its end; the folder's name stays where it
/// stands alone.
std::string without_paths_below(std::string text, const std::filesystem::path& folder, const std::string& by);

/// Returns the text with all paths of the case replaced: those of its files, of the folders that hold them, and of any
/// other file in these folders.
std::string without_paths(std::string text, const Case& item);

/// Returns the name of a file for messages: its own, or for an anonymous case what it is.
///   what  "image", "label map"
std::string shown_file(const Case& item, const std::filesystem::path& file, const std::string& what);

}  // namespace voxshard
