// Files with sheared axes on the command line: left out with the numbers, resampled when asked for.
#include "tests/cli/run_voxshard.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

class ShearedCli : public testing::Test {
 protected:
  /// Writes image and label of a case of 24 x 24 x 24 voxels; `shear` mm along y per slice.
  void write_case(const std::string& id, float shear) const {
    NiftiSpec spec{.dims = {24, 24, 24}, .datatype = 4};
    spec.srow = {-1, 0, 0, 0, 0, -1, -shear, 0, 0, 0, 1, 0};
    std::vector<double> image, label;
    for (int z = 0; z < 24; ++z)
      for (int y = 0; y < 24; ++y)
        for (int x = 0; x < 24; ++x) {
          const bool inside = std::abs(x - 12) < 5 && std::abs(y - 12) < 5 && std::abs(z - 12) < 5;
          image.push_back(inside ? 60 + (x + y + z) % 5 : -900), label.push_back(inside);
        }
    write_bytes(folder_.path() / "data/imagesTr" / (id + "_0000.nii"), nifti_bytes(spec, image));
    write_bytes(folder_.path() / "data/labelsTr" / (id + ".nii"), nifti_bytes(spec, label));
  }
  ShearedCli() {
    write_case("upright", 0), write_case("leaning", 0.25F);
    folder_.write("data/dataset.json",
                  R"({"channel_names": {"0": "CT"}, "labels": {"background": 0, "organ": 1}, "numTraining": 2,
                      "file_ending": ".nii"})");
  }
  Folder folder_{"sheared"};
};

TEST_F(ShearedCli, ACaseIsQuarantinedOrResampled) {
  const std::string prepare = "prepare " + (folder_ / "data") + " -o " + (folder_ / "work") + " --spacing keep --json";
  const CommandResult refused = run_voxshard(prepare);
  EXPECT_EQ(refused.exit_code, 8) << refused.err;
  const std::string quarantine = file_text(folder_ / "work/quarantine.csv");
  EXPECT_THAT(quarantine, HasSubstr("leaning"));
  EXPECT_THAT(quarantine, HasSubstr("E_SHEAR"));
  EXPECT_THAT(quarantine, HasSubstr("14.036 degrees"));
  EXPECT_THAT(quarantine, HasSubstr("--irregular-slices resample"));
  const CommandResult r = run_voxshard(prepare + " --irregular-slices resample --resume");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("prepared"), 2) << "the plan is that of both cases";
  EXPECT_THAT(r.err, HasSubstr("W_RESAMPLED"));
  const auto size = [&](const char* id) {
    const std::string image = folder_ / (std::string("work/images/") + id + ".nii");
    return run_voxshard("info " + image + " --json").json().at("files").at(0).at("size");
  };
  EXPECT_EQ(size("upright"), nlohmann::json({24, 24, 24}));
  EXPECT_EQ(size("leaning"), nlohmann::json({24, 30, 24})) << "5.75 mm wider";
}

TEST_F(ShearedCli, AVolumeIsConvertedWhenAskedFor) {
  const std::string convert =
      "convert " + (folder_ / "data/imagesTr/leaning_0000.nii") + " -o " + (folder_ / "out.nii") + " --json";
  const CommandResult refused = run_voxshard(convert);
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_EQ(refused.json().at("error").at("code"), "E_SHEAR");
  EXPECT_THAT(refused.err, HasSubstr("would move a corner by"));
  EXPECT_FALSE(fs::exists(folder_ / "out.nii"));
  const CommandResult r = run_voxshard(convert + " --irregular-slices resample");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("size"), nlohmann::json({24, 30, 24}));
  EXPECT_THAT(r.json().at("warning").get<std::string>(),
              HasSubstr("W_RESAMPLED its axes are sheared by 14.04 degrees"));
}

TEST_F(ShearedCli, APredictionOfAResampledImageIsKeptOnlyWhileThatIsAskedFor) {
  run_voxshard("prepare " + (folder_ / "data") + " -o " + (folder_ / "work") + " --spacing keep");
  const CommandResult trained = run_voxshard("train " + (folder_ / "work") + " -o " + (folder_ / "run") +
                                             " --steps 1 --base-filters 4 --depth 2 --crop 8x8x8 --fold all");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::string predict =
      "predict " + (folder_ / "run") + " " + (folder_ / "data/imagesTr") + " -o " + (folder_ / "pred");
  ASSERT_EQ(run_voxshard(predict + " --irregular-slices resample").exit_code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "pred/leaning.nii.gz"));
  const CommandResult refused = run_voxshard(predict);
  EXPECT_EQ(refused.exit_code, 8) << refused.err;
  EXPECT_THAT(file_text(folder_ / "pred/quarantine.csv"), HasSubstr("E_SHEAR"));
  EXPECT_FALSE(fs::exists(folder_ / "pred/leaning.nii.gz"));
}

}  // namespace
}  // namespace voxshard
