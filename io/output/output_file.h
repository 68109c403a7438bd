// Checks for the single file that a command writes to a path given by the user: a summary, a profile, a video with
// boxes. A mistyped path destroys nothing: the file is new or an earlier one of the same kind, and lies in no folder
// that is a data set or the output of another command.
//
//   const OutputKind kScores = {"scores of voxshard evaluate", {".json"}, begins_with({R"({"AP":)"})};
//   require_output_file("scores.json", kScores, {.inputs = {found, truth}});
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace voxshard {

struct OutputKind {
  std::string name;                                           // "scores of voxshard evaluate"
  std::vector<std::string> endings;                           // allowed endings of the name: {".json"}
  std::function<bool(const std::filesystem::path&)> is_ours;  // true for an existing file of this kind
};

/// Returns a test for text files that begin with one of these texts, blanks and line ends left out.
std::function<bool(const std::filesystem::path&)> begins_with(std::vector<std::string> beginnings);
/// Returns a test for files whose last 4096 bytes contain `text`.
std::function<bool(const std::filesystem::path&)> ends_around(std::string text);

/// True for a folder that `train` began.
bool is_run_folder(const std::filesystem::path& folder);

struct OutputPlace {
  std::vector<std::filesystem::path> inputs = {};  // files and folders that the command reads; empty ones do not count
  std::filesystem::path own = {};                  // a folder of this command, in which the file may lie
  std::string option = "{output}";                 // the option that gives the file, for messages
};

/// Checks that `file` may be written; called before any work is done. An empty path passes. Errors: kUsage for a name
/// with another ending and as require_outside; kOutput when a file of another kind has this name (or that of
/// incomplete_path()), or when a folder above it is the output of another command or a data set.
void require_output_file(const std::filesystem::path& file, const OutputKind& kind, const OutputPlace& place = {});

}  // namespace voxshard
