// Runs the built command as a user does, and hands back its exit code and what it printed.
//
//   CommandResult r = run_voxshard("prepare /nowhere -o work --json");
//   EXPECT_EQ(r.exit_code, 3);
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/json_schema/json_schema.h"
#include "tests/scratch_folder.h"

namespace voxshard {

struct CommandResult {
  int exit_code = -1;
  std::string out, err;
  std::string command = {};  // whose schema its document obeys; empty: another program's
  /// Parses standard output as one JSON document; the value is_discarded() when it is not exactly one. One that does
  /// not obey the schema of its command fails the test.
  nlohmann::json json() const {
    const auto document = nlohmann::json::parse(out, nullptr, false);
    if (!command.empty() && !document.is_discarded()) {
      EXPECT_EQ(schema_problem(command, document), "") << command;
    }
    return document;
  }
  std::string error_kind() const { return json().at("error").at("kind"); }
};

using Folder = ScratchFolder;

inline std::string file_text(const std::string& path) { return read_bytes(path); }

/// `redirections`: further ones after those of the streams, "2>&-". `before`: words before the command, "ulimit -v
/// 4000000; exec".
inline CommandResult run_voxshard(const std::string& arguments, const std::string& redirections = "",
                                  const std::string& before = "") {
  Folder streams("streams");
  const std::string out = streams / "out", err = streams / "err";
  const std::string command =
      before + " " + VOXSHARD_BINARY + " " + arguments + " >" + out + " 2>" + err + " " + redirections;
  const int status = std::system(command.c_str());
  CommandResult result{
      .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), .out = {}, .err = {}};
  result.out = file_text(out), result.err = file_text(err), result.command = command_of(arguments);
  return result;
}

}  // namespace voxshard
