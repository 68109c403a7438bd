// Manual pages and the completion for bash, as the program prints them: pages pass mandoc's checks and name every
// option, and bash completes what the parser takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

/// Returns the options of each command, as `help options` lists them, without those of all.
const nlohmann::json& options_by_command() {
  static const nlohmann::json options = [] {
    auto all = run_voxshard("help options --json").json();
    all.erase("every command");
    return all;
  }();
  return options;
}

std::string with_minus_signs(const std::string& text) {
  std::string out;
  for (const char ch : text) out += ch == '-' ? std::string("\\-") : std::string(1, ch);
  return out;
}

TEST(ManualCli, EveryPagePassesMandoc) {
  if (std::system("mandoc -T lint -W warning /dev/null >/dev/null 2>&1; test $? -ne 127") != 0)
    GTEST_SKIP() << "no mandoc";
  const Folder folder("manual");
  std::vector<std::string> commands = {""};
  for (const auto& [command, options] : options_by_command().items()) commands.push_back(command);
  for (const std::string& command : commands) {
    folder.write("page.1", run_voxshard("help man " + command).out);
    const int status =
        std::system(("mandoc -T lint -W warning " + (folder / "page.1") + " >" + (folder / "log") + " 2>&1").c_str());
    EXPECT_EQ(status, 0) << command << ": " << file_text(folder / "log");
  }
}

TEST(ManualCli, APageNamesEveryOptionOfItsCommand) {
  const std::string program = run_voxshard("help man").out;
  for (const auto& [command, options] : options_by_command().items()) {
    const CommandResult r = run_voxshard("help man " + command);
    EXPECT_EQ(r.exit_code, 0) << command;
    for (const auto& option : options)
      for (const auto& name : option.at("names"))
        EXPECT_THAT(r.out, HasSubstr("\\fB" + with_minus_signs(name.get<std::string>()) + "\\fR")) << command;
    EXPECT_THAT(r.out, HasSubstr("\\fB\\-\\-threads\\fR")) << command;
    EXPECT_THAT(program, HasSubstr("\n\\fB" + command + "\\fR\n"));
  }
}

TEST(ManualCli, WhatIsNotThereIsAMistakeOnTheCommandLine) {
  for (const auto& [words, piece] : std::vector<std::pair<std::string, std::string>>{
           {"help man trian", "did you mean train?"},
           {"help completion fish", "voxshard help completion bash"},
           {"help completion", "voxshard help completion bash"},
           {"help options train", "no word follows help options; got train"},
           {"help train more", "no word follows help train; got more"}}) {
    const CommandResult r = run_voxshard(words);
    EXPECT_EQ(r.exit_code, 2) << words;
    EXPECT_THAT(r.err, HasSubstr(piece)) << words;
  }
}

/// bash with the completion of the program, in a folder with two files.
class CompletionCli : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder("completion");
    folder_->write("completion", run_voxshard("help completion bash").out);
    folder_->write("scan one.nii", "");
    folder_->write("folder.txt", "");
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  /// Returns what bash suggests for the last of `words`, which are quoted as bash needs them.
  static std::vector<std::string> completed(const std::string& words) {
    folder_->write("script", "source completion\nCOMP_WORDS=(voxshard " + words +
                                 ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_voxshard\n"
                                 "for word in \"${COMPREPLY[@]}\"; do printf '%s\\n' \"$word\"; done >out\n");
    EXPECT_EQ(std::system(("cd " + (*folder_ / "") + " && bash script 2>err").c_str()), 0)
        << words << file_text(*folder_ / "err");
    EXPECT_EQ(file_text(*folder_ / "err"), "") << words;
    std::istringstream in(file_text(*folder_ / "out"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  static Folder* folder_;
};
Folder* CompletionCli::folder_ = nullptr;

TEST_F(CompletionCli, OfNothingAreTheCommands) {
  std::vector<std::string> commands;
  for (const auto& [command, options] : options_by_command().items()) commands.push_back(command);
  EXPECT_THAT(completed("''"), testing::UnorderedElementsAreArray(commands));
  EXPECT_THAT(completed("tra"), ElementsAre("train"));
  EXPECT_THAT(completed("--vers"), ElementsAre("--version"));
}

TEST_F(CompletionCli, OfADashAreTheOptionsOfTheCommand) {
  for (const auto& [command, options] : options_by_command().items()) {
    std::vector<std::string> names = {"--help", "--json", "--threads"};
    for (const auto& option : options)
      for (const std::string name : option.at("names"))
        if (name.starts_with('-')) names.push_back(name);
    EXPECT_THAT(completed(command + " -"), IsSupersetOf(names)) << command;
  }
  EXPECT_THAT(completed("demo data --tas"), ElementsAre("--task"));
}

TEST_F(CompletionCli, OfAnOptionAreItsChoices) {
  EXPECT_THAT(completed("convert data --to f"), ElementsAre("folder"));
  EXPECT_THAT(completed("convert --to = t"), ElementsAre("tfrecord"));
  EXPECT_THAT(completed("convert --to ="), ElementsAre("folder", "tfrecord", "classes", "nnunet"));
  EXPECT_THAT(completed("bench st"), ElementsAre("step"));
  EXPECT_THAT(completed("help comp"), ElementsAre("completion"));
  EXPECT_THAT(completed("schema pred"), ElementsAre("predict"));
  EXPECT_THAT(completed("train --model ''"), Contains("retinanet"));
}

TEST_F(CompletionCli, OfAllElseAreFilesAndOfNumbersNothing) {
  EXPECT_THAT(completed("info scan"), ElementsAre("scan one.nii"));
  EXPECT_THAT(completed("convert data -o fold"), ElementsAre("folder.txt"));
  EXPECT_THAT(completed("train --config = fold"), ElementsAre("folder.txt"));
  EXPECT_THAT(completed("train --quiet fold"), ElementsAre("folder.txt"));
  EXPECT_THAT(completed("train --steps ''"), IsEmpty());
  EXPECT_THAT(completed("convert --to scan"), IsEmpty());
}

}  // namespace
}  // namespace voxshard
