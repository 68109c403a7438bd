// Volumes in TFRecord files: an independent reader reads ours, we read those of an independent writer, there and back,
// and the loss by damage.
#include <cmath>
#include <cstring>
#include <limits>

#include "pipelines/records/ct_record.h"
#include "tests/expect_error.h"
#include "tests/pipelines/records/record_scene.h"

namespace voxshard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void expect_equal(const Volume& a, const Volume& b) {
  EXPECT_TRUE(same_geometry(a.geometry, b.geometry, 1e-6));
  ASSERT_EQ(a.voxels.shape(), b.voxels.shape());
  EXPECT_TRUE(compare(a.voxels.view(), b.voxels.view()).bit_equal);
}

TEST(CtRecords, OursAreReadByAnIndependentReader) {
  Scene scene("records_out");
  scene.write_dataset(2);
  const TaskReport report =
      run_convert({.input = scene.data(), .output = scene.path("records")}, ConvertTo::kRecords, scene.progress);
  EXPECT_EQ(report.json.at("converted"), 2);
  for (int i = 0; i < 2; ++i) {
    const auto path = scene.path("records/instance-case_" + std::to_string(i) + "-0.tfrecords");
    EXPECT_TRUE(read_bytes(path).starts_with("\x1f\x8b")) << "gzip";
    const auto records = by_hand("read", {path});
    ASSERT_EQ(records.size(), 1u);
    const auto image = records[0].at("image/ct_image").at(0).at("f32"),
               label = records[0].at("image/label").at(0).at("f32");
    const Volume truth = Scene::make_image(i), classes = Scene::make_label();
    ASSERT_EQ(image.size(), 8u * 10 * 12);
    ASSERT_EQ(label.size(), 3 * image.size());
    for (std::size_t v = 0; v < image.size(); ++v) {
      ASSERT_EQ(image[v], truth.voxels.as<float>()[v]);
      for (int c = 0; c < 3; ++c) ASSERT_EQ(label[3 * v + c], classes.voxels.as<std::int32_t>()[v] == c ? 1 : 0);
    }
    EXPECT_EQ(records[0].at("voxshard/shape"), nlohmann::json({8, 10, 12}));
  }
}

TEST(CtRecords, AnIndependentWritersAreReadByOurs) {
  Scene scene("records_in");
  std::filesystem::create_directories(scene.path("records"));
  by_hand("unet", {scene.path("records")});
  const TaskReport report = run_convert({.input = scene.path("records"), .output = scene.data(), .shape = {2, 3, 4}},
                                        ConvertTo::kFolder, scene.progress);
  EXPECT_EQ(report.json.at("converted"), 3);
  EXPECT_FALSE(report.partial);
  for (int i = 0; i < 3; ++i) {
    const std::string id = "instance-" + std::to_string(i) + "-0";
    const Volume image = read_image(scene.data() / "imagesTr" / (id + "_0000.nii.gz")),
                 label = read_label(scene.data() / "labelsTr" / (id + ".nii.gz"));
    EXPECT_EQ(image.voxels.shape(), i == 2 ? (Shape{2, 3, 4}) : (Shape{4, 4, 4}));
    for (std::int64_t v = 0; v < image.voxels.count(); ++v) {
      ASSERT_EQ(image.voxels.as<float>()[v], static_cast<float>(100 * i) + 0.5F * static_cast<float>(v));
      ASSERT_EQ(label.voxels.as<std::int32_t>()[v], v % 3) << "one-hot and index alike";
    }
  }
  EXPECT_EQ(read_dataset(scene.data()).label_names, (std::vector<std::string>{"background", "class_1", "class_2"}));
}

