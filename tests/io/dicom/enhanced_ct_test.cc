// Enhanced (multi-frame) CT: the same voxels on the same grid as the slices in files of their own.
#include <set>

#include "io/volume/volume.h"
#include "tests/io/enhanced_files.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Three slices, from the feet to the head.
constexpr std::array<std::array<double, 3>, 3> kPlaces = {{{-10, -20, 30}, {-10, -20, 32}, {-10, -20, 34}}};
const std::array<std::vector<std::int16_t>, 3> kStored = {{{1, 2, 3, -4}, {50, 60, 70, 80}, {900, 901, 902, 1903}}};
struct Factors {
  std::string slope, intercept;
};

/// The frames in this order, without factors of their own.
EnhancedSpec enhanced_ct(const std::vector<std::size_t>& order) {
  EnhancedSpec spec;
  for (const std::size_t z : order) spec.frames.push_back({.position = kPlaces[z]});
  return spec;
}

class EnhancedCt : public testing::Test {
 protected:
  Volume read(const EnhancedSpec& spec, const std::vector<std::size_t>& order) const {
    std::vector<std::int16_t> stored;
    for (const std::size_t z : order) stored.insert(stored.end(), kStored[z].begin(), kStored[z].end());
    write_bytes(dir_.path() / "enhanced.dcm", enhanced_bytes(spec, stored));
    EXPECT_EQ(read_volume_info(dir_.path() / "enhanced.dcm").warning, "");
    return read_image(dir_.path() / "enhanced.dcm");
  }
  Volume read_classic(const std::array<Factors, 3>& factors) const {
    for (std::size_t z = 0; z < 3; ++z) {
      DicomSpec spec{.instance = "1.2.3.4." + std::to_string(z), .position = kPlaces[z]};
      spec.slope = factors[z].slope, spec.intercept = factors[z].intercept;
      write_bytes(dir_.path() / "classic" / std::to_string(z), dicom_bytes(spec, kStored[z]));
    }
    return read_image(dir_.path() / "classic");
  }
  static void expect_equal(const Volume& a, const Volume& b) {
    EXPECT_TRUE(same_geometry(a.geometry, b.geometry, 0));
    EXPECT_TRUE(compare(a.voxels.view(), b.voxels.view()).bit_equal);
  }
  ScratchFolder dir_{"enhanced_ct"};
};

TEST_F(EnhancedCt, FramesOutOfOrderWithFactorsOfTheirOwnAreTheSlicesOfFiles) {
  const std::array<Factors, 3> factors = {{{"1", "-1024"}, {"2", "-1000"}, {"0.5", "3"}}};
  const std::vector<std::size_t> order = {2, 0, 1};
  EnhancedSpec spec = enhanced_ct(order);
  for (std::size_t i = 0; i < 3; ++i)
    spec.frames[i].slope = factors[order[i]].slope, spec.frames[i].intercept = factors[order[i]].intercept;
  const Volume volume = read(spec, order);
  expect_equal(volume, read_classic(factors));
  const auto* v = volume.voxels.as<float>();
  EXPECT_THAT(std::vector<float>(v, v + 12),
              ElementsAre(-1023, -1022, -1021, -1028, -900, -880, -860, -840, 453, 453.5F, 454, 954.5F));
  EXPECT_THAT(volume.geometry.spacing, ElementsAre(0.75, 0.5, 2));
  EXPECT_THAT(volume.geometry.origin, ElementsAre(-10, -20, 30));
}

TEST_F(EnhancedCt, SharedFactorsHoldForFramesWithoutTheirOwn) {
  const std::vector<std::size_t> order = {1, 2, 0};
  EnhancedSpec spec = enhanced_ct(order);
  spec.slope = "2", spec.intercept = "-1000";
  spec.frames[1].slope = "0.5", spec.frames[1].intercept = "3";
  expect_equal(read(spec, order), read_classic({{{"2", "-1000"}, {"2", "-1000"}, {"0.5", "3"}}}));
  spec.frames[1].slope = "";  // the intercept alone is its own
  expect_equal(read(spec, order), read_classic({{{"2", "-1000"}, {"2", "-1000"}, {"2", "3"}}}));
}

TEST_F(EnhancedCt, PlaneAndPixelSizeMayStandInEachFrame) {
  const std::vector<std::size_t> order = {0, 1, 2};
  EnhancedSpec spec = enhanced_ct(order);
  spec.slope = "1", spec.intercept = "-1024";
  for (EnhancedFrame& frame : spec.frames)
    frame.orientation = spec.orientation, frame.pixel_spacing = spec.pixel_spacing;
  spec.orientation = spec.pixel_spacing = "";
  expect_equal(read(spec, order), read_classic({{{"1", "-1024"}, {"1", "-1024"}, {"1", "-1024"}}}));
}

TEST_F(EnhancedCt, PaddedPixelsAreAirInAllFrames) {
  EnhancedSpec spec = enhanced_ct({0, 1});
  spec.slope = "1", spec.intercept = "-1024", spec.padding = -2000;
  write_bytes(dir_.path() / "a.dcm", enhanced_bytes(spec, {-2000, 0, 1, 2, 3, 4, 5, -2000}));
  const Volume volume = read_image(dir_.path() / "a.dcm");
  EXPECT_EQ(volume.voxels.as<float>()[0], -1024);
  EXPECT_EQ(volume.voxels.as<float>()[7], -1024);
}

TEST_F(EnhancedCt, FramesThatMakeNoVolumeAreRefusedWithTheNumbers) {
  const auto problem_of = [&](const EnhancedSpec& spec) {
    write_bytes(dir_.path() / "a.dcm", enhanced_bytes(spec, std::vector<std::int16_t>(4 * spec.frames.size())));
    const VolumeInfo info = read_volume_info(dir_.path() / "a.dcm");
    return info.problem_code + std::string(" ") + info.problem;
  };
  EnhancedSpec gap = enhanced_ct({0, 1, 2});
  gap.frames.push_back({.position = {{-10, -20, 38}}});
  EXPECT_THAT(problem_of(gap), HasSubstr("E_GAP lacks 1 slice where its spacing is 2.00 mm"));
  EXPECT_THAT(problem_of(enhanced_ct({0, 1, 1})), HasSubstr("E_DOUBLED has 1 slice"));
  EnhancedSpec unplaced = enhanced_ct({0, 1});
  unplaced.frames[1].position.reset();
  EXPECT_THAT(problem_of(unplaced), HasSubstr("E_POSITION"));
}

TEST_F(EnhancedCt, TwoStacksInOneFileAreTwoSeries) {
  EnhancedSpec spec = enhanced_ct({0, 1, 2});
  spec.slope = "1", spec.intercept = "-1024";
  for (const double x : {0.0, 3.0})
    spec.frames.push_back({.position = {{x, 0, 0}}, .orientation = "0\\1\\0\\0\\0\\-1"});
  write_bytes(dir_.path() / "a.dcm", enhanced_bytes(spec, std::vector<std::int16_t>(20, 7)));
  const FoundVolumes found = find_volumes(dir_.path());
  ASSERT_EQ(found.volumes.size(), 2U);
  std::set<std::int64_t> counts;
  for (const FoundVolume& volume : found.volumes) counts.insert(read_image(volume.path).geometry.size[2]);
  EXPECT_THAT(counts, ElementsAre(2, 3));
}

}  // namespace
}  // namespace voxshard
