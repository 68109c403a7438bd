// verify, prepare and evaluate under mpirun print and write what they print and write alone.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/mpi/launch.h"
#include "tests/pipelines/prepared_files.h"

namespace voxshard {
namespace {

using test::built, test::launch, test::Launched, test::mpirun;
using testing::HasSubstr;

class RanksShareCli : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = test::without_mpi()) GTEST_SKIP() << *why;
  }
  /// Runs a command under mpirun; 0 ranks: without a launcher.
  Launched run(int ranks, const std::string& words) {
    return launch((ranks == 0 ? "" : mpirun(ranks)) + built("voxshard") + " " + words);
  }
  void write_data() {
    ASSERT_EQ(run(0, "demo " + data_ + " --cases 5 --seed 3").exit_code, 0);
    std::vector<std::filesystem::path> images;
    for (const auto& entry : std::filesystem::directory_iterator(data_ + "/imagesTr")) images.push_back(entry.path());
    std::sort(images.begin(), images.end());
    ASSERT_EQ(images.size(), 5u);
    std::filesystem::resize_file(images[2], 1000);  // truncated
  }

  const ScratchFolder folder_;
  const std::string data_ = folder_ / "data";
};

class RanksVerifyCli : public RanksShareCli, public testing::WithParamInterface<std::string> {};

TEST_P(RanksVerifyCli, PrintsWhatOneProcessPrints) {
  const std::string words = "verify " + GetParam() + " --seed 3 --json";
  const Launched alone = run(0, words);
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("\"equal\": true"));
  const Launched ranks = run(4, words);
  EXPECT_EQ(ranks.exit_code, 0) << ranks.err;
  EXPECT_EQ(ranks.out, alone.out);
}

INSTANTIATE_TEST_SUITE_P(
    Models, RanksVerifyCli,
    testing::Values("--model unet3d --size 12x10x14 --base-filters 4",
                    "--model unet3d --size 16x8x8 --base-filters 4 --partition 1x8x1x1x1 "
                    "--precision bf16",
                    "--model retinanet --backbone resnet18 --size 64x96 --base-filters 4 "
                    "--pyramid-filters 8 --classes 4 --partition 1x2x2x1",
                    "--model resnet18 --size 64x48 --base-filters 4 --classes 3 --partition 1x2x2x1"));

TEST_F(RanksShareCli, APreparedFolderHasTheBytesOfOneProcessWithATornCaseAmongTheGood) {
  write_data();
  ASSERT_EQ(run(0, "prepare " + data_ + " -o " + (folder_ / "one") + " --quiet").exit_code, 8);
  for (int ranks : {2, 3}) {
    const std::string work = folder_ / std::to_string(ranks);
    const Launched r = run(ranks, "prepare " + data_ + " -o " + work);
    EXPECT_EQ(r.exit_code, 8) << r.err;
    EXPECT_THAT(r.out, HasSubstr("4 prepared, 0 finished before, 1 quarantined"));
    EXPECT_EQ(test::differing_file(folder_ / "one", work), "") << ranks << " ranks";
  }
  // Some cases are missing: another number of ranks makes these anew and keeps the others.
  const std::string work = folder_ / "3";
  for (const char* part : {"/images", "/labels"})
    std::filesystem::remove(std::filesystem::directory_iterator(work + part)->path());
  const Launched resumed = run(2, "prepare " + data_ + " -o " + work + " --resume");
  EXPECT_EQ(resumed.exit_code, 8) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr(" finished before, 1 quarantined"));
  auto files = test::files_of(work), expected = test::files_of(folder_ / "one");
  files.erase("run.json"), expected.erase("run.json");  // it contains the number of ranks
  EXPECT_EQ(files, expected);
}

TEST_F(RanksShareCli, AnEvaluationHasTheBytesOfOneProcess) {
  write_data();
  const std::string predictions = folder_ / "predictions";
  std::filesystem::copy(data_ + "/labelsTr", predictions);
  std::filesystem::remove(std::filesystem::directory_iterator(predictions)->path());
  const std::string words =
      "evaluate " + predictions + " " + data_ + "/labelsTr --dataset " + data_ + " --baseline threshold --json -o ";
  const auto without_memory = [](const std::string& text) {
    auto json = nlohmann::json::parse(text);
    json.erase("memory");
    return json;
  };
  const Launched one = run(0, words + (folder_ / "one.json"));
  ASSERT_EQ(one.exit_code, 8) << one.err;
  for (int ranks : {2, 3}) {
    const std::string summary = folder_ / (std::to_string(ranks) + ".json");
    const Launched r = run(ranks, words + summary);
    EXPECT_EQ(r.exit_code, 8) << r.err;
    EXPECT_EQ(without_memory(r.out), without_memory(one.out));
    EXPECT_EQ(read_bytes(summary), read_bytes(folder_ / "one.json"));
  }
}

TEST_F(RanksShareCli, ACheckHasTheBytesOfOneProcess) {
  write_data();
  const std::string words = "check " + data_ + " --deep --csv ";
  const Launched one = run(0, words + (folder_ / "one.csv"));
  ASSERT_EQ(one.exit_code, 8) << one.err;
  const Launched three = run(3, words + (folder_ / "three.csv"));
  EXPECT_EQ(three.exit_code, 8) << three.err;
  EXPECT_EQ(read_bytes(folder_ / "three.csv"), read_bytes(folder_ / "one.csv"));
}

TEST_F(RanksShareCli, WhatRankZeroCountsAloneIsTheSameToo) {
  std::ofstream(folder_ / "truth.json")
      << R"({"images":[{"id":1,"width":64,"height":64,"file_name":"a.png"}],"categories":[{"id":1,"name":"x"}],)"
      << R"("annotations":[{"id":1,"image_id":1,"category_id":1,"bbox":[4,4,20,20],"area":400,"iscrowd":0}]})";
  std::ofstream(folder_ / "found.json") << R"([{"image_id":1,"category_id":1,"bbox":[4,4,20,21],"score":0.9}])";
  const std::string words = "evaluate " + (folder_ / "found.json") + " " + (folder_ / "truth.json") + " -o ";
  const Launched one = run(0, words + (folder_ / "one.json")), three = run(3, words + (folder_ / "three.json"));
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(three.exit_code, 0) << three.err;
  EXPECT_EQ(read_bytes(folder_ / "three.json"), read_bytes(folder_ / "one.json"));
}

}  // namespace
}  // namespace voxshard
