// The command line of a program with several ranks: one of them prints, all end with one exit code, and ranks with
// different settings refuse to start.
#include <gmock/gmock.h>

#include "tests/mpi/launch.h"

namespace voxshard {
namespace {

using test::built, test::by_rank, test::launch, test::Launched, test::mpirun;
using testing::HasSubstr;

class RanksCli : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = test::without_mpi()) GTEST_SKIP() << *why;
  }
  Launched run(int ranks, const std::string& words) { return launch(mpirun(ranks) + built("voxshard") + " " + words); }
};

std::size_t count_of(const std::string& text, const std::string& piece) {
  std::size_t count = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++count;
  return count;
}

TEST_F(RanksCli, OnlyRankZeroPrints) {
  const Launched version = run(3, "--version");
  EXPECT_EQ(version.exit_code, 0) << version.err;
  EXPECT_EQ(version.out, "voxshard " VOXSHARD_VERSION "\n");
  EXPECT_EQ(count_of(run(3, "train --help").out, "Usage:"), 1u);
}

TEST_F(RanksCli, AnErrorOfTheCommandLineIsSaidOnceWithItsExitCode) {
  const Launched r = run(3, "train --stps 4 --json");
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(count_of(r.out, "\"kind\": \"usage\""), 1u) << r.out;
  EXPECT_EQ(count_of(r.err, "train has no option --stps; did you mean --steps?"), 1u) << r.err;
}

TEST_F(RanksCli, ACommandThatDoesNotKnowRanksIsRefused) {
  for (const char* words : {"plan --size 16x16x16", "doctor", "bench kernels"}) {
    const Launched r = run(2, words);
    EXPECT_EQ(r.exit_code, 2) << words;
    EXPECT_EQ(count_of(r.err, "is the work of one process, but 2 ranks were started; start it without mpirun"), 1u)
        << r.err;
  }
  EXPECT_EQ(run(1, "explain --size 16x16x16 --quiet").exit_code, 0);
}

TEST_F(RanksCli, RanksThatDifferAreRefusedByName) {
  const std::string program = built("voxshard") + " ";
  // Rank 0 runs the first command, rank 1 the second.
  const auto differing = [&](const std::string& first, const std::string& second) {
    return launch(mpirun(2) + by_rank({first, second}));
  };
  const Launched words = differing(program + "train work -o run --steps 4", program + "train work -o run --steps 5");
  EXPECT_EQ(words.exit_code, 5);
  EXPECT_THAT(words.err, HasSubstr("[ranks] rank 1 on "));
  EXPECT_THAT(words.err, HasSubstr("there word 6 is 5, here word 6 is 4; start the same program"));
  const Launched fewer = differing(program + "train work -o run --steps 4", program + "train work -o run");
  EXPECT_EQ(fewer.exit_code, 5);
  EXPECT_THAT(fewer.err, HasSubstr("there the number of words is 4, here the number of words is 6"));
  const std::string version = program + "--version";
  const Launched isa = differing(version, "env ONEDNN_MAX_CPU_ISA=SSE41 " + version);
  EXPECT_EQ(isa.exit_code, 5) << isa.err;
  EXPECT_THAT(isa.err, HasSubstr("there instructions is sse41"));
  const Launched set = differing(version, "env VOXSHARD_ISA=avx2 " + version);
  if (set.exit_code != 0) {  // 0 where the machine has no other
    EXPECT_EQ(set.exit_code, 5) << set.err;
    EXPECT_THAT(set.err, HasSubstr("there instruction_set is avx2"));
  }
}

TEST_F(RanksCli, AConfigThatOneRankSeesOtherwiseIsRefused) {
  const ScratchFolder folder;
  std::vector<std::string> commands;
  for (const char* side : {"a", "b"}) {
    std::filesystem::create_directories(folder / side);
    std::ofstream(folder / side + "/c.toml") << "seed = " << (*side == 'a' ? 1 : 2) << "\n";
    commands.push_back("cd " + (folder / side) + " && " + built("voxshard") + " train work -o run --config c.toml");
  }
  const Launched r = launch(mpirun(2) + by_rank(commands));
  EXPECT_EQ(r.exit_code, 5) << r.err;
  EXPECT_THAT(r.err, HasSubstr("there the content of --config is "));
}

TEST_F(RanksCli, ThreadsAreTheProcessorsSharedOutAmongTheRanksOfAHost) {
  const Launched many = run(16, "train --help-all");
  EXPECT_THAT(many.out, HasSubstr("--threads INT:INT in [1 - 1024]=1\n")) << many.err;
}

}  // namespace
}  // namespace voxshard
