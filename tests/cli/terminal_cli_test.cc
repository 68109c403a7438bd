// Tests of the screen: something appears at once and no line is wider than the terminal; at the end stands the next
// command, as it is typed; and an unknown word gets a suggestion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.h"

namespace voxshard {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Returns the lines of the screen: the text up to each line feed or carriage return.
std::vector<std::string> screen_lines(const std::string& text) {
  std::vector<std::string> lines = {""};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 3, "\033[K") == 0)
      i += 2;
    else if (text[i] == '\r' || text[i] == '\n')
      lines.emplace_back();
    else
      lines.back() += text[i];
  }
  return lines;
}

std::string next_of(const CommandResult& r) {
  const auto at = r.out.rfind("next: voxshard ");
  return at == std::string::npos || r.out.back() != '\n' ? "" : r.out.substr(at + 15, r.out.size() - at - 16);
}

TEST(TerminalCli, NoLineIsWiderThanTheTerminal) {
  for (const int columns : {20, 40, 200}) {
    Folder folder("narrow");
    Process p("demo " + (folder / "data") + " --task detection --cases 30 --test 10",
              static_cast<unsigned short>(columns));
    EXPECT_EQ(p.wait().exit_code, 0);
    std::size_t widest = 0;
    for (const std::string& line : screen_lines(p.seen())) {
      EXPECT_LT(line.size(), static_cast<std::size_t>(columns)) << line;
      widest = std::max(widest, line.size());
    }
    EXPECT_THAT(p.seen(), HasSubstr("pictures ")) << columns;
    EXPECT_GT(widest, 10u);
  }
}

TEST(TerminalCli, TheFirstThingOnTheScreenIsTheCommand) {
  Folder folder("first");
  Process p("prepare " + (folder / "none") + " -o " + (folder / "work"), 80);
  EXPECT_EQ(p.wait().exit_code, 3);
  EXPECT_EQ(p.seen().find("\r\033[Kprepare ..."), 0u) << p.seen();
}

/// Runs from the data to the scores by the next command that each one prints, in a folder whose name needs quotes.
TEST(TerminalCli, EachCommandEndsWithTheNextOne) {
  Folder folder("next");
  std::filesystem::create_directories(folder / "it's here");
  const std::string home = "cd " + std::string("'") + (folder / "it'\\''s here") + "' && ";
  const auto run = [&](const std::string& words) {
    Folder streams("next_streams");
    const int status = std::system(
        (home + VOXSHARD_BINARY + " " + words + " >" + (streams / "out") + " 2>" + (streams / "err")).c_str());
    return CommandResult{
        .exit_code = WEXITSTATUS(status), .out = file_text(streams / "out"), .err = file_text(streams / "err")};
  };
  std::string words = "demo 'my data' --cases 2 --test 1";
  for (const std::string name : {"prepare", "train", "predict", "evaluate", "evaluate"}) {
    if (words.starts_with("prepare")) words += " --spacing 8,8,8";
    if (words.starts_with("train"))
      words = words.substr(0, words.find(" --time")) +
              " --base-filters 4 --depth 3 --precision f32 --crop 16x16x16 --steps 2 --fold all";
    const CommandResult r = run(words);
    ASSERT_EQ(r.exit_code, 0) << words << "\n" << r.err;
    words = next_of(r);
    EXPECT_TRUE(words.starts_with(name + " ")) << name << " after\n" << r.out;
  }
  EXPECT_THAT(words, HasSubstr("--png"));
  EXPECT_EQ(run(words).exit_code, 0);
}

TEST(TerminalCli, WhatNamesAModelGoesOnWithTheSameModel) {
  std::string words = "plan --size 32x32x32 --base-filters 4 --depth 3 --device tpu-v3 --cores 2 --explain";
  for (const std::string name : {"explain", "verify", "bench"}) {
    const CommandResult r = run_voxshard(words);
    ASSERT_EQ(r.exit_code, 0) << words << "\n" << r.err;
    words = next_of(r);
    EXPECT_TRUE(words.starts_with(name + " ")) << r.out;
    EXPECT_THAT(words, HasSubstr("--base-filters 4"));
  }
  EXPECT_EQ(run_voxshard(words + " --steps 1 --warmup 0").exit_code, 0) << words;
}

TEST(TerminalCli, ATypoGetsASuggestion) {
  const auto says = [](const std::string& words, const std::string& text) {
    const CommandResult r = run_voxshard(words);
    EXPECT_EQ(r.exit_code, 2) << words;
    EXPECT_THAT(r.err, HasSubstr(text)) << words;
  };
  says("trian work -o run", "there is no subcommand trian; did you mean train?");
  says("evalaute a b", "did you mean evaluate?");
  says("train work --outptu run", "train has no option --outptu; did you mean --output?");
  says("train work -o run --stpes=5", "did you mean --steps?");
  says("prepare d -o w --spacin 1,1,1", "did you mean --spacing?");
  says("train work -o run --lr 1", "here it is --learning-rate");
  says("train work -o run --num-epochs 5", "here it is --epochs");
  says("train work -o run --batch-size 5", "--batch");
  says("demo", "folder is required, as in: voxshard demo data");
  says("prepare data", "--output is required, as in: voxshard prepare ");
  says("predict run in -o out --skip-existing",
       "predict has no option --skip-existing; leave it out: what is predicted");
  says("predict run in -o out --resume", "predict has no option --resume; leave it out: the same call goes on");
  says("predict run in -o out --continue_prediction=1", "leave it out: the same call goes on");
  says("verify --skip-existing", "verify has no option --skip-existing; try --help");
  says("doctor --partition 1x2", "doctor has no option --partition; it is an option of");
  says("verify --model retinanett", "did you mean retinanet?");
  says("train work -o run --schedule=polinomial", "--schedule: polinomial not in {");
  says("train work -o run --schedule=polinomial", "did you mean polynomial? (see --help)");
  says("verify --recompute zzzz", "}; try --help");
  says("hlep", "did you mean help?");
  says("--versoin", "voxshard has no option --versoin; did you mean --version?");
  says("dance", "there is no subcommand dance; try --help");
  says("train work -o run --zzzz", "train has no option --zzzz; try --help");
}

TEST(TerminalCli, ATypoInASectionOfTheConfigGetsASuggestion) {
  Folder folder("config_typo");
  folder.write("c.toml", "[demo]\ncaess = 3\n");
  const CommandResult r = run_voxshard("demo " + (folder / "x") + " --config " + (folder / "c.toml"));
  EXPECT_EQ(r.exit_code, 5);
  EXPECT_THAT(r.err, HasSubstr("did you mean cases?"));
}

}  // namespace
}  // namespace voxshard
