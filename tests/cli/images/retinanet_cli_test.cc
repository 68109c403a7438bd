// RetinaNet on the command line: verify, explain, bench and plan accept it, and report what is wrong with its options.
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

const std::string kNarrow = " --model retinanet --backbone resnet18 --base-filters 4 --pyramid-filters 8 --classes 4 ";

TEST(RetinaNetCli, VerifyTellsThatCutEqualsUncut) {
  for (const char* grid :
       {"--size 320x384 --partition 1x4x2x1 --precision f32", "--size 233x311 --partition 1x2x3x1",
        "--size 64x80 --partition 1x4x4x1 --recompute levels",
        "--size 96x64 --batch 2 --replicas 2 "
        "--partition 1x2x1x1 --norm-scope replica",
        "--size 100x60 --partition 1x8x1x1 --variant legacy",
        "--size 128x128 --input_partition_dims \"[[1, 2, 2, 1], None]\" --num_cores_per_replica 4"}) {
    const CommandResult r = run_voxshard("verify --json" + kNarrow + grid);
    EXPECT_EQ(r.exit_code, 0) << grid << "\n" << r.err;
    EXPECT_EQ(r.json().at("equal"), true) << grid << "\n" << r.out;
    EXPECT_GT(r.json().at("layers").at("compared"), 400) << grid;
  }
}

TEST(RetinaNetCli, BenchExplainAndPlanKnowTheModel) {
  const CommandResult bench =
      run_voxshard("bench step --steps 1 --warmup 0 --size 64x96 --partition 1x2x2x1 --json" + kNarrow);
  EXPECT_EQ(bench.exit_code, 0) << bench.err;
  EXPECT_GT(bench.json().at("step_seconds").at("median"), 0);
  EXPECT_EQ(bench.json().at("model").at("backbone"), "resnet18");
  const CommandResult program = run_voxshard("explain --stage program --size 64x96 --partition 1x2x2x1" + kNarrow);
  EXPECT_EQ(program.exit_code, 0) << program.err;
  EXPECT_THAT(program.out, testing::HasSubstr("class_head/predict/p7"));
  const CommandResult plan = run_voxshard("plan --size 256x256 --batch 2 --device tpu-v3-8 --json" + kNarrow);
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_GT(plan.json().at("time").at("step_seconds"), 0);
  EXPECT_EQ(run_voxshard("verify --size 64x64 --partition auto --cores 4 --device tpu-v3 --json" + kNarrow)
                .json()
                .at("equal"),
            true);
}

TEST(RetinaNetCli, TheReferenceConfigIsUnderstood) {
  const std::string config = " --config " VOXSHARD_SOURCE_DIR "/data/configs/retinanet_r50.toml ";
  expect_refusal("train /nowhere -o " + (Folder("reference") / "run") + config, 3, "input", "/nowhere");
  const CommandResult r = run_voxshard("explain --stage graph --size 32x32 --batch 8" + config);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, testing::HasSubstr("f32[8x4x4x819]")) << "9 anchors x 91 classes";
}

TEST(RetinaNetCli, AConfigFileWithAFieldOfAnotherModelIsRefused) {
  Folder folder("other_model");
  folder.write("c.toml", "model = \"retinanet\"\nloss = \"dice_ce\"\n");
  expect_refusal("verify --size 64x64 --config " + (folder / "c.toml"), 5, "config",
                 "--loss is not an option of retinanet");
}

TEST(RetinaNetCli, WhatIsWrongIsNamed) {
  const std::string verify = "verify --size 64x64 --model retinanet --pyramid-filters 8 --base-filters 4 ";
  expect_refusal(verify + "--partition 1x2x2x1x1", 5, "config", "4");
  expect_refusal(verify + "--norm instance", 5, "config", "--norm is not an option of retinanet");
  expect_refusal(verify + "--depth 3", 5, "config", "--depth");
  expect_refusal(verify + "--depth 4", 5, "config", "--depth is not an option of retinanet");  // its usual value
  expect_refusal(verify + "--backbone resnet101", 5, "config", "expected resnet18, resnet34, resnet50");
  expect_refusal(verify + "--variant newest", 5, "config", "expected detection, legacy");
  expect_refusal(verify + "--classes 1", 5, "config", "at least 2 classes");
  expect_refusal(verify + "--norm-momentum 1", 5, "config", "below 1");
  expect_refusal("verify --model retinanet --size 64x64x64", 5, "config", "512x512 (H W)");
  expect_refusal("verify --size 8x8x8 --backbone resnet18", 5, "config", "--backbone is not an option of unet3d");
}

}  // namespace
}  // namespace voxshard
