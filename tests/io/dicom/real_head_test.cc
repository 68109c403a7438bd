// The head CT of the test data with what happens to series in hospitals done to it: a tilted gantry, uneven positions,
// shuffled names, two folders, two reconstructions with one UID, missing and doubled slices. DCMTK edits the files.
#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dctk.h>

#include <numbers>

#include "io/dicom/dicom_header.h"
#include "io/dicom/dicom_library.h"
#include "io/volume/dicom.h"
#include "libcore/base/text.h"
#include "tests/io/dicom_files.h"
#include "tests/io/spheres.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::HasSubstr;
using Vector = std::array<double, 3>;

struct RealSlice {
  fs::path file;
  Vector at{};  // of its first pixel, mm, LPS
};

/// What is written into a slice in place of its own values.
struct SliceEdit {
  Vector at{};
  std::array<double, 6> cosines{1, 0, 0, 0, 1, 0};  // along a row, along a column
  std::string kernel = {};                          // empty: as it is
  std::string instance = {};                        // UID; empty: as it is
};

constexpr int kSide = 512;
constexpr double kPixelMm = 0.451171875;
constexpr double kStepMm = 5;
constexpr const char* kFace = "W_FACE it shows a head: a face can be drawn from its voxels, whatever its header says";

/// Adds the light of the spheres to the pixels, at the places that the edit gives them.
void add_light(DcmDataset& set, const SliceEdit& edit, const std::vector<Sphere>& spheres) {
  const Uint16* stored = nullptr;
  unsigned long count = 0;
  ASSERT_TRUE(set.findAndGetUint16Array(DCM_PixelData, stored, &count).good());
  ASSERT_EQ(count, static_cast<unsigned long>(kSide * kSide));
  std::vector<Uint16> lit(stored, stored + count);
  const auto& c = edit.cosines;
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x) {
      Vector at = edit.at;
      for (std::size_t r = 0; r < 3; ++r) at[r] += kPixelMm * (c[r] * x + c[3 + r] * y);
      Uint16& pixel = lit[y * kSide + x];
      pixel = static_cast<Uint16>(pixel + std::lround(light_of(spheres, at)));
    }
  set.putAndInsertUint16(DCM_BitsStored, 16);
  set.putAndInsertUint16(DCM_HighBit, 15);
  set.putAndInsertUint16Array(DCM_PixelData, lit.data(), count);
}

void write_edited(const fs::path& from, const fs::path& to, const SliceEdit& edit,
                  const std::vector<Sphere>& spheres = {}) {
  const DicomLibrary quiet;
  DcmFileFormat file;
  ASSERT_TRUE(file.loadFile(from.c_str()).good());
  DcmDataset& set = *file.getDataset();
  set.putAndInsertString(DCM_ImagePositionPatient, decimals(edit.at).c_str());
  set.putAndInsertString(DCM_ImageOrientationPatient, decimals(edit.cosines).c_str());
  if (!edit.kernel.empty()) set.putAndInsertString(DCM_ConvolutionKernel, edit.kernel.c_str());
  if (!edit.instance.empty()) set.putAndInsertString(DCM_SOPInstanceUID, edit.instance.c_str());
  if (!spheres.empty()) add_light(set, edit, spheres);
  fs::create_directories(to.parent_path());
  ASSERT_TRUE(file.saveFile(to.c_str(), EXS_LittleEndianExplicit).good());
}

class RealHead : public testing::Test {
 protected:
  void SetUp() override {
    REQUIRE_TEST_DATA(source());
    for (const auto& entry : fs::directory_iterator(source()))
      if (const DicomHeader h = read_dicom_header(entry.path()); h.rows > 0)
        slices_.push_back({entry.path(), h.frames.at(0).position.value()});
    std::sort(slices_.begin(), slices_.end(), [](const auto& a, const auto& b) { return a.at[2] < b.at[2]; });
    ASSERT_EQ(slices_.size(), 28U);
  }
  static fs::path source() { return test_data() / "dicom_tricky" / "dcm_qa_ct_philips" / "S2010"; }
  double z_of(std::size_t slice) const { return slices_[slice].at[2]; }

  /// Copies the slices that `name` gives a name to.
  template <class Name>
  void copy(const Name& name) const {
    for (std::size_t i = 0; i < slices_.size(); ++i)
      if (const std::string to = name(i); !to.empty()) {
        fs::create_directories((dir_.path() / to).parent_path());
        fs::copy_file(slices_[i].file, dir_.path() / to);
      }
  }

  static bool are_equal(const Volume& a, const Volume& b) {
    return same_geometry(a.geometry, b.geometry, 0) && compare(a.voxels.view(), b.voxels.view()).bit_equal;
  }

