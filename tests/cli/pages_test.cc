// The pages against the program: every command of README.md's first run and of the table for users of the original
// runs, in the order in which they stand, in an empty folder; commands and options that pages name exist; lists on
// pages are what `voxshard help` prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kPages[] = {"README.md",         "apps/README.md",  "data/README.md",     "io/README.md",
                                  "libcore/README.md", "tests/README.md", "pipelines/README.md"};

std::string page(const std::string& name) { return file_text(std::string(VOXSHARD_SOURCE_DIR "/") + name); }

struct Row {
  std::string there, here, command;
};

/// Returns the rows of the table under `heading`, with the command without its quotes.
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

/// Returns the files and folders that the options of a command name as its outputs.
std::vector<std::string> outputs_of(const std::string& command) {
  std::istringstream in(command);
  std::vector<std::string> outputs;
  for (std::string word, before; in >> word; before = word)
    if (before == "-o" || before == "--draw" || before == "--trace" || before == "demo") outputs.push_back(word);
  return outputs;
}

/// Returns the lines under `heading` that are indented by four spaces, without the indentation; a line that ends with a
/// backslash is joined with the next one.
std::vector<std::string> commands_under(const std::string& markdown, const std::string& heading) {
  std::istringstream in(markdown);
  std::vector<std::string> commands;
  bool under = false, goes_on = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) under = line.ends_with(" " + heading);
    if (!under || !line.starts_with("    ")) continue;
    if (!goes_on) commands.emplace_back();
    goes_on = line.ends_with('\\');
    commands.back() += line.substr(4, line.size() - 4 - (goes_on ? 1 : 0));
  }
  return commands;
}

/// Returns the blocks that begin with "$ voxshard help TOPIC": the lines that follow, by topic.
std::map<std::string, std::string> printed_blocks(const std::string& markdown) {
  const std::string begin = "    $ voxshard help ";
  std::istringstream in(markdown);
  std::map<std::string, std::string> blocks;
  std::string topic;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(begin))
      blocks[topic = line.substr(begin.size())] = "";
    else if (line.starts_with("    ") && !topic.empty())
      blocks[topic] += line.substr(4) + "\n";
    else
      topic.clear();
  }
  return blocks;
}

/// Returns the command lines on a page, from "voxshard" on: between backquotes, and in indented lines.
std::vector<std::string> command_lines(const std::string& markdown) {
  static const std::regex kSpan("`(voxshard [^`]*)`"),
      kLine(R"((?:^|\n)    (?:[^\n]* )?(voxshard (?:[^\n\\]|\\\n|\\[^\n])*))");
  std::vector<std::string> lines;
  for (const std::regex* form : {&kSpan, &kLine})
    for (std::sregex_iterator it(markdown.begin(), markdown.end(), *form), end; it != end; ++it) {
      std::string line = (*it)[1].str();
      std::ranges::replace(line, '\n', ' ');
      lines.push_back(line.substr(0, line.find(" # ")));
    }
  return lines;
}

/// Returns the name of the command and its options ("--cores"), from a command line up to a pipe or the next command.
std::vector<std::string> words_that_must_exist(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  std::string word;
  for (in >> word; in >> word && word != "&&" && word != "|" && word != ";";)
    if (words.empty() || word.starts_with("--")) words.push_back(word.substr(0, word.find_first_of("=;,)")));
  return words;
}

/// Runs each command in `folder`, with voxshard in the path, and expects success.
void expect_all_run(const Folder& folder, const std::vector<std::string>& commands) {
  const std::string program = std::filesystem::path(VOXSHARD_BINARY).parent_path();
  for (const std::string& command : commands) {
    const std::string log = folder / ".log";
    const int status = std::system(
        ("cd " + (folder / "") + " && export PATH=" + program + ":$PATH && { " + command + "\n} >" + log + " 2>&1")
            .c_str());
    EXPECT_EQ(status, 0) << command << "\n" << file_text(log);
  }
}

