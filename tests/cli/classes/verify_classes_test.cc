// `voxshard verify` of every classifier, as a user runs it without a grid: cut along all axes and over the batch, odd
// sizes, both precisions; and cut as a TPUConfig says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

struct Scene {
  const char *model, *options;
};

class VerifyClasses : public testing::TestWithParam<std::tuple<Scene, const char*>> {};

TEST_P(VerifyClasses, EveryGridEqualsTheUncutModel) {
  const auto& [scene, precision] = GetParam();
  const CommandResult r = run_voxshard(std::string("verify --model ") + scene.model + " " + scene.options +
                                       " --classes 5 --batch 2 --json --precision " + precision);
  ASSERT_EQ(r.exit_code, 0) << r.out << r.err;
  const nlohmann::json report = r.json();
  EXPECT_EQ(report.at("equal"), true) << r.out;
  EXPECT_EQ(report.at("grids").size(), 4u) << "first axis in 2, all in 2, in 3, the batch";
  EXPECT_TRUE(report.at("kernels").at("left_out").empty());
  EXPECT_GT(report.at("layers").at("compared"), 4 * 50);
  EXPECT_LE(report.at("layers").at("widest_ratio"), 1);
  EXPECT_GT(report.at("end_to_end").at("tensors"), 4 * 20);
  EXPECT_LE(report.at("end_to_end").at("widest_ratio"), 1);
  EXPECT_THAT(report.at("tolerance").at("end_to_end"), testing::HasSubstr("roundings of a sum"));
}

constexpr Scene kScenes[] = {{"digits", ""},
                             {"resnet18", "--size 45x37 --base-filters 4"},
                             {"resnet34", "--size 33x49 --base-filters 4"},
                             {"resnet50", "--size 33x41 --base-filters 4"},
                             {"resnet3d18", "--size 5x25x33 --base-filters 4"},
                             {"r2plus1d18", "--size 6x25x27 --base-filters 4"}};

INSTANTIATE_TEST_SUITE_P(Models, VerifyClasses,
                         testing::Combine(testing::ValuesIn(kScenes), testing::Values("f32", "bf16")),
                         [](const testing::TestParamInfo<VerifyClasses::ParamType>& info) {
                           return std::string(std::get<0>(info.param).model) + "_" + std::get<1>(info.param);
                         });

TEST(VerifyClassesCut, AsATpuConfigSaysIsAsThePartitionSays) {
  for (const auto& [model, partition, dims] :
       {std::tuple{"digits --batch 4", "1x4x1x1", "[[1, 4, 1, 1], None]"},
        std::tuple{"resnet18 --size 33x29 --base-filters 4 --batch 2", "1x4x1x1", "[[1, 4, 1, 1], None]"},
        std::tuple{"r2plus1d18 --size 5x17x21 --base-filters 4 --batch 2", "1x2x2x1x1", "[[1, 2, 2, 1, 1], None]"}}) {
    const std::string verify = std::string("verify --precision f32 --json --model ") + model;
    const CommandResult plain = run_voxshard(verify + " --partition " + partition);
    ASSERT_EQ(plain.exit_code, 0) << plain.err;
    const CommandResult cut = run_voxshard(verify + " --num_cores_per_replica 4 --input_partition_dims '" + dims + "'");
    ASSERT_EQ(cut.exit_code, 0) << cut.err;
    EXPECT_EQ(cut.json().at("equal"), true);
    EXPECT_EQ(cut.json().at("grids").at(0).at("partition"), partition);
    EXPECT_EQ(cut.json().at("end_to_end").at("loss_partitioned"), plain.json().at("end_to_end").at("loss_partitioned"))
        << "labels on every core, or cut where they divide: the same loss";
  }
}

TEST(VerifyClassesCut, OfANormOverEightValuesIsEqual) {
  // A batch norm over so few values amplifies rounding: this is the condition of the case, not a fault of a kernel.
  const CommandResult r =
      run_voxshard("verify --model r2plus1d18 --size 9x21x26 --base-filters 4 --classes 5 --precision f32 --json");
  EXPECT_EQ(r.exit_code, 0) << r.out;
  EXPECT_EQ(r.json().at("verdict"), "equal");
}

TEST(VerifyClassesCut, LabelsOfTheWrongAxesAreRefused) {
  const CommandResult r = run_voxshard(
      "verify --model digits --batch 4 --num_cores_per_replica 4 --input_partition_dims '[[1, 4, 1, 1], [4]]' --json");
  EXPECT_EQ(r.exit_code, 5);
  EXPECT_EQ(r.error_kind(), "config");
  EXPECT_THAT(r.err, testing::HasSubstr("one entry per axis"));
}

}  // namespace
}  // namespace voxshard
