// Reading boxes of a cached volume equals cutting them out of the whole.
#include "io/volume/mapped_volume.h"

#include "libcore/base/rng.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

Volume numbered() {
  Geometry g{.size = {7, 5, 6}, .origin = {1, 2, 3}, .spacing = {1, 2, 3}};
  Volume v{g, Tensor(DType::kI32, g.shape())};
  for (std::int64_t i = 0; i < v.voxels.count(); ++i)
    v.voxels.as<std::int32_t>()[i] = static_cast<std::int32_t>(i % 200);
  return v;
}

TEST(MappedVolume, ABoxIsWhatTheWholeHasThere) {
  ScratchFolder dir;
  const Volume v = numbered();
  for (DiskType type : {DiskType::kU8, DiskType::kI16, DiskType::kU16, DiskType::kI32, DiskType::kF32}) {
    write_volume(dir.path() / "a.nii", v, type);
    const MappedVolume map = MappedVolume::open(dir.path() / "a.nii");
    EXPECT_EQ(map.type(), type);
    EXPECT_EQ(map.dtype(), type == DiskType::kF32 ? DType::kF32 : DType::kI32);
    EXPECT_EQ(map.shape(), (Shape{6, 5, 7}));
    EXPECT_TRUE(same_geometry(map.geometry(), v.geometry, 1e-5));
    for (std::uint64_t trial = 0; trial < 50; ++trial) {
      Box box = Box::none(3);
      for (int a = 0; a < 3; ++a) {
        const auto first = rng_below({.seed = 1, .stream = trial}, static_cast<std::uint64_t>(a), map.shape()[a]);
        box.set(
            a, first,
            first + 1 + rng_below({.seed = 2, .stream = trial}, static_cast<std::uint64_t>(a), map.shape()[a] - first));
      }
      for (DType to : {DType::kF32, DType::kBF16, DType::kF64, DType::kI32, DType::kU8}) {
        Tensor got(to, box.extent), want(to, box.extent);
        map.read_box(box, got.view());
        TensorView part = dense_view(want.data(), to, box);
        copy(v.voxels.view(), part);
        ASSERT_TRUE(compare(got.view(), want.view()).bit_equal) << to_string(box) << dtype_name(to);
      }
    }
  }
}

TEST(MappedVolume, WhatWasForgottenIsReadAgain) {
  ScratchFolder dir;
  const Volume v = numbered();
  write_volume(dir.path() / "a.nii", v, DiskType::kI16);
  const MappedVolume map = MappedVolume::open(dir.path() / "a.nii");
  EXPECT_EQ(map.voxel_bytes(), 2);
  for (int time = 0; time < 2; ++time) {
    Tensor got(DType::kI32, map.shape());
    map.read_box(Box::whole(map.shape()), got.view());
    EXPECT_TRUE(compare(got.view(), v.voxels.view()).bit_equal) << time;
    map.forget();
  }
}

TEST(MappedVolume, CountsWhatReadsCopyInTheBytesOfTheFile) {
  ScratchFolder dir;
  for (DiskType type : {DiskType::kU8, DiskType::kI16, DiskType::kF32}) {
    write_volume(dir.path() / "a.nii", numbered(), type);
    const MappedVolume map = MappedVolume::open(dir.path() / "a.nii");
    EXPECT_EQ(map.copied_bytes(), 0);
    Tensor dense(DType::kBF16, {2, 3, 4}), sliced(DType::kF32, {1, 2, 3, 4, 2});
    map.read_box({{3, 1, 2}, {2, 3, 4}}, dense.view());
    EXPECT_EQ(map.copied_bytes(), 2 * 3 * 4 * map.voxel_bytes());
    map.read_box({{0, 0, 0}, {2, 3, 4}}, sliced.view().sub({{0, 0, 0, 0, 1}, {1, 2, 3, 4, 1}}));
    EXPECT_EQ(map.copied_bytes(), 2 * 2 * 3 * 4 * map.voxel_bytes());
    map.read_box({{3, 1, 2}, {0, 3, 4}}, dense.view());
    EXPECT_EQ(map.copied_bytes(), 2 * 2 * 3 * 4 * map.voxel_bytes()) << "nothing of an empty box";
  }
}

TEST(MappedVolume, ABoxGoesIntoAMarginedTensorOfRank5) {
  ScratchFolder dir;
  const Volume v = numbered();
  write_volume(dir.path() / "a.nii", v, DiskType::kI16);
  const MappedVolume map = MappedVolume::open(dir.path() / "a.nii");
  Tensor room(DType::kF32, {1, 4, 5, 6, 2});
  TensorView inner = room.view().sub({{0, 1, 1, 1, 1}, {1, 2, 3, 4, 1}});
  map.read_box({{3, 1, 2}, {2, 3, 4}}, inner);
  EXPECT_EQ(load(inner, 0), (3 * 5 + 1) * 7 + 2);
  EXPECT_EQ(load(inner, inner.strides[3]), (3 * 5 + 1) * 7 + 3);
  EXPECT_EQ(load(room.view(), 0), 0) << "the margin is left alone";
}

TEST(MappedVolume, SlopeIsApplied) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.nii", nifti_bytes({.datatype = 4, .slope = 0.5f, .intercept = -1000}, {0, 10}));
  const MappedVolume map = MappedVolume::open(dir.path() / "a.nii");
  EXPECT_EQ(map.dtype(), DType::kF32);
  Tensor got(DType::kF32, {2, 2, 2});
  map.read_box(Box::whole(got.shape()), got.view());
  EXPECT_EQ(got.as<float>()[1], -995);
}

TEST(MappedVolume, WhatCannotBeMappedIsRefused) {
  ScratchFolder dir;
  const std::string good = nifti_bytes({}, {1});
  write_bytes(dir.path() / "a.nii", good.substr(0, good.size() - 1));
  expect_error(ErrorKind::kInput, "truncated", [&] { MappedVolume::open(dir.path() / "a.nii"); });
  write_bytes(dir.path() / "a.nii.gz", gzipped(good, dir.path()));
  expect_error(ErrorKind::kInput, "uncompressed", [&] { MappedVolume::open(dir.path() / "a.nii.gz"); });
  write_bytes(dir.path() / "a.nii", nifti_bytes({.big_endian = true}, {1}));
  expect_error(ErrorKind::kInput, "byte order", [&] { MappedVolume::open(dir.path() / "a.nii"); });
  write_bytes(dir.path() / "a.nii", nifti_bytes({.datatype = 64}, {1}));
  expect_error(ErrorKind::kInput, "float64", [&] { MappedVolume::open(dir.path() / "a.nii"); });
  expect_error(ErrorKind::kInput, "does not exist", [&] { MappedVolume::open(dir.path() / "none.nii"); });
}

}  // namespace
}  // namespace voxshard
