// Channels along the 4th axis of a NIfTI file: each is a volume, and a file with other channels is refused by what its
// axis is.
#include "io/files/channel_address.h"
#include "io/volume/volume.h"
#include "tests/io/archive_files.h"
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

/// The values of kChannelValues as shorts, in their order or channel by channel within each voxel.
std::string channel_shorts(bool interleaved) {
  std::string bytes;
  for (std::size_t i = 0; i < kChannelValues.size(); ++i)
    append_scalar(bytes, 4, kChannelValues[interleaved ? i % 3 * 4 + i / 3 : i], false);
  return bytes;
}
constexpr const char* kNrrdTypes =
    "NRRD0004\ntype: short\ndimension: 4\nspace: left-posterior-superior\nendian: little\n";
constexpr const char* kAxes = "(2,0,0) (0,1,0) (0,0,3)";

/// Writes channels along the first or the last axis.
void write_nrrd_channels(const fs::path& path, bool first, const std::string& encoding, const std::string& bytes,
                         const std::string& kind = "list") {
  const std::string axes = kAxes;
  write_bytes(path, kNrrdTypes + ("encoding: " + encoding) + "\nsizes: " + (first ? "3 2 1 2" : "2 1 2 3") +
                        "\nspace directions: " + (first ? "none " + axes : axes + " none") +
                        "\nkinds: " + (first ? kind + " domain domain domain" : "domain domain domain " + kind) +
                        "\nspace origin: (5,6,7)\n\n" + bytes);
}

TEST(Channels, OfNrrdFilesLieAlongTheFirstOrTheLastAxis) {
  ScratchFolder dir;
  for (const bool first : {false, true}) {
    const std::string bytes = channel_shorts(first);
    write_nrrd_channels(dir.path() / "a.nrrd", first, "raw", bytes);
    expect_channels(dir.path() / "a.nrrd");
    const Geometry at = read_image(channel_address(dir.path() / "a.nrrd", 2, 3)).geometry;
    EXPECT_THAT(at.spacing, ElementsAre(2, 1, 3));
    EXPECT_THAT(at.origin, ElementsAre(5, 6, 7));
    write_nrrd_channels(dir.path() / "b.nrrd", first, "gzip", gzipped(bytes, dir.path()));
    expect_channels(dir.path() / "b.nrrd");
  }
  // Without kinds and directions the last axis is the one of channels.
  write_bytes(dir.path() / "c.nrrd",
              "NRRD0001\ntype: short\ndimension: 4\nsizes: 2 1 2 3\nspacings: 1 1 2 1\n"
              "encoding: raw\nendian: little\n\n" +
                  channel_shorts(false));
  expect_channels(dir.path() / "c.nrrd");
  // The voxels end where the file does.
  write_bytes(dir.path() / "d.nrrd",
              "NRRD0001\ntype: short\ndimension: 4\nsizes: 2 1 2 3\nspacings: 1 1 2 1\n"
              "encoding: raw\nendian: little\nbyte skip: -1\n\nabc" +
                  channel_shorts(false));
  expect_channels(dir.path() / "d.nrrd");
  write_bytes(dir.path() / "e.raw", channel_shorts(true));
  write_bytes(dir.path() / "e.nhdr",
              "NRRD0004\ntype: short\ndimension: 4\nsizes: 3 2 1 2\nkinds: vector space space "
              "space\nencoding: raw\nendian: little\ndata file: e.raw\n");
  expect_channels(dir.path() / "e.nhdr");
  EXPECT_THAT(files_of_volume(channel_address(dir.path() / "e.nhdr", 0, 3)),
              ElementsAre(dir.path() / "e.nhdr", dir.path() / "e.raw"));
}

TEST(Channels, OfMetaImageFilesLieAlongA4thAxisOrWithinTheVoxels) {
  ScratchFolder dir;
  const std::string begin = "ObjectType = Image\n", end = "ElementType = MET_SHORT\nElementDataFile = LOCAL\n";
  write_bytes(dir.path() / "a.mha", begin +
                                        "NDims = 4\nDimSize = 2 1 2 3\nElementSpacing = 2 1 3 1\nOffset = 5 6 7 0\n"
                                        "TransformMatrix = 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\n" +
                                        end + channel_shorts(false));
  write_bytes(dir.path() / "b.mha", begin +
                                        "NDims = 3\nDimSize = 2 1 2\nElementSpacing = 2 1 3\nOffset = 5 6 7\n"
                                        "ElementNumberOfChannels = 3\n" +
                                        end + channel_shorts(true));
  for (const char* name : {"a.mha", "b.mha"}) {
    expect_channels(dir.path() / name);
    const Geometry at = read_image(channel_address(dir.path() / name, 1, 3)).geometry;
    EXPECT_THAT(at.spacing, ElementsAre(2, 1, 3)) << name;
    EXPECT_THAT(at.origin, ElementsAre(5, 6, 7)) << name;
    expect_error(ErrorKind::kInput, "", [&] { read_image(dir.path() / name); });
  }
}

