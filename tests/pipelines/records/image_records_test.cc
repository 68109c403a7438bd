// Images with boxes in TFRecord files: an independent reader reads ours, we read those of an independent writer, names
// in records that look like paths, and the loss by damage.
#include "pipelines/records/image_record.h"

#include <cstring>

#include "io/boxes/coco.h"
#include "io/image/image.h"
#include "io/output/manifest.h"
#include "io/records/crc32c.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"
#include "tests/pipelines/records/record_scene.h"

namespace voxshard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// Writes three images of 32 x 24 pixels with two boxes each, as COCO.
void write_images(const Scene& scene) {
  std::filesystem::create_directories(scene.data() / "images");
  DetectionDataset set{.source = scene.data(), .classes = {{"cat", 17}, {"book", 84}}, .images = {}, .notes = {}};
  for (int i = 0; i < 3; ++i) {
    Tensor rgb(DType::kU8, {24, 32, 3});
    rgb.as<std::uint8_t>()[7] = static_cast<std::uint8_t>(i + 1);
    const std::string name = "p" + std::to_string(i) + (i == 1 ? ".tif" : i == 2 ? ".jpg" : ".png");
    write_rgb(scene.data() / "images" / name, rgb);
    set.images.push_back({.file = name,
                          .id = 40 + i,
                          .width = 32,
                          .height = 24,
                          .boxes = {{.category = 0, .box = {8, 6, 16, 12}, .area = 150},
                                    {.category = 1, .box = {0, 0, 32, 24}, .area = 768, .crowd = true}}});
  }
  write_coco(scene.data() / "annotations.json", set);
}

TEST(ImageRecords, OursAreReadByAnIndependentReader) {
  Scene scene("pictures_out");
  write_images(scene);
  const TaskReport report = run_convert(
      {.input = scene.data() / "annotations.json", .output = scene.path("records"), .files = 2, .threads = 2},
      ConvertTo::kRecords, scene.progress);
  EXPECT_EQ(report.json.at("converted"), 3);
  const auto first = scene.path("records/annotations-00000-of-00002.tfrecord"),
             second = scene.path("records/annotations-00001-of-00002.tfrecord");
  const auto records = by_hand("read", {first, second});
  ASSERT_EQ(records.size(), 3u);
  const nlohmann::json expected = {{"image/format", {"png"}},
                                   {"image/height", {24}},
                                   {"image/width", {32}},
                                   {"image/source_id", {"40"}},
                                   {"image/object/bbox/xmin", {0.25, 0}},
                                   {"image/object/bbox/xmax", {0.75, 1}},
                                   {"image/object/bbox/ymin", {0.25, 0}},
                                   {"image/object/bbox/ymax", {0.75, 1}},
                                   {"image/object/class/label", {17, 84}},
                                   {"image/object/class/text", {"cat", "book"}},
                                   {"image/object/is_crowd", {0, 1}},
                                   {"image/object/area", {150, 768}}};
  for (const auto& [name, value] : expected.items()) EXPECT_EQ(records[0].at(name), value) << name;
  EXPECT_EQ(records[0].at("image/encoded").at(0).at("bytes"), read_bytes(scene.data() / "images/p0.png").size())
      << "the file's own bytes";
  EXPECT_EQ(records[1].at("image/format").at(0), "jpeg");
  EXPECT_EQ(records[2].at("image/format").at(0), "png") << "TIFF becomes PNG";
  EXPECT_EQ(records[2].at("image/source_id").at(0), "41");
}

