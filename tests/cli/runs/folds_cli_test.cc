// Folds as a user has them: each says the command that scores what it held out, and all of them are scored as one set.
#include <filesystem>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

class FoldsCli : public TrainedCli {};

/// Returns the words behind "next: voxshard ".
std::string next_of(const std::string& out) {
  const std::string mark = "next: voxshard ";
  const std::size_t at = out.find(mark);
  return at == std::string::npos ? "" : out.substr(at + mark.size(), out.find('\n', at) - at - mark.size());
}

TEST_F(FoldsCli, EachSaysTheCommandThatScoresItAndAllOfThemAreOneSet) {
  const Folder folder("folds");
  for (const std::string fold : {"0", "1"}) {
    const std::string held = folder / ("run_" + fold) + "/held_out";
    const CommandResult r = run_voxshard("train " + work() + " -o " + (folder / ("run_" + fold)) + kModel +
                                         " --crop 16x16x16 --steps 2 --fold " + fold);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("2 steps on 1 case in "));
    EXPECT_THAT(r.out, HasSubstr("held out: 1 predicted in " + held));
    EXPECT_THAT(next_of(r.out), HasSubstr("evaluate " + held));
    const CommandResult scores = run_voxshard(next_of(r.out));
    EXPECT_EQ(scores.exit_code, 0) << scores.err;
    EXPECT_THAT(scores.out, HasSubstr("1 case scored, 0 not"));
  }
  const std::string both =
      "evaluate " + (folder / "run_0/held_out") + " " + (folder / "run_1/held_out") + " " + data() + "/labelsTr";
  const CommandResult r = run_voxshard(both + " -o " + (folder / "folds.json"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("all 2 together, which share no case:"));
  EXPECT_THAT(r.out, HasSubstr("2 cases scored, 0 not"));
  EXPECT_THAT(r.out, HasSubstr("deviation"));
  const auto json = nlohmann::json::parse(file_text(folder / "folds.json"));
  EXPECT_EQ(json.at("together").at("cases").size(), 2u);
  EXPECT_THAT(file_text(folder / "folds.csv"), testing::StartsWith("class,metric,n,mean,deviation,least,largest,"));
  EXPECT_EQ(run_voxshard(both + " --json").json().at("spread"), json.at("spread"));
  expect_refusal(both + " --png " + (folder / "both.png") + " --dataset " + data(), 2, "usage",
                 "--png writes what is seen of one prediction");
}

TEST_F(FoldsCli, AResumedRunThatIsCompleteKeepsWhatItPredicted) {
  const Folder folder("resumed_fold");
  const std::string run = folder / "run";
  ASSERT_EQ(run_voxshard("train " + work() + " -o " + run + kModel + " --crop 16x16x16 --steps 2 --fold 0").exit_code,
            0);
  const CommandResult r = run_voxshard("train --resume " + run);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("held out: 0 predicted, 1 kept in " + run + "/held_out"));
  const CommandResult off = run_voxshard("train --resume " + run + " --predict-held-out off --steps 3");
  EXPECT_EQ(off.exit_code, 0) << off.err;
  EXPECT_FALSE(std::filesystem::exists(run + "/held_out")) << "it was of the state before";
}

}  // namespace
}  // namespace voxshard
