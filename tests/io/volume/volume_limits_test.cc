// The sizes in a header are checked before anything is allocated, and check_volume() reads files to their end.
#include "io/volume/volume_limits.h"

#include "io/volume/volume.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

VolumeFormats within(const VolumeLimits& limits) { return {.rows = volume_formats().rows, .limits = limits}; }

/// Expects readers to refuse the file with `code` and a piece of text.
void expect_too_large(const fs::path& file, const VolumeLimits& limits, const std::string& piece,
                      const char* code = "E_SIZE") {
  for (auto* read : {&read_image, &read_label}) try {
      (*read)(file, within(limits));
      ADD_FAILURE() << "read what is too large";
    } catch (const Error& e) {
      EXPECT_STREQ(e.code(), code) << e.what();
      EXPECT_THAT(std::string(e.what()), HasSubstr(piece));
    }
}

/// Writes a header of x * y * z one-byte voxels and `bytes` zeros, gzipped.
void write_bomb(const fs::path& file, const std::vector<std::int16_t>& dims, std::int64_t bytes) {
  std::string header = nifti_bytes({.dims = {1, 1, 1}, .datatype = 2}, {0}).substr(0, 352);
  for (std::size_t i = 0; i < 3; ++i) std::memcpy(&header[42 + 2 * i], &dims[i], 2);
  const std::string zeros(1 << 20, '\0');
  gzFile gz = gzopen(file.c_str(), "wb1");
  gzwrite(gz, header.data(), 352);
  for (std::int64_t done = 0; done < bytes; done += 1 << 20)
    gzwrite(gz, zeros.data(), static_cast<unsigned>(std::min<std::int64_t>(1 << 20, bytes - done)));
  gzclose(gz);
}

TEST(VolumeLimits, MoreVoxelsThanAreReadAreRefusedByTheHeader) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.nii", nifti_bytes({.dims = {10, 10, 11}, .datatype = 4}, {1}));
  EXPECT_EQ(read_image(dir.path() / "a.nii", within({.most_voxels = 1100})).voxels.count(), 1100);
  expect_too_large(dir.path() / "a.nii", {.most_voxels = 1099}, "10x10x11 voxels, more than the 1099");
}

TEST(VolumeLimits, WhatReadingTakesIsHeldAgainstTheMemory) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.nii", nifti_bytes({.dims = {10, 10, 10}, .datatype = 64}, {1}));
  EXPECT_EQ(reading_bytes(read_volume_info(dir.path() / "a.nii")), 4000) << "the result alone, whatever the disk holds";
  EXPECT_NO_THROW(read_image(dir.path() / "a.nii", within({.memory_bytes = 4000})));
  expect_too_large(dir.path() / "a.nii", {.memory_bytes = 2000}, "500 voxels of this type would fit", "E_BUDGET");
}

TEST(VolumeLimits, ASmallFileThatUnpacksToAGibibyteIsAskedForItsInflation) {
  ScratchFolder dir;
  const fs::path bomb = dir.path() / "bomb.nii.gz";
  write_bomb(bomb, {2048, 2048, 300}, 1 << 20);  // its data end early, but are not even read
  expect_too_large(bomb, {.most_voxels = std::int64_t{1} << 40}, "raise {most-inflation}");
}

TEST(VolumeLimits, AStreamThatDoesNotEndWhereItsHeaderSaysIsNotFollowed) {
  ScratchFolder dir;
  const fs::path bomb = dir.path() / "bomb.nii.gz";
  write_bomb(bomb, {10, 10, 10}, 80 << 20);
  expect_too_large(bomb, {}, "64 MiB behind");
  write_bomb(bomb, {10, 10, 10}, 1 << 20);
  EXPECT_EQ(read_label(bomb).voxels.count(), 1000) << "a little more is somebody's extension";
}

TEST(VolumeLimits, AFileThatIsCutOffIsCalledThatWhateverItPromises) {
  ScratchFolder dir;
  std::string bytes = nifti_bytes({.dims = {1, 1, 1}, .datatype = 2}, {0});
  const std::int16_t side = 32000;
  for (std::size_t i = 0; i < 3; ++i) std::memcpy(&bytes[42 + 2 * i], &side, 2);
  write_bytes(dir.path() / "a.nii", bytes);
  expect_error(ErrorKind::kInput, "is truncated", [&] { read_image(dir.path() / "a.nii"); });
}