TEST(Pages, AreReadAsTheyStand) {
  const auto rows = rows_of(
      "## A\n| x | y | `no` |\n### B\n| there | here | e |\n|---|---|---|\n| a b | c `d` | `run -o \"e f\" --draw "
      "g.png` |\n## C\n| x | y | `no` |\n",
      "B");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].there, "a b");
  EXPECT_EQ(rows[0].here, "c `d`");
  EXPECT_EQ(rows[0].command, "run -o \"e f\" --draw g.png");
  EXPECT_EQ(outputs_of("voxshard train work -o run --trace t.json"), (std::vector<std::string>{"run", "t.json"}));
  EXPECT_THAT(commands_under("## A\n    no\n## B\n\n    a  # b\n    c \\\n      d\ntext\n    e\n# C\n    no\n", "B"),
              ElementsAre("a  # b", "c   d", "e"));
  EXPECT_EQ(printed_blocks("    $ voxshard help a\n    1\n      2\n\n    $ voxshard help b\n    3\n").at("a"),
            "1\n  2\n");
  EXPECT_THAT(command_lines("see `voxshard a\n--b`,\n    mpirun voxshard c \\\n      d  # e\n    no\nvoxshard no\n"),
              ElementsAre("voxshard a --b", "voxshard c \\       d "));
  EXPECT_THAT(words_that_must_exist("voxshard train --a=1 x --b && voxshard no --c"),
              ElementsAre("train", "--a", "--b"));
}

TEST(Pages, EveryCommandOfTheFirstRunRunsInOrderInAnEmptyFolder) {
  const auto commands = commands_under(page("README.md"), "A first run");
  ASSERT_GE(commands.size(), 8u);
  Folder folder("first_run");
  expect_all_run(folder, commands);
  for (const std::string& command : commands)
    for (const std::string& output : outputs_of(command))
      EXPECT_TRUE(std::filesystem::exists(folder / output)) << command;
  const auto summary = nlohmann::json::parse(file_text(folder / "summary.json"));
  EXPECT_GT(summary.at("foreground_mean").at("Dice").get<double>(), 0.3);  // a network that learnt nothing has 0
}

TEST(Pages, EveryCommandOfTheTableFromCloudTpuRunsAndLeavesWhatItNames) {
  const auto rows = rows_of(page("apps/README.md"), "From Cloud TPU");
  ASSERT_GE(rows.size(), 15u);
  Folder folder("from_cloud_tpu");
  for (const Row& row : rows) {
    expect_all_run(folder, {row.command});
    for (const std::string& output : outputs_of(row.command))
      EXPECT_TRUE(std::filesystem::exists(folder / output)) << row.command;
  }
}

TEST(Pages, WhatAUserOfTheOriginalLooksForIsThere) {
  std::string all;
  for (const Row& row : rows_of(page("apps/README.md"), "From Cloud TPU")) all += row.there + "\n";
  for (const char* word :
       {"bucket", "slice", "input_partition_dims", "TPUEstimator.train", "TPUEstimator.evaluate",
        "TPUEstimator.predict", "batch = k x cores", "iterations_per_loop", "Systrace", "cloud-tpu-profiler",
        "TensorBoard", "checkpoint", "RetinaNet", "per_host_input_for_training", "tfrecords", "YAML", "no TPU"})
    EXPECT_THAT(all, HasSubstr(word));
}

/// Returns the options of every command as `help options` lists them.
nlohmann::json options_of_all() {
  static const nlohmann::json options = run_voxshard("help options --json").json();
  return options;
}

TEST(Pages, CommandsAndOptionsThatTheyNameExist) {
  const auto all = options_of_all();
  const auto has = [&](const std::string& command, const std::string& name) {
    for (const std::string& of : {command, std::string("every command")})
      for (const auto& option : all.at(of))
        for (const auto& known : option.at("names"))
          if (known == name) return true;
    return false;
  };
  int checked = 0;
  for (const std::string name : kPages)
    for (const std::string& line : command_lines(page(name))) {
      const auto words = words_that_must_exist(line);
      if (words.empty() || words[0].starts_with("--") || words[0] == "COMMAND") continue;
      ASSERT_TRUE(all.contains(words[0])) << name << ": " << line;
      for (std::size_t i = 1; i < words.size(); ++i, ++checked)
        EXPECT_TRUE(has(words[0], words[i])) << name << ": " << line << "\n" << words[0] << " has no " << words[i];
    }
  EXPECT_GE(checked, 150);
}

