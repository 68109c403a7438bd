// --log: JSON lines from the start of a command to its end, whatever the screen shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class LogCli : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_ / name; }
  std::vector<json> lines() const {
    std::vector<json> all;
    std::istringstream text(file_text(file("log.jsonl")));
    for (std::string line; std::getline(text, line);) all.push_back(json::parse(line));
    return all;
  }
  Folder folder_{"log"};
};

TEST_F(LogCli, HoldsWhatAQuietCommandDid) {
  ASSERT_EQ(run_voxshard("demo " + file("data") + " --cases 2 --test 0 --quiet").exit_code, 0);
  std::filesystem::resize_file(file("data/labelsTr/phantom_001.nii.gz"), 40);
  const CommandResult made = run_voxshard("prepare " + file("data") + " -o " + file("work") +
                                          " --spacing 8,8,8 --quiet --log " + file("log.jsonl"));
  ASSERT_EQ(made.exit_code, 8) << made.err;
  const std::vector<json> all = lines();
  ASSERT_GE(all.size(), 4U);
  EXPECT_EQ(all.front().at("event"), "start");
  EXPECT_EQ(all.front().at("command"), "prepare");
  EXPECT_EQ(all.back().at("event"), "end");
  EXPECT_EQ(all.back().at("exit_code"), 8);
  std::map<std::string, int> events;
  std::string said;
  for (const json& line : all) {
    ++events[line.at("event").get<std::string>()];
    EXPECT_THAT(line.at("time").get<std::string>(), testing::MatchesRegex("20[0-9-]+T[0-9:.]+Z"));
    if (line.contains("text")) said += line.at("text").get<std::string>() + "\n";
  }
  EXPECT_GT(events["progress"], 0);
  EXPECT_THAT(said, HasSubstr("case phantom_001: E_READ"));
}

TEST_F(LogCli, IsAppendedToAndEndsWithTheErrorOfACommandThatFails) {
  for (int call = 1; call <= 2; ++call) {
    EXPECT_EQ(run_voxshard("info " + file("none.nii") + " --log " + file("log.jsonl")).exit_code, 3);
    const std::vector<json> all = lines();
    ASSERT_EQ(all.size(), 2U * static_cast<unsigned>(call));
    EXPECT_EQ(all.back().at("event"), "error");
    EXPECT_EQ(all.back().at("code"), "E_READ");
    EXPECT_EQ(all.back().at("exit_code"), 3);
    EXPECT_THAT(all.back().at("text").get<std::string>(), HasSubstr("none.nii"));
  }
}

TEST_F(LogCli, AFileThatCannotBeWrittenIsRefusedAtTheStart) {
  const CommandResult refused = run_voxshard("demo " + file("data") + " --log " + file("no/such/log.jsonl"));
  EXPECT_EQ(refused.exit_code, 6) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(file("data")));
}

}  // namespace
}  // namespace voxshard
