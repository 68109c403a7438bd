// The help of every number that a command takes states its range, and values outside of it are refused by name before
// anything begins.
#include <algorithm>
#include <regex>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

/// Returns the options of a command whose help shows a number: "--noise FLOAT:0 to 1000=0.05".
std::vector<std::string> numeric_options(const std::string& command) {
  static const std::regex kLine(R"(\n +(?:-\w,)?(--[\w-]+)\S* (?:U?INT|FLOAT))");
  const std::string help = run_voxshard(command + " --help-all").out;
  std::vector<std::string> found;
  for (std::sregex_iterator it(help.begin(), help.end(), kLine), end; it != end; ++it) found.push_back((*it)[1]);
  return found;
}

TEST(NumbersCli, NoCommandTakesANumberThatIsNone) {
  int tried = 0;
  for (const std::string command : {"demo x", "prepare x -o y", "plan", "train x -o y", "predict x y -o z",
                                    "evaluate x y", "verify", "bench step", "explain", "doctor"})
    for (const std::string& option : numeric_options(command.substr(0, command.find(' '))))
      // Every other option gets each of the second values, since each call starts the program.
      for (const char* value : {"nan", tried % 4 == 0 ? "inf" : "-1e30"}) {
        const CommandResult r = run_voxshard(command + " " + option + "=" + value + (option == "--scale" ? ",1" : ""));
        EXPECT_TRUE(r.exit_code == 2 || r.exit_code == 5) << command << " " << option << " " << value << "\n" << r.err;
        std::string field = option.substr(2);  // models name it as their checkpoints do
        std::replace(field.begin(), field.end(), '-', '_');
        EXPECT_THAT(r.err, testing::AnyOf(testing::HasSubstr(option), testing::HasSubstr(field))) << command;
        ++tried;
      }
  EXPECT_GT(tried, 150);
}

TEST(NumbersCli, ATrainingSaysOptionValueAndRange) {
  const auto refused = [](const std::string& words, const std::string& piece) {
    expect_refusal("train x -o y " + words, 2, "usage", piece);
  };
  refused("--learning-rate nan", "--learning-rate: nan is not in 0 to 1e+38");
  refused("--learning-rate=-1", "--learning-rate: -1 is not in");
  refused("--noise inf", "--noise: inf is not in 0 to 1000");
  refused("--momentum 7", "--momentum: 7 is not in 0 to 0.999999");
  refused("--warmup-steps 99999999999999", "99999999999999 is not in 0 to 1e+09");
  refused("--lr-steps=10,-1", "--lr-steps: -1 is not in 0 to 1e+09");
  refused("--pad-multiple 1000000000", "is not in 1 to 4096");
  refused("--seed=-1", "--seed: -1 is not in 0 to");
  refused("--flip DD", "each at most once");
  Folder folder("numbers");
  folder.write("c.toml", "[train]\nlearning-rate = nan\n");
  refused("--config " + (folder / "c.toml"), "--learning-rate: nan is not in");
}

TEST(NumbersCli, ASizeBeyondTheMachineIsRefusedWithWhatFitsAndNothingIsLeft) {
  Folder folder("sizes");
  for (const std::string command : {"bench step --steps 1 --size 2048x2048x2048", "verify --size 99999999999x1x1",
                                    "bench kernels --size 4096x4096x4096 --base-filters 1 --depth 1"})
    expect_refusal(command, 7, "budget", "nothing was allocated");
}

TEST_F(TrainedCli, ACropBeyondTheMachineLeavesNoRun) {
  Folder folder("crop");
  expect_refusal("train " + work() + " -o " + (folder / "r") + " --crop 4096x4096x4096 --steps 1", 7, "budget",
                 "what this machine has free");
  EXPECT_FALSE(std::filesystem::exists(folder / "r"));
}

}  // namespace
}  // namespace voxshard
