// Checks of names that are read from files (cases, images, folds) and become parts of paths. A name is one plain
// component: "../../x" or "/etc/x" in a data set cannot lead outside of the folder that the command line names.
//
//   write_volume(named_file(work / "images", item.id, ".nii"), image);    // E_NAME for an id such as "../../x"
//   open(named_path(folder, "train/cells_03.png"));                        // folders below are plain names too
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace voxshard {

/// Longest name without an ending, in bytes. File systems allow 255; the rest is for endings and the prefix of
/// temporary files.
inline constexpr std::size_t kMostNameBytes = 200;
/// Longest name with its ending, in bytes.
inline constexpr std::size_t kMostFileNameBytes = 255;

/// Returns the reason why `name` is not one plain component of a path; empty when it is. A plain name has 1 to
/// `most_bytes` bytes of UTF-8, no slash or backslash, no terminal control characters (text_problem) and no dot in
/// front (hidden files, "..", and our temporary files).
std::string name_problem(std::string_view name, std::size_t most_bytes = kMostNameBytes);

/// Returns the reason why a text from outside (the name of a class, of a data set) cannot be printed as it is: bytes
/// that are not UTF-8, or terminal control characters (libcore/base/plain_text.h); empty when it can.
std::string text_problem(std::string_view text);

/// The same as name_problem() for a path of plain names below a folder: not absolute, no ".."; "./" in front is
/// allowed.
std::string relative_path_problem(std::string_view path, std::size_t most_bytes = kMostNameBytes);

/// Throws kInput E_NAME when the name of a file that was found is not UTF-8: results and lists are JSON, which would
/// change such a name.
///   name  the file's name alone, or with its folders below the given one
void require_utf8_name(std::string_view name);

/// Returns a name for messages and tables: control characters as \x1b, cut to about `most_bytes`.
std::string shown_name(std::string_view name, std::size_t most_bytes = 80);

/// FOLDER/NAME + ENDING. Errors: kInput E_NAME when `name` is not plain.
std::filesystem::path named_file(const std::filesystem::path& folder, const std::string& name,
                                 std::string_view ending = "");

/// FOLDER/PATH. Errors: kInput E_NAME as relative_path_problem.
std::filesystem::path named_path(const std::filesystem::path& folder, const std::string& path);

/// Returns true when `path` is `folder` or lies below it. Links are followed; neither need exist.
bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace voxshard
