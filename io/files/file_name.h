// Names that are read out of files (cases, images, folds) and become parts of paths. A name is one plain component:
// whoever writes "../../x" or "/etc/x" into a data set stays inside the folder that was named on the command line.
//
//   write_volume(named_file(work / "images", item.id, ".nii"), image);    // E_NAME for an id such as "../../x"
//   open(named_path(folder, "train/cells_03.png"));                        // folders below are plain names too
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace voxshard {

/// Of the 255 bytes that file systems allow, the rest is for endings and the mark of a temporary file.
inline constexpr std::size_t kMostNameBytes = 200;
/// Of a name that has its ending.
inline constexpr std::size_t kMostFileNameBytes = 255;

/// What keeps `name` from being one plain component of a path; empty when nothing does. Plain is: 1 to `most_bytes` of
/// UTF-8, no slash of either kind, nothing that steers a screen (text_problem), no dot in front (hidden, "..", or one
/// of our temporary files).
std::string name_problem(std::string_view name, std::size_t most_bytes = kMostNameBytes);

/// What keeps a text from outside (the name of a class, of a data set) from being shown as it is: bytes that are no
/// UTF-8, and what steers a screen (libcore/base/plain_text.h); empty when nothing does.
std::string text_problem(std::string_view text);

/// The same for a path of plain names below a folder: not absolute, nothing leads upwards; "./" in front is allowed.
std::string relative_path_problem(std::string_view path, std::size_t most_bytes = kMostNameBytes);

/// Errors: kInput E_NAME for a file that was found under a name that is no UTF-8: results and lists are JSON, from
/// which it would come back as another name.
///   name  of the file alone, or with the folders below the one that was given
void require_utf8_name(std::string_view name);

/// A name for messages and tables: what steers a screen as \x1b, and about `most_bytes` of it.
std::string shown_name(std::string_view name, std::size_t most_bytes = 80);

/// FOLDER/NAME + ENDING. Errors: kInput E_NAME when `name` is not plain.
std::filesystem::path named_file(const std::filesystem::path& folder, const std::string& name,
                                 std::string_view ending = "");

/// FOLDER/PATH. Errors: kInput E_NAME as relative_path_problem.
std::filesystem::path named_path(const std::filesystem::path& folder, const std::string& path);

/// Whether a path is that folder or lies below it, links followed, and whether it is there or not.
bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace voxshard
