// The single file that a command writes where its user says: a summary, a profile, a video with boxes. A mistyped path
// costs nothing that was there: the file is new, or an earlier one of the same kind, and lies in no folder that is a
// data set or was filled by a command.
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
  std::vector<std::string> endings;                           // one of which the file's name has: {".json"}
  std::function<bool(const std::filesystem::path&)> is_ours;  // whether a file that is there is one of this kind
};

/// Text files that begin with one of these, blanks and line ends left out.
std::function<bool(const std::filesystem::path&)> begins_with(std::vector<std::string> beginnings);
/// Files whose last 4096 bytes hold `text`.
std::function<bool(const std::filesystem::path&)> ends_around(std::string text);

struct OutputPlace {
  std::vector<std::filesystem::path> inputs = {};  // that the command reads; empty ones do not count
  std::filesystem::path own = {};                  // a folder of this command, in which the file may lie
  std::string option = "{output}";                 // that names the file, for messages
};

/// For a file to be written, before anything else is done; an empty path is none. Errors: kUsage for a name with
/// another ending and as require_outside; kOutput when something else has this name (or that of incomplete_path()), or
/// a folder above is another command's or a data set.
void require_output_file(const std::filesystem::path& file, const OutputKind& kind, const OutputPlace& place = {});

}  // namespace voxshard
