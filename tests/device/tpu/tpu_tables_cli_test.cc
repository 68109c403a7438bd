// `voxshard bench tpu-tables` as a script and a person see it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

TEST(TpuTablesCli, JsonHasTheRowsOfTheIssue) {
  const CommandResult r = run_voxshard("bench tpu-tables --json");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  const auto json = r.json();
  ASSERT_TRUE(json.is_object()) << r.out;
  EXPECT_EQ(json.at("rows").at(0).at("published_seconds"), 3.428);
  EXPECT_GT(json.at("rows").at(0).at("emulated_seconds"), 0);
  EXPECT_EQ(json.at("rows").at(1).at("published_seconds"), 3.02);
  EXPECT_EQ(json.at("fitted_constants").size(), 2u);
}

TEST(TpuTablesCli, TextSaysWhatIsFittedWhatWasChosenAndWhatIsUnexplained) {
  const CommandResult r = run_voxshard("bench tpu-tables --quiet");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  for (const char* piece :
       {"unet3d-256-v3-128", "residual", "passes s", "materialise s", "left out", "Constants fitted to these rows: 2",
        "Unexplained:", "unet3d-256-v3-128 *", "*  unet3d-256-v3-128 is corrected", "2560x2560 on v3-64",
        "opposite by construction", "samples that do not fill the 8 sublanes cost products too, not memory alone: +",
        "samples that do not fill the 8 sublanes cost neither memory nor products: "})
    EXPECT_THAT(r.out, testing::HasSubstr(piece));
  EXPECT_EQ(r.err, "");
}

}  // namespace
}  // namespace voxshard