TEST(CtRecords, ThereAndBackIsTheSameVolumeWithItsPlaceForAnyForm) {
  Scene scene("records_back");
  scene.write_dataset(3);
  std::string bytes;
  for (const bool one_hot : {true, false})
    for (const bool compressed : {true, false})
      for (const int threads : {1, 3}) {
        run_convert({.input = scene.data(),
                     .output = scene.path("records"),
                     .one_hot = one_hot,
                     .compressed = compressed,
                     .threads = threads},
                    ConvertTo::kRecords, scene.progress);
        const std::string now = read_bytes(scene.path("records/instance-case_1-0.tfrecords"));
        if (threads == 1)
          bytes = now;
        else
          EXPECT_EQ(now, bytes) << "any number of threads, the same bytes";
        run_convert({.input = scene.path("records"), .output = scene.path("back"), .threads = threads},
                    ConvertTo::kFolder, scene.progress);
        for (int i = 0; i < 3; ++i) {
          const std::string id = "instance-case_" + std::to_string(i) + "-0";
          expect_equal(read_image(scene.path("back/imagesTr/" + id + "_0000.nii.gz")), Scene::make_image(i));
          expect_equal(read_label(scene.path("back/labelsTr/" + id + ".nii.gz")), Scene::make_label());
        }
        std::filesystem::remove_all(scene.path("records"));
      }
}

TEST(CtRecords, AFlippedBitIsNamedWithFileAndRecordAndCostsItOnly) {
  Scene scene("records_bit");
  scene.write_dataset(3);
  run_convert({.input = scene.data(), .output = scene.path("records"), .compressed = false}, ConvertTo::kRecords,
              scene.progress);
  flip_bit(scene.path("records/instance-case_1-0.tfrecords"), 2000);
  const TaskReport report =
      run_convert({.input = scene.path("records"), .output = scene.path("back")}, ConvertTo::kFolder, scene.progress);
  EXPECT_TRUE(report.partial);
  EXPECT_EQ(report.json.at("converted"), 2);
  EXPECT_EQ(report.json.at("failures").at(0).at("case"), "instance-case_1-0.tfrecords record 1");
  EXPECT_THAT(scene.progress.lines, ::testing::Contains(HasSubstr("instance-case_1-0.tfrecords record 1: ")));
  EXPECT_THAT(read_bytes(scene.path("back/quarantine.csv")),
              HasSubstr("instance-case_1-0.tfrecords record 1,E_CHECKSUM,"));
  EXPECT_EQ(names_in(scene.path("back/labelsTr")),
            (std::vector<std::string>{"instance-case_0-0.nii.gz", "instance-case_2-0.nii.gz"}));
}

TEST(CtRecords, WhenNothingCanBeReadThereIsNoDataSet) {
  Scene scene("records_none");
  scene.write_dataset(1);
  run_convert({.input = scene.data(), .output = scene.path("records")}, ConvertTo::kRecords, scene.progress);
  flip_bit(scene.path("records/instance-case_0-0.tfrecords"), 200);
  expect_error(ErrorKind::kNoCase, "instance-case_0-0.tfrecords", [&] {
    run_convert({.input = scene.path("records"), .output = scene.path("back")}, ConvertTo::kFolder, scene.progress);
  });
  EXPECT_FALSE(std::filesystem::exists(scene.path("back/dataset.json")));
}

TEST(CtRecords, ARecordBesideThoseOfItsFileHasItsNumberInItsName) {
  Scene scene("records_two");
  RecordWriter writer(scene.path("two.tfrecord"), RecordCompression::kGzip);
  for (int i = 0; i < 2; ++i)
    writer.write(serialized(ct_example(Scene::make_image(i), Scene::make_label(), {.classes = 3})));
  TfExample unlabelled = ct_example(Scene::make_image(2), Scene::make_label(), {.classes = 3});
  unlabelled.features.erase(kCtLabel);
  writer.write(serialized(unlabelled));
  writer.commit();
  run_convert({.input = scene.path("two.tfrecord"), .output = scene.data()}, ConvertTo::kFolder, scene.progress);
  EXPECT_EQ(names_in(scene.data() / "imagesTr"),
            (std::vector<std::string>{"two_0000.nii.gz", "two_record2_0000.nii.gz"}));
  EXPECT_EQ(names_in(scene.data() / "imagesTs"), (std::vector<std::string>{"two_record3_0000.nii.gz"}))
      << "without label";
}