  /// Expects a folder to be refused with a code and the numbers, by the header and by the reader.
  static void expect_refused(const fs::path& folder, const std::string& code, const std::string& numbers) {
    const VolumeInfo info = read_volume_info(folder);
    EXPECT_FALSE(info.readable);
    EXPECT_EQ(info.problem_code, code);
    EXPECT_THAT(info.problem, HasSubstr(numbers));
    try {
      read_image(folder);
      ADD_FAILURE() << "it was read, expected " << code;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), code);
      EXPECT_THAT(e.what(), HasSubstr(numbers));
    }
  }

  /// Gives the slices these places, and expects the series to be refused, and to keep planted spheres when resampled:
  /// they are what the series with them has more than the one without.
  template <class Edit>
  void expect_spheres_kept(const Edit& edit, const std::vector<Sphere>& spheres, const std::string& code,
                           const std::string& numbers) const {
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      const std::string name = std::to_string(i * 11 % 28);
      write_edited(slices_[i].file, dir_.path() / "plain" / name, edit(i));
      write_edited(slices_[i].file, dir_.path() / "lit" / name, edit(i), spheres);
    }
    expect_refused(dir_.path() / "plain", code, numbers);
    const VolumeFormats mending = volume_formats_with(IrregularSlices::kResample);
    EXPECT_THAT(read_volume_info(dir_.path() / "lit", mending).warning, HasSubstr("W_RESAMPLED"));
    const Volume plain = read_image(dir_.path() / "plain", mending);
    Volume lit = read_image(dir_.path() / "lit", mending);
    ASSERT_TRUE(same_geometry(plain.geometry, lit.geometry, 0));
    for (std::int64_t i = 0; i < lit.voxels.count(); ++i) lit.voxels.as<float>()[i] -= plain.voxels.as<float>()[i];
    expect_spheres(lit, spheres, 0);
  }

  std::vector<RealSlice> slices_;  // from the feet to the head
  ScratchFolder dir_{"real_head"};
};

TEST_F(RealHead, ShuffledNamesGiveTheVeryVoxels) {
  copy([](std::size_t i) { return "IM" + std::to_string(i * 11 % 28); });
  EXPECT_TRUE(are_equal(read_image(dir_.path()), read_image(source())));
}

TEST_F(RealHead, OneSeriesOverTwoFoldersGivesTheVeryVoxels) {
  copy([](std::size_t i) { return (i % 3 == 0 ? "CD1/" : "CD2/") + std::to_string(i); });
  EXPECT_TRUE(are_equal(read_image(dir_.path()), read_image(source())));
}

TEST_F(RealHead, TwoReconstructionsWithOneSeriesUidAreTwoSeries) {
  copy([](std::size_t i) { return std::to_string(i); });
  for (std::size_t i = 0; i < slices_.size(); ++i)
    write_edited(slices_[i].file, dir_.path() / ("sharp" + std::to_string(i)),
                 {.at = slices_[i].at, .kernel = "YD", .instance = "1.2.3." + std::to_string(i)},
                 {{{0, 100, z_of(14)}, 10}});
  const FoundVolumes found = find_volumes(dir_.path());
  ASSERT_EQ(found.volumes.size(), 2U);
  const Volume original = read_image(source());
  int equal = 0, standing_back = 0;
  for (const FoundVolume& volume : found.volumes) {
    standing_back += volume.better.empty() ? 0 : 1;
    EXPECT_EQ(read_volume_info(volume.path).warning, kFace);
    const Volume read = read_image(volume.path);
    EXPECT_TRUE(same_geometry(read.geometry, original.geometry, 0));
    equal += compare(read.voxels.view(), original.voxels.view()).bit_equal ? 1 : 0;
  }
  EXPECT_EQ(equal, 1);
  EXPECT_EQ(standing_back, 1) << "the soft one stands for the scan";
}

TEST_F(RealHead, MissingSlicesAreRefusedAndInterpolatedOnDemand) {
  copy([](std::size_t i) { return i == 9 || i == 10 || i == 20 ? "" : std::to_string(i); });
  expect_refused(dir_.path(), "E_GAP",
                 "lacks 3 slices where its spacing is 5.00 mm; the first gap is between slices 9 and 10, at " +
                     fixed_text(z_of(8), 2) + " mm and " + fixed_text(z_of(11), 2) + " mm");
  const Volume mended = read_image(dir_.path(), volume_formats_with(IrregularSlices::kResample));
  const Volume original = read_image(source());
  ASSERT_TRUE(same_geometry(mended.geometry, original.geometry, 1e-6));
  const auto voxel = [](const Volume& v, std::int64_t slice, std::int64_t i) {
    return v.voxels.as<float>()[slice * kSide * kSide + i];
  };
  float most = 0;
  for (std::int64_t i = 0; i < kSide * kSide; ++i) {
    for (const std::int64_t there : {0, 8, 11, 19, 21, 27})
      most = std::max(most, std::abs(voxel(mended, there, i) - voxel(original, there, i)));
    const float between = (2 * voxel(original, 8, i) + voxel(original, 11, i)) / 3;
    most = std::max(most, std::abs(voxel(mended, 9, i) - between));
  }
  EXPECT_LT(most, 0.01F);
}

