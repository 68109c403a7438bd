// Sweeps over real and unusual files from other tools: each is read rightly or refused with a reason, never a crash.
#include <cmath>
#include <set>

#include "io/resampling/resample.h"
#include "io/volume/volume.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

TEST(TrickyVolumes, EachGivesAVolumeOrAClearError) {
  const fs::path root = test_data() / "nifti_tricky";
  REQUIRE_TEST_DATA(root);
  int read = 0, refused = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    try {
      const Volume v = read_image(entry.path());
      const Geometry& g = v.geometry;
      EXPECT_EQ(v.voxels.shape(), g.shape());
      EXPECT_EQ(orientation_code(g).size(), 3u);
      for (double s : g.spacing) EXPECT_GT(s, 0) << entry.path();
      for (int a = 0; a < 3; ++a)
        EXPECT_NEAR(std::hypot(g.direction[a], g.direction[3 + a], g.direction[6 + a]), 1, 1e-9) << entry.path();
      EXPECT_TRUE(read_volume_info(entry.path()).readable);
      ++read;
    } catch (const Error& e) {
      EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(ErrorKind::kInput)) << e.what();
      EXPECT_THAT(std::string(e.what()), testing::AllOf(testing::StartsWith("[input] "), testing::HasSubstr("; ")))
          << entry.path();
      ++refused;
    }
  }
  EXPECT_GE(read, 60);
  EXPECT_GE(refused, 30);
}

TEST(TrickyVolumes, NamedFilesGiveTheRightVolumes) {
  const fs::path root = test_data() / "nifti_tricky";
  REQUIRE_TEST_DATA(root);
  for (const char* type :
       {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"}) {
    const Volume v = read_image(root / "nifti-rs/27" / (std::string(type) + ".nii"));
    for (std::int64_t i = 0; i < 27; ++i)
      EXPECT_EQ(v.voxels.as<float>()[i], static_cast<float>(9 * (i % 3) + 3 * (i / 3 % 3) + i / 9)) << type;
  }
  EXPECT_TRUE(read_volume_info(root / "nifti-rs/zstat1.nii.gz").big_endian);
  const VolumeInfo shear = read_volume_info(root / "niivue/shear.nii.gz");
  EXPECT_EQ(shear.form_used, "qform");
  EXPECT_FALSE(shear.forms_agree);
  expect_error(ErrorKind::kInput, "complex", [&] { read_image(root / "niivue/complex.nii.gz"); });
  expect_error(ErrorKind::kInput, "rgb24", [&] { read_image(root / "nifti-rs/rgb/3D.nii"); });
  expect_error(ErrorKind::kInput, "4 dimensions", [&] { read_image(root / "nibabel/functional.nii"); });
  const VolumeInfo second = read_volume_info(root / "nibabel/example_nifti2.nii.gz");
  EXPECT_EQ(second.nifti_version, 2);
}

TEST(TrickyVolumes, OneImageInAllOrientationsIsTheSameInTheWorld) {
  const fs::path root = test_data() / "nifti_tricky/niivue_space";
  REQUIRE_TEST_DATA(root);
  const Volume reference = reorient(read_image(root / "LPS.nii.gz"), "LPS");
  std::set<std::string> codes;
  for (const auto& entry : fs::directory_iterator(root)) {
    const Volume v = read_image(entry.path());
    const std::string name = entry.path().filename().string().substr(0, 3);
    EXPECT_EQ(orientation_code(v.geometry), name);
    codes.insert(name);
    const Volume lps = reorient(v, "LPS");
    EXPECT_TRUE(same_geometry(lps.geometry, reference.geometry, 1e-3)) << name;
    EXPECT_LT(compare(lps.voxels.view(), reference.voxels.view()).max_abs, 1e-3) << name;
  }
  EXPECT_GE(codes.size(), 27u);
}

TEST(RealCt, EveryImageOfTheTrainingSetIsReadableAndOnItsLabelsGrid) {
  const fs::path root = test_data() / "ct/Dataset001_OpenKBP";
  REQUIRE_TEST_DATA(root);
  int cases = 0;
  for (const auto& entry : fs::directory_iterator(root / "labelsTr")) {
    const std::string id = entry.path().filename().string();
    const Volume label = read_label(entry.path());
    const Volume image = read_image(root / "imagesTr" / (id.substr(0, id.size() - 7) + "_0000.nii.gz"));
    EXPECT_TRUE(same_geometry(image.geometry, label.geometry)) << id;
    EXPECT_EQ(orientation_code(image.geometry), "LPS") << id;
    ++cases;
  }
  EXPECT_EQ(cases, 40);
}

}  // namespace
}  // namespace voxshard