void expect_ct_refused(const std::string& code, const std::string& piece,
                       const std::function<void(TfExample&)>& damage) {
  TfExample example = ct_example(Scene::make_image(0), Scene::make_label(), {.classes = 3});
  damage(example);
  try {
    ct_sample(example);
    ADD_FAILURE() << "expected " << code;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kInput);
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_THAT(e.what(), HasSubstr(piece));
  }
}

void put(TfExample& example, const char* feature, std::size_t index, float value) {
  std::memcpy(std::get<BytesList>(example.features.at(feature)).at(0).data() + 4 * index, &value, 4);
}

TEST(CtRecords, WhatIsNoVolumeWithLabelIsRefusedByName) {
  expect_ct_refused("E_FEATURE", "has no feature image/ct_image", [](TfExample& e) { e.features.erase(kCtImage); });
  expect_ct_refused("E_SHAPE", "raw float32", [](TfExample& e) { e.features[kCtImage] = BytesList{"abcde"}; });
  expect_ct_refused("E_SHAPE", "no cube", [](TfExample& e) { e.features.erase("voxshard/shape"); });
  expect_ct_refused("E_SHAPE", "not as many as voxshard/shape says", [](TfExample& e) {
    e.features["voxshard/shape"] = Int64List{8, 10, 13};
  });
  expect_ct_refused("E_SHAPE", "not as many", [](TfExample& e) {
    e.features["voxshard/shape"] = Int64List{-8, -10, 12};
  });
  expect_ct_refused("E_SHAPE", "expected one a voxel",
                    [](TfExample& e) { e.features[kCtLabel] = BytesList{std::string(400, '\0')}; });
  expect_ct_refused("E_NAN", "(x, y, z) = (1, 0, 0)",
                    [](TfExample& e) { put(e, kCtImage, 1, std::numeric_limits<float>::quiet_NaN()); });
  expect_ct_refused("E_LABELS", "no one-hot label at voxel 1", [](TfExample& e) { put(e, kCtLabel, 3, 0.5F); });
  expect_ct_refused("E_LABELS", "as the label of voxel 7", [](TfExample& e) {
    e.features[kCtLabel] = BytesList{std::string(4 * 960, '\0')};
    put(e, kCtLabel, 7, 1.5F);
  });
  expect_ct_refused("E_LABELS", "has 256 as the label of voxel 7; expected whole numbers from 0 to 255",
                    [](TfExample& e) {
                      e.features[kCtLabel] = BytesList{std::string(4 * 960, '\0')};
                      put(e, kCtLabel, 7, 256);
                    });
  expect_ct_refused("E_SHAPE", "class of at most 256",
                    [](TfExample& e) { e.features[kCtLabel] = BytesList{std::string(4 * 960 * 257, '\0')}; });
  expect_ct_refused("E_GEOMETRY", "voxshard/spacing_mm", [](TfExample& e) {
    e.features["voxshard/spacing_mm"] = FloatList{1, 2};
  });
  expect_ct_refused("E_GEOMETRY", "no rotation",
                    [](TfExample& e) { e.features["voxshard/direction"] = FloatList{1, 0, 0, 0, 1, 0, 0, 0, 2}; });
}

TEST(CtRecords, AFolderOfVolumesWithSeveralChannelsIsQuarantined) {
  Scene scene("records_channels");
  scene.write_dataset(1);
  scene.edit_dataset([](nlohmann::json& json) { json["channel_names"] = {{"0", "CT"}, {"1", "MR"}}; });
  write_volume(scene.data() / "imagesTr/case_0_0001.nii.gz", Scene::make_image(1), DiskType::kI16);
  EXPECT_THROW(
      run_convert({.input = scene.data(), .output = scene.path("records")}, ConvertTo::kRecords, scene.progress),
      Error);
  EXPECT_THAT(read_bytes(scene.path("records/quarantine.csv")), HasSubstr("2 channels"));
  EXPECT_THAT(scene.progress.lines, ::testing::Contains(HasSubstr("case_0: ")));
}

}  // namespace
}  // namespace voxshard
