// train, predict, evaluate, verify, bench and explain as scripts see them: one JSON document each, one config for all.
#include <set>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;

TEST_F(TrainedCli, EachCommandPrintsExactlyOneDocument) {
  Folder folder("documents");
  const std::vector<std::pair<std::string, std::string>> commands = {
      {"info " + data(), "folders"},
      {"prepare " + data() + " -o " + (folder / "work") + " --spacing 8,8,8", "prepared"},
      {"train " + work() + " -o " + (folder / "run") + kModel + kTraining, "loss"},
      {"predict " + run() + " " + data() + "/imagesTs -o " + (folder / "out"), "cases"},
      {"evaluate " + (folder / "out") + " " + data() + "/labelsTs", "mean_dice"},
      {"verify --size 8x8x8 --partition 1x2x1x1x1" + std::string(kModel), "equal"},
      {"bench step --steps 1 --size 8x8x8" + std::string(kModel), "step_seconds"},
      {"explain --size 8x8x8" + std::string(kModel), "text"}};
  for (const auto& [words, key] : commands) {
    const CommandResult r = run_voxshard(words + " --json");
    EXPECT_EQ(r.exit_code, 0) << words << "\n" << r.err;
    EXPECT_TRUE(r.json().is_object() && r.json().contains(key)) << words << "\n" << r.out;
  }
}

TEST_F(TrainedCli, VerifyPrintsTheKeysOfTheIssue) {
  for (const char* grid :
       {"--partition 1x2x2x1x1", "--partition 2x2x1x1x1 --batch 2", "--partition 1x1x1x3x1 --precision bf16"}) {
    const CommandResult r =
        run_voxshard("verify --model unet3d --size 12x8x9 --base-filters 4 --json " + std::string(grid));
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(r.json().at("equal"), true);
    EXPECT_TRUE(r.json().at("first_difference").is_null());
    for (const char* key : {"layers", "end_to_end", "tolerance"}) EXPECT_TRUE(r.json().contains(key)) << key;
  }
}

TEST_F(TrainedCli, VerifyWithoutAPartitionChoosesGrids) {
  const CommandResult r =
      run_voxshard("verify --size 12x8x9 --base-filters 2 --depth 2 --oracle reference --precision f32 --json");
  EXPECT_EQ(r.exit_code, 0) << r.err << r.out;
  const auto grids = r.json().at("grids");
  EXPECT_EQ(grids.size(), 3u);
  for (const auto& grid : grids) {  // the first and the last line of a stage are printed at any pace
    const std::string stage = "over " + grid.at("partition").get<std::string>();
    EXPECT_THAT(r.err, ::testing::AllOf(HasSubstr(stage + " 0/2"), HasSubstr(stage + " 2/2")));
  }
  EXPECT_TRUE(r.json().at("kernels").at("left_out").empty()) << r.out;
  EXPECT_THAT(run_voxshard("verify --size 12x8x9 --base-filters 2 --depth 2 --partition 1x1x1x1x1").out,
              HasSubstr("nothing was cut"));
  expect_refusal("verify --size 12x8x9 --oracle truth", 5, "config", "expected fast, sampled, reference");
}

TEST_F(TrainedCli, BenchStepPrintsTheKeysOfTheIssue) {
  const auto json = run_voxshard("bench step --size 8x8x8 --steps 2 --json" + std::string(kModel)).json();
  for (const char* key : {"median", "min", "max"}) EXPECT_GT(json.at("step_seconds").at(key), 0) << key;
  for (const char* key : {"gflops_per_second", "by_op", "by_instruction", "peak_resident_bytes"})
    EXPECT_TRUE(json.contains(key)) << key;
}