TEST(Channels, OfTextHeadersAreRefusedByTheirMeaning) {
  ScratchFolder dir;
  const fs::path nrrd = dir.path() / "a.nrrd";
  const auto refused = [&](const fs::path& file, std::size_t of, const std::string& piece) {
    const fs::path address = channel_address(file, 0, of);
    const VolumeInfo info = read_volume_info(address);
    EXPECT_FALSE(info.readable);
    EXPECT_EQ(info.problem_code, "E_SHAPE");
    EXPECT_THAT(info.problem, HasSubstr(piece));
    expect_error(ErrorKind::kInput, piece, [&] { read_image(address); });
  };
  write_nrrd_channels(nrrd, false, "raw", channel_shorts(false));
  refused(nrrd, 2, "has 3 along the axis of its channels, expected 2 channels");
  for (const char* kind : {"time", "RGB-color", "domain"}) {  // the last has a direction in space in no form
    write_nrrd_channels(nrrd, true, "raw", channel_shorts(true), kind);
    if (std::string_view(kind) == "domain")
      expect_channels(nrrd);  // the axis without a direction
    else
      refused(nrrd, 3, "has no axis of channels, expected 3 channels");
  }
  write_bytes(nrrd,
              "NRRD0004\ntype: short\ndimension: 4\nsizes: 2 3 1 2\nkinds: space list space space\nencoding: raw\n"
              "endian: little\n\n" +
                  channel_shorts(false));
  refused(nrrd, 3, "has its channels between its axes of space");
  write_bytes(nrrd, "NRRD0004\ntype: short\ndimension: 3\nsizes: 2 2 3\nencoding: raw\nendian: little\n\n" +
                        channel_shorts(false));
  refused(nrrd, 3, "has no axis of channels");
  const fs::path mha = dir.path() / "a.mha";
  write_bytes(mha,
              "NDims = 4\nDimSize = 2 1 2 3\nElementNumberOfChannels = 2\nElementType = MET_SHORT\n"
              "ElementDataFile = LOCAL\n" +
                  channel_shorts(false) + channel_shorts(false));
  refused(mha, 3, "has no axis of channels");
}

TEST(Channels, ATruncatedTextVolumeIsNoticedInEveryChannel) {
  ScratchFolder dir;
  for (const bool first : {false, true}) {
    const std::string bytes = channel_shorts(first), packed = gzipped(bytes.substr(0, bytes.size() - 2), dir.path());
    write_nrrd_channels(dir.path() / "a.nrrd", first, "raw", bytes.substr(0, bytes.size() - 1));
    write_nrrd_channels(dir.path() / "b.nrrd", first, "gzip", packed);
    for (const char* name : {"a.nrrd", "b.nrrd"})
      for (std::size_t c = 0; c < 3; ++c)
        expect_error(ErrorKind::kInput, "is truncated", [&] { read_image(channel_address(dir.path() / name, c, 3)); });
  }
}

TEST(Channels, OfADicomFileAreOfNoKnownFormat) {
  expect_error(ErrorKind::kInput, "is not named like", [&] { read_volume_info("a.dcm#channel=0of2"); });
}

TEST(Channels, OfAFileInAnArchiveHaveAddressesToo) {
  ScratchFolder dir;
  const fs::path path = dir.path() / "study.zip";
  write_bytes(path, archive_bytes("zip", {{"a.nii", nifti_bytes(three_channels(), kChannelValues)}}));
  const FoundVolumes found = find_volumes(path);
  ASSERT_EQ(found.volumes.size(), 1u);
  for (std::size_t c = 0; c < 3; ++c) {
    const Volume channel = read_image(channel_address(found.volumes[0].path, c, 3));
    EXPECT_EQ(channel.voxels.as<float>()[1], 10 * c + 1);
  }
  expect_error(ErrorKind::kInput, "has 3 along the 4th axis",
               [&] { read_image(channel_address(found.volumes[0].path, 0, 2)); });
}

}  // namespace
}  // namespace voxshard
