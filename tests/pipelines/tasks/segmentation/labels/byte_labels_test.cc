// Labels as bytes and back: every label stays what it was, in maps of several pieces; bytes are prepared as i32 are.
#include "pipelines/tasks/segmentation/labels/byte_labels.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/resampling/resample.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "pipelines/tasks/segmentation/labels/missing_classes.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

TEST(ByteLabels, TheWayThereAndBackKeepsEveryLabel) {
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{16, 16, 16}, Shape{70, 100, 101}}) {  // 707 000 voxels: three pieces
    Tensor labels(DType::kI32, shape);
    for (std::int64_t i = 0; i < labels.count(); ++i) labels.as<std::int32_t>()[i] = static_cast<std::int32_t>(i % 256);
    const Tensor bytes = labels_as_bytes(labels);
    ASSERT_EQ(bytes.dtype(), DType::kU8);
    ASSERT_EQ(bytes.shape(), shape);
    with_labels(bytes, [&](const auto* label) {
      static_assert(sizeof(*label) == 1 || sizeof(*label) == 4);
      for (std::int64_t i = 0; i < bytes.count(); ++i) ASSERT_EQ(label[i], i % 256) << i;
    });
    const Tensor back = labels_as_i32(bytes);
    ASSERT_EQ(back.dtype(), DType::kI32);
    EXPECT_TRUE(compare(back.view(), labels.view()).bit_equal);
  }
}

TEST(ByteLabels, ClassesAndTheIgnoredLabelMustFit) {
  EXPECT_TRUE(fit_bytes(2, std::nullopt));
  EXPECT_TRUE(fit_bytes(256, std::nullopt));
  EXPECT_FALSE(fit_bytes(257, std::nullopt));
  EXPECT_TRUE(fit_bytes(3, 255));
  EXPECT_FALSE(fit_bytes(3, 256));
  EXPECT_FALSE(fit_bytes(3, -1)) << "a label map may hold it, a byte cannot";
}

/// A label map of classes 0 to 4 in runs of uneven length, and of 7, which no class has.
Volume label_map() {
  const Geometry grid{.size = {13, 9, 7}, .spacing = {0.8, 0.9, 2.5}};
  Volume map{grid, Tensor(DType::kI32, grid.shape())};
  for (std::int64_t i = 0; i < map.voxels.count(); ++i) {
    const std::int64_t run = i / (1 + i % 4) * 37 % 11;
    map.voxels.as<std::int32_t>()[i] = run < 5 ? static_cast<std::int32_t>(run) : run == 5 ? 7 : 0;
  }
  return map;
}

Volume as_bytes(const Volume& map) { return {map.geometry, labels_as_bytes(map.voxels)}; }

void expect_same_labels(const Volume& bytes, const Volume& wide, const std::string& what) {
  ASSERT_EQ(bytes.voxels.dtype(), DType::kU8) << what;
  EXPECT_TRUE(same_geometry(bytes.geometry, wide.geometry)) << what;
  EXPECT_TRUE(compare(labels_as_i32(bytes.voxels).view(), wide.voxels.view()).bit_equal) << what;
}

TEST(ByteLabels, BytesAreTurnedResampledAndWrittenAsI32Are) {
  const Volume wide = label_map(), bytes = as_bytes(wide);
  for (const char* code : {"LPS", "RAS", "LAI", "SPL", "AIR"})  // flips of one, two and all axes, and permutations
    expect_same_labels(reorient(bytes, code), reorient(wide, code), code);
  for (const std::array<double, 3>& mm : {std::array{1.6, 0.7, 2.0}, {0.3, 2.0, 4.0}})
    expect_same_labels(resample_label(bytes, mm), resample_label(wide, mm), std::to_string(mm[0]));
  ScratchFolder dir;
  for (const DiskType type : {DiskType::kU8, DiskType::kI16}) {
    write_volume(dir.path() / "bytes.nii", bytes, type);
    write_volume(dir.path() / "wide.nii", wide, type);
    EXPECT_TRUE(read_bytes(dir.path() / "bytes.nii") == read_bytes(dir.path() / "wide.nii"));
  }
}

TEST(ByteLabels, BytesGiveTheForegroundAndTheBoxesOfI32) {
  constexpr int kClasses = 5;
  const Volume wide = label_map(), bytes = as_bytes(wide);
  nlohmann::ordered_json of_wide, of_bytes;
  note_classes(wide.voxels, kClasses, of_wide);
  note_classes(bytes.voxels, kClasses, of_bytes);
  EXPECT_EQ(of_bytes.dump(), of_wide.dump());
  const ForegroundVoxels a = sample_foreground(wide.voxels, kClasses, "case", 3);
  const ForegroundVoxels b = sample_foreground(bytes.voxels, kClasses, "case", 3);
  const auto* labels = wide.voxels.as<std::int32_t>();
  for (std::size_t c = 1; c < kClasses; ++c) {
    ASSERT_TRUE(compare(a.by_class[c].view(), b.by_class[c].view()).bit_equal) << c;
    const std::int64_t count = std::count(labels, labels + wide.voxels.count(), static_cast<std::int32_t>(c));
    ASSERT_EQ(a.by_class[c].shape()[0], count) << "there are few voxels: all are taken";
    EXPECT_EQ(of_wide["class_voxels"][c], count);
    std::int64_t before = -1;
    for (std::int64_t k = 0; k < count; ++k) {
      const auto* at = a.by_class[c].as<std::int32_t>() + 3 * k;
      const std::int64_t i = (at[0] * 9 + at[1]) * 13 + at[2];
      EXPECT_EQ(labels[i], static_cast<std::int32_t>(c));
      EXPECT_GT(i, before) << "each once, in order";
      before = i;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        EXPECT_GE(at[axis], of_wide["class_boxes"][c][axis].get<std::int64_t>());
        EXPECT_LT(at[axis], of_wide["class_boxes"][c][3 + axis].get<std::int64_t>());
      }
    }
  }
}

}  // namespace
}  // namespace voxshard
