// explain --draw as a user types it.
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kSmall = " --size 20x16x24 --base-filters 2 --depth 3 --partition 1x2x2x1x1 ";

TEST(DrawCli, WritesAPngAndSaysWhatItShows) {
  Folder folder("draw");
  const std::string draw = "explain --draw " + (folder / "t.png") + kSmall;
  CommandResult r = run_voxshard(draw);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("levels: 0 20x16x24, 1 10x8x12, 2 5x4x6"));
  EXPECT_THAT(file_text(folder / "t.png"), StartsWith("\x89PNG"));
  r = run_voxshard(draw + "--level encoder1 --json");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("size"), "10x8x12");
  EXPECT_EQ(r.json().at("tiles").size(), 4u);
  EXPECT_EQ(r.json().at("tiles")[0].at("own"), "[0:1, 0:5, 0:4, 0:12, 0:4]");
  EXPECT_EQ(r.json().at("views").size(), 3u);
}

TEST(DrawCli, TheSampleGivesTheSizeAndAutoPlansForIt) {
  Folder folder("draw_sample");
  ASSERT_EQ(run_voxshard("demo " + (folder / "data") + " --cases 1 --test 0 --quiet").exit_code, 0);
  const std::string ct = folder / "data/imagesTr/phantom_000_0000.nii.gz";
  const CommandResult r =
      run_voxshard("explain --json --base-filters 2 --depth 3 --partition auto --cores 4 --device tpu-v3 --draw " +
                   (folder / "t.png") + " --sample " + ct);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("tiles").size(), 4u);
  EXPECT_EQ(r.json().at("size"), "48x68x80") << "as large as it is, in multiples of 4 for depth 3";
}

TEST(DrawCli, RefusalsNameTheOptionAndTheChoices) {
  Folder folder("draw_refused");
  const std::string draw = "explain --draw " + (folder / "t.png") + kSmall;
  expect_refusal(draw + "--level 7", 5, "config",
                 "--level \"7\" is no level of this network; expected a level: 0 (20 x 16 x 24), 1 (10 x 8 x 12)");
  expect_refusal(draw + "--level encoder9", 5, "config", "did you mean encoder");
  expect_refusal(draw + "--sample " + (folder / "none.nii"), 3, "input", "none.nii");
  expect_refusal("explain --level 1" + kSmall, 2, "usage", "--draw");
  expect_refusal(draw + "--stage graph", 2, "usage", "--stage");
  EXPECT_FALSE(std::filesystem::exists(folder / "t.png"));
}

}  // namespace
}  // namespace voxshard
