// `voxshard bench step` under mpirun: only rank 0 prints, and one profile contains all ranks.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/mpi/launch.h"

namespace voxshard {
namespace {

using nlohmann::json;

TEST(BenchOverMpi, SaysWhatCrossesAsTheProgramDoesAndProfilesAllRanks) {
  if (const auto why = test::without_mpi()) GTEST_SKIP() << *why;
  const ScratchFolder folder;
  const std::string words =
      " bench step --size 24x16x16 --base-filters 4 --depth 3 --partition 1x6x1x1x1 --steps 2 --device tpu-v3 --json";
  const auto all =
      test::launch(test::mpirun(3) + test::built("voxshard") + words + " --trace " + folder / "ranks.json");
  ASSERT_EQ(all.exit_code, 0) << all.err;
  const json report = json::parse(all.out);
  ASSERT_EQ(report.at("ranks").size(), 3u);
  EXPECT_EQ(report.at("ranks").at(2).at("rank"), 2);
  EXPECT_EQ(report.at("ranks").at(2).at("name").get<std::string>().rfind("rank 2 on ", 0), 0u);
  const json& traffic = report.at("traffic");
  EXPECT_GT(traffic.at("bytes"), 0);
  for (const auto& row : traffic.at("by_instruction")) EXPECT_EQ(row.at("bytes"), row.at("program_bytes")) << row;
  EXPECT_EQ(traffic.at("bytes"), traffic.at("program_bytes"));
  EXPECT_EQ(traffic.at("messages"), traffic.at("program_messages"));
  EXPECT_TRUE(report.at("emulated_seconds").is_number()) << "the emulated clock has a key of its own";
  const json profile = json::parse(read_bytes(folder / "ranks.json"));
  std::set<int> ranks;
  for (const auto& event : profile.at("traceEvents"))
    if (event.at("ph") == "X" && event.at("cat") == "task") ranks.insert(event.at("pid").get<int>());
  EXPECT_EQ(ranks, (std::set<int>{0, 1, 2}));
  const auto apart = test::launch(test::mpirun(3) + test::built("voxshard") + words + " --overlap off");
  ASSERT_EQ(apart.exit_code, 0) << apart.err;
  EXPECT_EQ(json::parse(apart.out).at("traffic").at("bytes"), traffic.at("bytes"));
  EXPECT_EQ(json::parse(apart.out).at("loss"), report.at("loss"));
  const auto kernels = test::launch(test::mpirun(2) + test::built("voxshard") + " bench kernels --size 16x16x16");
  EXPECT_EQ(kernels.exit_code, 2) << kernels.err;
}

}  // namespace
}  // namespace voxshard