TEST(ImageRecords, AnIndependentWritersAreReadByOursAndTheirNamesBecomeNoPaths) {
  Scene scene("pictures_in");
  by_hand("retinanet", {scene.path("val.tfrecord")});
  const TaskReport report =
      run_convert({.input = scene.path("val.tfrecord"), .output = scene.data()}, ConvertTo::kFolder, scene.progress);
  EXPECT_FALSE(report.partial);
  EXPECT_EQ(names_in(scene.data() / "images"),
            (std::vector<std::string>{"val_000001.png", "val_000002.png", "val_000003.png"}))
      << "not image/filename, which is ../../etc/passwd";
  const DetectionDataset set = read_detection_dataset(scene.data());
  EXPECT_TRUE(set.notes.empty());
  ASSERT_EQ(set.images.size(), 3u);
  EXPECT_EQ(set.images[2].id, 502) << "image/source_id";
  EXPECT_EQ(set.images[0].width, 32);
  ASSERT_EQ(set.images[0].boxes.size(), 2u);
  EXPECT_EQ(set.images[0].boxes[0].box, (CocoBox{8, 12, 8, 6}));
  EXPECT_EQ(set.images[0].boxes[0].area, 40);
  EXPECT_TRUE(set.images[0].boxes[1].crowd);
  EXPECT_EQ(set.classes.at(0).id, 17);
  EXPECT_EQ(set.classes.at(1).id, 90);
  EXPECT_EQ(read_rgb(set.images[0].file).as<std::uint8_t>()[32 * 3 + 4], 48) << "x 1, y 1, green: 5 + 3 + 40";
}

TEST(ImageRecords, ThereAndBackAreTheSameBytesAndBoxes) {
  Scene scene("pictures_back");
  write_images(scene);
  run_convert({.input = scene.data(), .output = scene.path("records")}, ConvertTo::kRecords, scene.progress);
  run_convert({.input = scene.path("records"), .output = scene.path("back")}, ConvertTo::kFolder, scene.progress);
  const DetectionDataset before = read_coco(scene.data() / "annotations.json"),
                         after = read_coco(scene.path("back/annotations.json"));
  ASSERT_EQ(after.images.size(), before.images.size());
  for (std::size_t i = 0; i < before.images.size(); ++i) {
    EXPECT_EQ(after.images[i].id, before.images[i].id);
    for (std::size_t b = 0; b < 2; ++b) EXPECT_EQ(after.images[i].boxes[b].box, before.images[i].boxes[b].box);
  }
  EXPECT_EQ(after.classes.at(0).name, "cat");
  EXPECT_EQ(names_in(scene.path("back/images")).at(2), "data-00000-of-00001_000003.jpg");
  EXPECT_EQ(read_bytes(scene.path("back/images/data-00000-of-00001_000003.jpg")),
            read_bytes(scene.data() / "images/p2.jpg"));
}

TEST(ImageRecords, AFlippedBitCostsItsRecordAndNotTheOthersOfTheFile) {
  Scene scene("pictures_bit");
  by_hand("retinanet", {scene.path("val.tfrecord")});
  const std::size_t record = read_bytes(scene.path("val.tfrecord")).size() / 3;
  flip_bit(scene.path("val.tfrecord"), record + record / 2);
  const TaskReport report =
      run_convert({.input = scene.path("val.tfrecord"), .output = scene.data()}, ConvertTo::kFolder, scene.progress);
  EXPECT_TRUE(report.partial);
  EXPECT_EQ(names_in(scene.data() / "images"), (std::vector<std::string>{"val_000001.png", "val_000003.png"}));
  EXPECT_EQ(report.json.at("failures").at(0).at("case"), "val.tfrecord record 2");
  EXPECT_EQ(report.json.at("failures").at(0).at("code"), "E_CHECKSUM");
  EXPECT_THAT(scene.progress.lines, Contains(::testing::StartsWith("val.tfrecord record 2: ")));
}