TEST_F(RealHead, SlicesThatAreThereTwiceAreRefusedAndCountOnceOnDemand) {
  copy([](std::size_t i) { return std::to_string(i); });
  for (const std::size_t i : {5U, 17U})
    write_edited(slices_[i].file, dir_.path() / ("again" + std::to_string(i)),
                 {.at = slices_[i].at, .instance = "1.2.3." + std::to_string(i)});
  expect_refused(dir_.path(), "E_DOUBLED",
                 "has 2 slices at a place where another one lies, the first at " + fixed_text(z_of(5), 2) + " mm");
  const VolumeFormats mending = volume_formats_with(IrregularSlices::kResample);
  EXPECT_EQ(
      read_volume_info(dir_.path(), mending).warning,
      std::string(kFace) + "; W_DOUBLED 2 slices lie where another one with the same values lies; one of each is kept");
  EXPECT_TRUE(are_equal(read_image(dir_.path(), mending), read_image(source())));
}

TEST_F(RealHead, SlicesThatDifferAtOnePlaceAreRefusedOnDemandToo) {
  copy([](std::size_t i) { return std::to_string(i); });
  write_edited(slices_[5].file, dir_.path() / "equal", {.at = slices_[5].at, .instance = "1.2.3.4"});
  write_edited(slices_[9].file, dir_.path() / "other", {.at = slices_[9].at, .instance = "1.2.3.5"},
               {{{0, 100, z_of(9)}, 10}});
  const VolumeFormats mending = volume_formats_with(IrregularSlices::kResample);
  const VolumeInfo info = read_volume_info(dir_.path(), mending);
  EXPECT_FALSE(info.readable);
  EXPECT_EQ(info.problem_code, "E_DOUBLED");
  const std::string numbers =
      "has 2 slices at a place where another one lies, and 1 of them differs from that one, "
      "the first at " +
      fixed_text(z_of(9), 2) + " mm, in ";
  EXPECT_THAT(info.problem, HasSubstr(numbers));
  expect_error(ErrorKind::kInput, numbers, [&] { read_image(dir_.path(), mending); });
}

// At the 5 mm of this scan two slices meet a sphere of 6 mm, and linear interpolation at uneven distances moves it by
// up to 0.3 mm: the uneven places are those of a thinner scan.
TEST_F(RealHead, UnevenPositionsAreRefusedAndKeepSpheresOnDemand) {
  const double low = z_of(0);
  const auto edit = [&](std::size_t i) {
    const double thirds = static_cast<double>(i / 3), rest = static_cast<double>(i % 3);
    return SliceEdit{.at = {slices_[i].at[0], slices_[i].at[1], low + 4.5 * thirds + 1.75 * rest}};
  };
  expect_spheres_kept(edit, {{{-30, 90, low + 10}, 6}, {{10, 120, low + 22}, 8}, {{45, 70, low + 25}, 10}},
                      "E_IRREGULAR", "has slices at irregular distances, 1.00 mm to 1.75 mm");
}

constexpr double kTilt = 14 * std::numbers::pi / 180;

/// In the middle of the scan.
std::vector<Sphere> spheres_around(double z) {
  return {{{-30, 90, z}, 6}, {{10, 120, z + 13}, 8}, {{25, 100, z - 14}, 10}};
}

TEST_F(RealHead, SlicesThatShiftAreRefusedAndKeepSpheresOnDemand) {
  const auto edit = [&](std::size_t i) {
    const Vector& at = slices_[i].at;
    return SliceEdit{.at = {at[0], at[1] + std::tan(kTilt) * (at[2] - z_of(14)), at[2]}};
  };
  expect_spheres_kept(
      edit, spheres_around(z_of(14)), "E_TILT",
      "its slices shift by " + fixed_text(27 * kStepMm * std::tan(kTilt), 2) + " mm over 135.00 mm, 14.00 degrees");
}

TEST_F(RealHead, TiltedPlanesAlongAStraightTableAreRefusedAndKeepSpheresOnDemand) {
  const auto edit = [&](std::size_t i) {
    return SliceEdit{.at = slices_[i].at, .cosines = {1, 0, 0, 0, std::cos(kTilt), std::sin(kTilt)}};
  };
  const double length = 27 * kStepMm;
  expect_spheres_kept(edit, spheres_around(z_of(14) + 10), "E_TILT",
                      "its slices shift by " + fixed_text(length * std::sin(kTilt), 2) + " mm over " +
                          fixed_text(length * std::cos(kTilt), 2) + " mm, 14.00 degrees");
}

}  // namespace
}  // namespace voxshard