TEST_F(TrainedCli, OverTheMemoryIsRefusedWithBytesAllocationsAndAPartition) {
  Folder folder("memory");
  const std::string sized = " --size 32x32x32 --memory 1MiB" + std::string(kModel);
  const CommandResult r = run_voxshard("bench step" + sized + " --json");
  EXPECT_EQ(r.exit_code, 7);
  EXPECT_EQ(r.error_kind(), "budget");
  EXPECT_THAT(r.err, HasSubstr(" bytes, core 0"));
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '['), 6) << "five allocations with a type and a shape\n" << r.err;
  EXPECT_THAT(r.err, HasSubstr("artition"));
  expect_refusal("bench step --size 32x32x32 --memory 6MiB" + std::string(kModel), 7, "budget",
                 "A partition that fits: 1x");
  expect_refusal("train " + work() + " -o " + (folder / "run") + kModel + kTraining + "--memory 1MiB", 7, "budget",
                 "nothing was allocated");
  expect_refusal("predict " + run() + " " + data() + "/imagesTs -o " + (folder / "out") + " --memory 1MiB", 7, "budget",
                 "nothing was allocated");
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST_F(TrainedCli, OneConfigServesTrainPredictAndEvaluate) {
  Folder folder("config");
  folder.write("c.toml",
               "threads = 1\npartition = \"1x1x2x1x1\"\nprecision = \"f32\"\nbase-filters = 4\ndepth = 3\n"
               "crop = \"16x16x16\"\nsteps = 3\nfold = \"all\"\nseed = 4\n"
               "[predict]\ncheckpoint = \"last\"\n[evaluate]\nbaseline = \"none\"\n");
  const std::string config = " --json --config " + (folder / "c.toml");
  CommandResult r = run_voxshard("train " + work() + " -o " + (folder / "run") + config);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("steps"), 3);
  const auto run_json = nlohmann::json::parse(file_text(folder / "run/run.json"));
  EXPECT_EQ(run_json.at("model").at("partition"), "1x1x2x1x1");
  EXPECT_EQ(run_json.at("training").at("seed"), 4);
  r = run_voxshard("predict " + (folder / "run") + " " + data() + "/imagesTs -o " + (folder / "out") + config);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  r = run_voxshard("evaluate " + (folder / "out") + " " + data() + "/labelsTs" + config);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("cases").size(), 1u);
}

TEST_F(TrainedCli, ResumeAndRestartOfARun) {
  Folder folder("again");
  const std::string train = "train " + work() + " -o " + (folder / "run") + kModel + kTraining;
  ASSERT_EQ(run_voxshard(train).exit_code, 0);
  expect_refusal(train, 2, "usage", "--resume");
  EXPECT_EQ(run_voxshard(train + "--resume").exit_code, 0);
  EXPECT_EQ(run_voxshard(train + "--restart").exit_code, 0);
  expect_refusal(
      "train " + work() + " -o " + (folder / "run") + kTraining + "--base-filters 8 --depth 3 --precision f32 --resume",
      10, "checkpoint", "base_filters");
}

TEST_F(TrainedCli, AProfileHasTheEmulatedClockOnlyOfANamedTpu) {
  Folder folder("profile");
  const std::string step = "bench step --steps 1 --size 8x8x8" + std::string(kModel);
  const std::string train = "train " + work() + " -o " + (folder / "run") + kModel + kTraining;
  const std::vector<std::pair<std::string, std::set<int>>> commands = {
      {step, {1}}, {step + " --device tpu-v3", {1, 2}}, {train, {1}}};
  for (const auto& [words, clocks] : commands) {
    const CommandResult r = run_voxshard(words + " --trace " + (folder / "profile.json"));
    ASSERT_EQ(r.exit_code, 0) << words << "\n" << r.err;
    std::set<int> found;
    const auto profile = nlohmann::json::parse(file_text(folder / "profile.json"));
    for (const auto& event : profile.at("traceEvents"))
      if (event.at("ph") == "X") found.insert(event.at("pid").get<int>());
    EXPECT_EQ(found, clocks) << words;
  }
}

}  // namespace
}  // namespace voxshard
