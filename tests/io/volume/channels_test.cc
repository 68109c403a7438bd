// Channels along the 4th axis of a NIfTI file: each is a volume, and a file with other channels is refused by what its
// axis is.
#include "io/files/channel_address.h"
#include "io/volume/volume.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Three channels of 2 x 1 x 2 voxels: 0 1 2 3, 10 11 12 13, 20 21 22 23.
const std::vector<double> kChannelValues = {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23};
NiftiSpec three_channels() { return {.dims = {2, 1, 2, 3}, .datatype = 4}; }

std::vector<float> channel_values(const Volume& volume) {
  const auto* v = volume.voxels.as<float>();
  return {v, v + volume.voxels.count()};
}

void expect_channels(const fs::path& file) {
  for (std::size_t c = 0; c < 3; ++c) {
    const fs::path address = channel_address(file, c, 3);
    const auto base = static_cast<float>(10 * c);
    const VolumeInfo info = check_volume(address);
    EXPECT_TRUE(info.readable) << info.problem;
    EXPECT_EQ(info.voxel_bytes, 8);
    EXPECT_THAT(info.dimensions, ElementsAre(2, 1, 2));
    const Volume channel = read_image(address);
    EXPECT_THAT(channel_values(channel), ElementsAre(base, base + 1, base + 2, base + 3));
    EXPECT_TRUE(same_geometry(channel.geometry, info.geometry, 0));
    EXPECT_EQ(read_label(address).voxels.as<std::int32_t>()[3], static_cast<int>(10 * c) + 3);
    EXPECT_EQ(files_of_volume(address).front(), file);
  }
}

TEST(Channels, OfAFourDimensionalFileAreVolumes) {
  ScratchFolder dir;
  for (const bool big_endian : {false, true}) {
    NiftiSpec spec = three_channels();
    spec.big_endian = big_endian;
    const std::string bytes = nifti_bytes(spec, kChannelValues);
    write_bytes(dir.path() / "a.nii", bytes);
    write_bytes(dir.path() / "a.nii.gz", gzipped(bytes, dir.path()));
    expect_channels(dir.path() / "a.nii");
    expect_channels(dir.path() / "a.nii.gz");
  }
  write_bytes(dir.path() / "two.nii", nifti2_bytes(three_channels(), kChannelValues));
  expect_channels(dir.path() / "two.nii");
}

TEST(Channels, TheWholeFileStaysNoVolume) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.nii", nifti_bytes(three_channels(), kChannelValues));
  expect_error(ErrorKind::kInput, "3 along the 4th: points in time, or channels",
               [&] { read_image(dir.path() / "a.nii"); });
}

TEST(Channels, OtherAxesAreRefusedByTheirMeaning) {
  ScratchFolder dir;
  const auto refused = [&](const NiftiSpec& spec, std::int16_t unit, const std::string& piece) {
    std::string bytes = nifti_bytes(spec, kChannelValues);
    bytes[123] = static_cast<char>(bytes[123] | unit);
    write_bytes(dir.path() / "a.nii", bytes);
    const fs::path address = channel_address(dir.path() / "a.nii", 0, 3);
    const VolumeInfo info = read_volume_info(address);
    EXPECT_FALSE(info.readable);
    EXPECT_EQ(info.problem_code, "E_SHAPE");
    EXPECT_THAT(info.problem, HasSubstr(piece));
    expect_error(ErrorKind::kInput, piece, [&] { read_image(address); });
  };
  refused({.dims = {2, 1, 2}, .datatype = 4}, 0, "has no 4th axis, expected 3 channels");
  refused({.dims = {2, 1, 2, 2}, .datatype = 4}, 0,
          "has 2 along the 4th axis: points in time, or channels, expected 3");
  refused({.dims = {2, 1, 2, 3}, .datatype = 4}, 32, "has 3 along the 4th axis: frequencies");
  refused({.dims = {2, 1, 2, 3, 2}, .datatype = 4}, 0, "has 2 along the 5th axis: values of a voxel");
}

TEST(Channels, TheUnitOfSecondsIsNoReasonToRefuseThem) {
  ScratchFolder dir;
  std::string bytes = nifti_bytes(three_channels(), kChannelValues);
  bytes[123] = 2 | 8;  // millimetres and seconds, as the Decathlon's files of channels have it
  write_bytes(dir.path() / "a.nii", bytes);
  expect_channels(dir.path() / "a.nii");
}

TEST(Channels, ATruncatedFileIsNoticedInEveryChannel) {
  ScratchFolder dir;
  const std::string bytes = nifti_bytes(three_channels(), kChannelValues), packed = gzipped(bytes, dir.path());
  const std::string cut = gzipped(bytes.substr(0, bytes.size() - 4), dir.path());
  write_bytes(dir.path() / "a.nii", bytes.substr(0, bytes.size() - 1));
  write_bytes(dir.path() / "b.nii.gz", packed.substr(0, packed.size() - 9));
  write_bytes(dir.path() / "c.nii.gz", cut);
  for (const char* name : {"a.nii", "b.nii.gz", "c.nii.gz"})
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_THROW(read_image(channel_address(dir.path() / name, c, 3)), Error) << name << " " << c;
}

TEST(Channels, ANanCostsTheChannelThatHasIt) {
  ScratchFolder dir;
  std::string bytes = nifti_bytes({.dims = {2, 1, 2, 3}, .datatype = 16}, kChannelValues);
  const float nan = std::nanf("");
  std::memcpy(&bytes[352 + 4 * 5], &nan, 4);  // the second voxel of channel 1
  write_bytes(dir.path() / "a.nii", bytes);
  read_image(channel_address(dir.path() / "a.nii", 0, 3));
  expect_error(ErrorKind::kInput, "(x, y, z) = (1, 0, 0)",
               [&] { read_image(channel_address(dir.path() / "a.nii", 1, 3)); });
}

TEST(Channels, OfOtherFormatsAreOfNoKnownFormat) {
  expect_error(ErrorKind::kInput, "is not named like", [&] { read_volume_info("a.nrrd#channel=0of2"); });
}

}  // namespace
}  // namespace voxshard
