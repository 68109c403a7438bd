// Slices that lie at one place: headers tell them apart, or their pixels say whether one of them is there twice.
#include "io/dicom/doubled_slices.h"

#include "io/volume/dicom.h"
#include "io/volume/volume.h"
#include "tests/io/dicom_files.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A folder of slices of 2 x 2 pixels, 5 mm apart, in HU.
class DoubledSlices : public testing::Test {
 protected:
  struct Slice {
    double z = 0;
    std::int16_t value = 0;
    std::string acquisition = "1", temporal_position = "", intercept = "0";
    double x = 0;
  };
  void write(const std::vector<Slice>& slices, const std::string& folder = "scan") {
    for (const Slice& slice : slices) {
      const std::string number = std::to_string(count_++);
      DicomSpec spec{.instance = "1.2.3.9." + number, .acquisition = slice.acquisition};
      spec.position = {{slice.x, 0, slice.z}}, spec.intercept = slice.intercept;
      spec.temporal_position = slice.temporal_position;
      const auto v = slice.value;
      write_bytes(dir_.path() / folder / number, dicom_bytes(spec, {v, v, v, static_cast<std::int16_t>(v + slice.z)}));
    }
  }
  fs::path scan() const { return dir_.path() / "scan"; }
  /// The first value of each slice.
  static std::vector<float> values_of(const Volume& volume) {
    std::vector<float> values;
    for (std::int64_t z = 0; z < volume.geometry.size[2]; ++z) values.push_back(volume.voxels.as<float>()[4 * z]);
    return values;
  }
  VolumeInfo info() const { return read_volume_info(scan(), mending_); }

  ScratchFolder dir_;
  VolumeFormats mending_ = volume_formats_with(IrregularSlices::kResample);
  int count_ = 0;
};

TEST_F(DoubledSlices, AreRefusedByDefaultAlsoWhereTheyAreEqual) {
  write({{0, 10}, {5, 11}, {5, 11}});
  EXPECT_EQ(read_volume_info(scan()).problem_code, "E_DOUBLED");
}

TEST_F(DoubledSlices, CountOnceOnDemandWhereTheirValuesAreEqual) {
  write({{0, 10}, {5, 11}, {10, 12}, {5, 11}, {10, 12}, {10, 12}});
  EXPECT_TRUE(info().readable) << info().problem;
  EXPECT_EQ(info().warning, "W_DOUBLED 3 slices lie where another one with the same values lies; one of each is kept");
  const Volume volume = read_image(scan(), mending_);
  EXPECT_TRUE(same_geometry(volume.geometry, info().geometry, 0));
  EXPECT_THAT(values_of(volume), ElementsAre(10, 11, 12));
  EXPECT_DOUBLE_EQ(volume.geometry.spacing[2], 5);
  EXPECT_EQ(files_of_volume(scan(), mending_).size(), 6U) << "what is known by content has all files";
}

TEST_F(DoubledSlices, AreEqualWhereTheirRescaledValuesAre) {
  write({{0, 10}, {5, 11}, {5, 1011, "1", "", "-1000"}});
  EXPECT_THAT(values_of(read_image(scan(), mending_)), ElementsAre(10, 11));
}

TEST_F(DoubledSlices, OfAStudyInTwoFoldersAreTheStudy) {
  write({{0, 10}, {5, 11}, {10, 12}}, "scan/a");
  write({{0, 10}, {5, 11}, {10, 12}}, "scan/b");
  EXPECT_THAT(values_of(read_image(scan(), mending_)), ElementsAre(10, 11, 12));
}

TEST_F(DoubledSlices, ThatDifferAreRefusedWithTheNumbers) {
  write({{0, 10}, {5, 11}, {5, 11}, {10, 12}, {10, 52}});
  const std::string numbers =
      "has 2 slices at a place where another one lies, and 1 of them differs from that one, the first at 10.00 mm, in "
      "100.0 % of their pixels, by up to 40";
  EXPECT_EQ(info().problem_code, "E_DOUBLED");
  EXPECT_THAT(info().problem, HasSubstr(numbers));
  expect_error(ErrorKind::kInput, numbers, [&] { read_image(scan(), mending_); });
}

TEST_F(DoubledSlices, BesideEachOtherInThePlaneAreNotOne) {
  write({{0, 10}, {5, 11}, {.z = 5, .value = 11, .x = 2}});
  EXPECT_THAT(info().problem, HasSubstr("1 of them differs from that one, the first at 5.00 mm, which lies beside it"));
}

TEST_F(DoubledSlices, OfAScanWithGapsAreJoinedAndTheGapsFilled) {
  write({{0, 10}, {5, 20}, {5, 20}, {15, 40}, {20, 50}});
  EXPECT_THAT(info().warning, HasSubstr("W_RESAMPLED it lacks 1 slice where its spacing is 5.00 mm"));
  EXPECT_THAT(info().warning, HasSubstr("W_DOUBLED 1 slice lies"));
  EXPECT_THAT(values_of(read_image(scan(), mending_)), ElementsAre(10, 20, 30, 40, 50));
}

TEST_F(DoubledSlices, AFileThatChangedIsComparedAgain) {
  write({{0, 10}, {5, 11}, {5, 11}});
  EXPECT_EQ(info().problem, "");
  count_ = 2;
  write({{5, 12}});
  fs::last_write_time(scan() / "2", fs::last_write_time(scan() / "2") + std::chrono::seconds(5));
  EXPECT_THAT(info().problem, HasSubstr("1 of them differs"));
}

TEST_F(DoubledSlices, AFileBesideThemThatCannotBeReadStaysAReason) {
  write({{0, 10}, {5, 11}, {5, 11}});
  write_bytes(scan() / "cut.dcm", std::string(128, '\0') + "DICM and nothing more");
  EXPECT_EQ(info().problem_code, "E_READ");
  EXPECT_THAT(info().problem, HasSubstr("may lack slices"));
}

TEST_F(DoubledSlices, ThatHeadersTellApartAreSeriesOfTheirOwn) {
  write({{0, 10, "1", "1"}, {5, 11, "1", "1"}, {0, 20, "1", "2"}, {5, 21, "1", "2"}});
  const FoundVolumes times = find_volumes(scan());
  ASSERT_EQ(times.volumes.size(), 2U) << "one acquisition, two temporal positions";
  for (const FoundVolume& one : times.volumes) {
    EXPECT_EQ(one.better, "") << "two times of a perfusion are no two reconstructions";
    EXPECT_EQ(values_of(read_image(one.path)).size(), 2U);
  }
}

}  // namespace
}  // namespace voxshard