TEST(ImageRecords, ThreadsStoreEachTheirOwnImages) {
  Scene scene("pictures_threads");
  std::filesystem::create_directories(scene.data() / "images");
  DetectionDataset set{.source = scene.data(), .classes = {{"cat", 17}}, .images = {}, .notes = {}};
  constexpr int kImages = 64;
  for (int i = 0; i < kImages; ++i) {
    Tensor rgb(DType::kU8, {48, 40, 3});
    std::fill_n(rgb.as<std::uint8_t>(), rgb.count(), static_cast<std::uint8_t>(3 * i));
    const std::string name = "p" + std::to_string(100 + i) + ".tif";
    write_rgb(scene.data() / "images" / name, rgb);
    set.images.push_back({.file = name, .id = i, .width = 40, .height = 48, .boxes = {}});
  }
  write_coco(scene.data() / "annotations.json", set);
  run_convert({.input = scene.data(), .output = scene.path("records"), .files = 8, .threads = 8}, ConvertTo::kRecords,
              scene.progress);
  run_convert({.input = scene.path("records"), .output = scene.path("back"), .threads = 8}, ConvertTo::kFolder,
              scene.progress);
  const DetectionDataset back = read_coco(scene.path("back/annotations.json"));
  ASSERT_EQ(back.images.size(), static_cast<std::size_t>(kImages));
  for (const DetectionImage& image : back.images) {
    const Tensor rgb = read_rgb(scene.path("back/images") / image.file);
    for (std::int64_t v = 0; v < rgb.count(); ++v) ASSERT_EQ(rgb.as<std::uint8_t>()[v], 3 * image.id) << image.file;
  }
}

TEST(ImageRecords, TheManifestIsLinearInTheNumberOfRecords) {
  std::vector<double> bytes;
  for (const int records : {16, 256}) {
    Scene scene("pictures_manifest");
    write_records(scene.path("val.tfrecord"), records);
    run_convert({.input = scene.path("val.tfrecord"), .output = scene.data()}, ConvertTo::kFolder, scene.progress);
    EXPECT_EQ(names_in(scene.data() / "images").size(), static_cast<std::size_t>(records));
    bytes.push_back(static_cast<double>(std::filesystem::file_size(scene.data() / kManifestName)));
  }
  EXPECT_LT(bytes[1], 20 * bytes[0]) << "16 times as many records";
}

TEST(ImageRecords, OfTwoFilesWithTheSameIdsAreCountedAnewAndThatIsSaid) {
  Scene scene("pictures_ids");
  std::filesystem::create_directories(scene.path("records"));
  for (const char* name : {"records/a.tfrecord", "records/b.tfrecord"}) write_records(scene.path(name), 2);
  run_convert({.input = scene.path("records"), .output = scene.data()}, ConvertTo::kFolder, scene.progress);
  EXPECT_EQ(read_coco(scene.data() / "annotations.json").images.back().id, 4);
  EXPECT_THAT(
      scene.progress.lines,
      Contains(HasSubstr("images a_000001.png and b_000001.png both have the source_id 1; all images are counted")));
}

TEST(ImageRecords, ARecordLargerThanAnyImageIsRefusedByItsHead) {
  Scene scene("pictures_large");
  write_records(scene.path("val.tfrecord"), 1);
  std::string head(12, '\0');
  const std::uint64_t length = 300'000'000;
  std::memcpy(head.data(), &length, 8);
  const std::uint32_t crc = masked_crc32c(head.substr(0, 8));
  std::memcpy(head.data() + 8, &crc, 4);
  std::ofstream(scene.path("val.tfrecord"), std::ios::binary | std::ios::app) << head;
  const TaskReport report =
      run_convert({.input = scene.path("val.tfrecord"), .output = scene.data()}, ConvertTo::kFolder, scene.progress);
  EXPECT_EQ(report.json.at("converted"), 1);
  EXPECT_EQ(report.json.at("failures").at(0).at("code"), "E_SIZE");
}