TEST(CheckVolume, ReadsThroughWhatTheHeaderOnlyPromises) {
  ScratchFolder dir;
  const std::string whole = nifti_bytes({.dims = {16, 16, 16}, .datatype = 4}, {1, 2, 3, 4, 5, 6, 7});
  write_bytes(dir.path() / "whole.nii", whole);
  write_bytes(dir.path() / "cut.nii", whole.substr(0, whole.size() / 2));
  const std::string packed = gzipped(whole, dir.path());
  write_bytes(dir.path() / "cut.nii.gz", packed.substr(0, packed.size() - 9));
  EXPECT_TRUE(check_volume(dir.path() / "whole.nii").readable);
  for (const char* name : {"cut.nii", "cut.nii.gz"}) {
    EXPECT_TRUE(read_volume_info(dir.path() / name).readable) << "the header alone cannot know";
    const VolumeInfo info = check_volume(dir.path() / name);
    EXPECT_FALSE(info.readable) << name;
    EXPECT_THAT(info.problem, HasSubstr("truncated"));
    EXPECT_EQ(info.problem_code, "E_READ");
  }
  std::string nan = nifti_bytes({.dims = {4, 4, 4}, .datatype = 16}, {1});
  nan.replace(352, 4, std::string("\x00\x00\xc0\x7f", 4));
  write_bytes(dir.path() / "nan.nii", nan);
  EXPECT_EQ(check_volume(dir.path() / "nan.nii").problem_code, "E_NAN");
}

TEST(CheckVolume, TwoPlacesOfOneVolumeAreNamed) {
  ScratchFolder dir;
  std::string bytes = nifti_bytes({.dims = {8, 8, 8}, .datatype = 4, .qform_code = 1}, {1});
  const float shift = 35;
  std::memcpy(&bytes[268], &shift, 4);  // qoffset_x; the sform says 0
  write_bytes(dir.path() / "a.nii", bytes);
  const VolumeInfo info = check_volume(dir.path() / "a.nii");
  EXPECT_TRUE(info.readable);
  EXPECT_THAT(info.warning, HasSubstr("W_FORMS qform and sform differ by 35.0 mm; the sform is used"));
  write_bytes(dir.path() / "b.nii", nifti_bytes({.dims = {8, 8, 8}, .datatype = 4}, {1}));
  EXPECT_EQ(check_volume(dir.path() / "b.nii").warning, "");
}

TEST(CheckVolume, NumbersThatNoReaderCouldGoByAreAProblem) {
  ScratchFolder dir;
  const fs::path file = dir.path() / "a.nii";
  const auto problem_of = [&](const NiftiSpec& spec, std::size_t at, float value) {
    std::string bytes = nifti_bytes(spec, {1});
    std::memcpy(&bytes[at], &value, 4);
    write_bytes(file, bytes);
    const VolumeInfo info = check_volume(file);
    EXPECT_EQ(info.readable, info.problem.empty());
    if (!info.readable) expect_error(ErrorKind::kInput, info.problem, [&] { read_image(file); });
    return info.problem;
  };
  const NiftiSpec scaled{.datatype = 4, .slope = 1, .intercept = 1};
  EXPECT_THAT(problem_of(scaled, 112, 1e38F), HasSubstr("slope"));
  EXPECT_THAT(problem_of(scaled, 116, -1e38F), HasSubstr("intercept"));
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float offset : {infinity, -infinity, -352.0F, std::nanf("")})
    EXPECT_THAT(problem_of({}, 108, offset), HasSubstr("begin at byte")) << offset;
  NiftiSpec singular{.qform_code = 1};
  singular.srow.fill(0);
  EXPECT_THAT(problem_of(singular, 80, 0), HasSubstr("spacing of 0 along axis 1"));
  EXPECT_EQ(problem_of({}, 80, 0), "") << "the sform says it";
}

TEST(CheckVolume, OneThatNothingPlacesIsSaid) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.nii", nifti_bytes({.qform_code = 0, .sform_code = 0}, {1}));
  const VolumeInfo info = check_volume(dir.path() / "a.nii");
  EXPECT_TRUE(info.readable);
  EXPECT_THAT(info.warning, HasSubstr("W_FORMS neither qform nor sform"));
}

}  // namespace
}  // namespace voxshard
