// README.md's table for users of the original: every row's command runs, in the order in which they stand, and leaves
// what it names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;

struct Row {
  std::string there, here, command;
};

/// The rows of the table under `heading`, the command without its quotes.
std::vector<Row> rows_of(const std::string& markdown, const std::string& heading) {
  std::istringstream in(markdown);
  std::vector<Row> rows;
  bool under = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) under = line.ends_with(" " + heading);
    if (!under || !line.starts_with("| ") || !line.ends_with("` |")) continue;  // the head of the table ends otherwise
    const std::size_t first = line.find(" | "), second = line.find(" | ", first + 3);
    const std::string last = line.substr(second + 3);
    rows.push_back(
        {line.substr(2, first - 2), line.substr(first + 3, second - first - 3), last.substr(1, last.size() - 4)});
  }
  return rows;
}

/// The files and folders that the options of a command name as its outputs.
std::vector<std::string> outputs_of(const std::string& command) {
  std::istringstream in(command);
  std::vector<std::string> outputs;
  for (std::string word, before; in >> word; before = word)
    if (before == "-o" || before == "--draw" || before == "--trace" || before == "demo") outputs.push_back(word);
  return outputs;
}

TEST(ReadmeTable, IsReadAsItStands) {
  const auto rows = rows_of(
      "## A\n| x | y | `no` |\n### B\n| there | here | e |\n|---|---|---|\n| a b | c `d` | `run -o \"e f\" --draw "
      "g.png` |\n## C\n| x | y | `no` |\n",
      "B");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].there, "a b");
  EXPECT_EQ(rows[0].here, "c `d`");
  EXPECT_EQ(rows[0].command, "run -o \"e f\" --draw g.png");
  EXPECT_EQ(outputs_of("voxshard train work -o run --trace t.json"), (std::vector<std::string>{"run", "t.json"}));
}

TEST(ReadmeTable, EveryCommandRunsAndLeavesWhatItNames) {
  const auto rows = rows_of(file_text(VOXSHARD_SOURCE_DIR "/README.md"), "From Cloud TPU");
  ASSERT_GE(rows.size(), 15u);
  Folder folder("readme");
  const std::string program = std::filesystem::path(VOXSHARD_BINARY).parent_path();
  for (const Row& row : rows) {
    const std::string log = folder / "log";
    const int status = std::system(
        ("cd " + (folder / "") + " && export PATH=" + program + ":$PATH && " + row.command + " >" + log + " 2>&1")
            .c_str());
    EXPECT_EQ(WEXITSTATUS(status), 0) << row.there << ": " << row.command << "\n" << file_text(log);
    for (const std::string& output : outputs_of(row.command))
      EXPECT_TRUE(std::filesystem::exists(folder / output)) << row.command;
  }
}

TEST(ReadmeTable, WhatAUserLooksForIsThere) {
  std::string all;
  for (const Row& row : rows_of(file_text(VOXSHARD_SOURCE_DIR "/README.md"), "From Cloud TPU")) all += row.there + "\n";
  for (const char* word : {"bucket", "slice", "input_partition_dims", "TPUEstimator.train", "TPUEstimator.evaluate",
                           "TPUEstimator.predict", "batch = k x cores", "iterations_per_loop", "Systrace",
                           "cloud-tpu-profiler", "TensorBoard", "checkpoint", "RetinaNet",
                           "per_host_input_for_training", "tfrecords", "YAML", "no TPU"})
    EXPECT_THAT(all, HasSubstr(word));
}

}  // namespace
}  // namespace voxshard