TEST(ImageRecords, AThousandBoxesAreNotedAndTheOthersCounted) {
  TfExample example = image_example(encoded_rgb(Tensor(DType::kU8, {2, 2, 3}), ".png"),
                                    {.file = "p", .id = 1, .width = 2, .height = 2, .boxes = {}}, {});
  for (const char* edge : {"xmin", "xmax", "ymin", "ymax"})
    example.features[std::string("image/object/bbox/") + edge] = FloatList(5000, 0.0F);
  example.features["image/object/class/label"] = Int64List(5000, 1);
  const auto notes = record_image(example).notes.all();
  ASSERT_EQ(notes.size(), 1001u);
  EXPECT_EQ(notes.back().entry, "4000 more boxes");
  Scene scene("pictures_notes");
  RecordWriter writer(scene.path("val.tfrecord"), RecordCompression::kGzip);
  for (int i = 0; i < 3; ++i) writer.write(serialized(example));
  writer.commit();
  const TaskReport report =
      run_convert({.input = scene.path("val.tfrecord"), .output = scene.data()}, ConvertTo::kFolder, scene.progress);
  EXPECT_EQ(report.json.at("failures").size(), 1001u) << "of a file as of a record";
  EXPECT_EQ(report.json.at("failures").back().at("case"), "val.tfrecord 14000 more boxes");
}

void expect_image_refused(const std::string& code, const std::string& piece,
                          const std::function<void(TfExample&)>& damage) {
  Scene scene("picture_refused");
  write_images(scene);
  const std::string png = read_bytes(scene.data() / "images/p0.png");
  TfExample example = image_example(png,
                                    {.file = "p0.png",
                                     .id = 1,
                                     .width = 32,
                                     .height = 24,
                                     .boxes = {{.category = 0, .box = {8, 6, 16, 12}, .area = 150}}},
                                    {{"cat", 17}});
  damage(example);
  try {
    record_image(example);
    ADD_FAILURE() << "expected " << code;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_THAT(e.what(), HasSubstr(piece));
  }
}

TEST(ImageRecords, WhatIsNoImageWithBoxesIsRefusedByName) {
  expect_image_refused("E_FEATURE", "no feature image/encoded",
                       [](TfExample& e) { e.features.erase("image/encoded"); });
  expect_image_refused("E_READ", "no PNG or JPEG",
                       [](TfExample& e) { e.features["image/encoded"] = BytesList{"GIF89a"}; });
  expect_image_refused("E_READ", "is cut off",
                       [](TfExample& e) { e.features["image/encoded"] = BytesList{"\x89PNG\r\n\x1a\n"}; });
  expect_image_refused("E_SIZE", "has 33 as image/width, but its picture has 32",
                       [](TfExample& e) { e.features["image/width"] = Int64List{33}; });
  expect_image_refused("E_ENTRY", "image/object/bbox/xmax for 1 boxes", [](TfExample& e) {
    e.features["image/object/bbox/xmax"] = FloatList{1, 2};
  });
  expect_image_refused("E_ENTRY", "not as many in the other edges",
                       [](TfExample& e) { e.features.erase("image/object/class/label"); });
  expect_image_refused("E_FEATURE", "semantic segmentation",
                       [](TfExample& e) { e.features["image/segmentation/mask"] = FloatList{0}; });
}

TEST(ImageRecords, ABoxThatCannotBeUsedCostsItself) {
  const std::string png = [] {
    Scene scene("picture_box");
    write_images(scene);
    return read_bytes(scene.data() / "images/p0.png");
  }();
  TfExample example =
      image_example(png,
                    {.file = "p",
                     .id = 1,
                     .width = 32,
                     .height = 24,
                     .boxes = {{.category = 0, .box = {8, 6, 16, 12}}, {.category = 0, .box = {1, 1, 2, 2}}}},
                    {{"cat", 17}});
  std::get<FloatList>(example.features["image/object/bbox/xmax"])[0] = std::numeric_limits<float>::quiet_NaN();
  const RecordImage image = record_image(example);
  EXPECT_EQ(image.boxes.size(), 1u);
  ASSERT_EQ(image.notes.all().size(), 1u);
  EXPECT_EQ(image.notes.all()[0].code, "E_BOX");
}

}  // namespace
}  // namespace voxshard