TEST(Pages, TheTableOfCommandsHasEveryCommand) {
  const std::string readme = page("README.md");
  const auto all = options_of_all();
  for (const auto& [command, options] : all.items()) {
    if (command == "every command") continue;
    EXPECT_THAT(readme, HasSubstr("\n| `voxshard " + command)) << command;
  }
}

TEST(Pages, ListsAreWhatTheProgramPrints) {
  std::set<std::string> held;
  for (const std::string name : kPages)
    for (const auto& [topic, text] : printed_blocks(page(name))) {
      const CommandResult r = run_voxshard("help " + topic);
      EXPECT_EQ(r.exit_code, 0) << topic << r.err;
      EXPECT_EQ(text, r.out) << name << ": replace the block by what `voxshard help " << topic
                             << "` prints, indented by four";
      held.insert(topic);
    }
  EXPECT_THAT(held, testing::IsSupersetOf({"options", "codes", "exit-codes", "formats"}));
}

TEST(HelpCli, OfACommandIsThatOfTheCommand) {
  EXPECT_EQ(run_voxshard("help train").out, run_voxshard("train --help").out);
  EXPECT_THAT(run_voxshard("help").out, HasSubstr(run_voxshard("--help").out));
}

TEST(HelpCli, OfEachCommandFitsOnAScreenAndNamesEveryOption) {
  constexpr std::size_t kMostLines = 45, kMostColumns = 110;
  nlohmann::json commands = run_voxshard("help options --json").json();
  commands.erase("every command");
  for (const auto& [command, options] : commands.items()) {
    const std::string page = run_voxshard(command + " --help").out, all = run_voxshard(command + " --help-all").out;
    EXPECT_LE(std::ranges::count(page, '\n'), kMostLines) << page;
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);)
      if (line.find("voxshard " + command) == std::string::npos) {
        EXPECT_LE(line.size(), kMostColumns) << line;
      }
    for (const auto& option : options) {
      EXPECT_THAT(page, HasSubstr(option.at("names").at(0).get<std::string>())) << command;
      std::string name = option.at("names").back();  // of a path without capitals
      if (!name.starts_with('-'))
        std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      EXPECT_THAT(all, HasSubstr(name)) << command;
    }
    EXPECT_THAT(page, HasSubstr("voxshard " + command + " --help-all"));
  }
}

TEST(HelpCli, AnOptionOfSeveralTasksIsToldForAllOfThem) {
  EXPECT_THAT(run_voxshard("predict --help").out,
              HasSubstr("--draw                Folder for pictures with boxes or videos with the time line of their "
                        "classes\n"));
}

TEST(HelpCli, AnUnknownTopicIsAMistakeOnTheCommandLine) {
  const CommandResult r = run_voxshard("help exit-cods --json");
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(r.error_kind(), "usage");
  EXPECT_THAT(r.err, HasSubstr("did you mean exit-codes?"));
}

TEST(HelpCli, ExitCodesAreThoseThatCommandsEndWith) {
  const auto rows = run_voxshard("help exit-codes --json").json();
  const auto listed = [&](const nlohmann::json& error) {
    return std::ranges::any_of(rows, [&](const auto& row) {
      return row.at("exit_code") == error.at("exit_code") && row.at("kind") == error.at("kind") &&
             row.at("code") == error.at("code");
    });
  };
  for (const char* words :
       {"train work --json", "info /nowhere --json", "explain --size 32x32x32 --partition 1x3x3x3x3x3 --json",
        "bench step --size 32x32x32 --base-filters 4 --depth 3 --memory 1MiB --json"}) {
    const CommandResult r = run_voxshard(words);
    const auto error = r.json().at("error");
    EXPECT_EQ(error.at("exit_code"), r.exit_code) << words;
    EXPECT_TRUE(listed(error)) << words << ": " << error;
  }
}

}  // namespace
}  // namespace voxshard
