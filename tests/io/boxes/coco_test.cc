// COCO JSON: what is read, and which errors lose an entry or the whole file.
#include "io/boxes/coco.h"

#include "io/boxes/coco_json.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

constexpr const char* kImages = R"("images": [{"id": 9, "file_name": "nine.png", "width": 640, "height": 480},
                                              {"id": 2, "file_name": "two.png"}])";
constexpr const char* kCategories = R"("categories": [{"id": 40, "name": "liver"}, {"id": 7, "name": "NaN"}])";

/// Reads annotations given as the text of their list.
DetectionDataset read_annotations(const std::string& annotations) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.json",
              std::string("{") + kImages + ", " + kCategories + ", \"annotations\": " + annotations + "}");
  return read_coco(dir.path() / "a.json");
}

DetectionDataset read_text(const std::string& text) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.json", text);
  return read_coco(dir.path() / "a.json");
}

TEST(Coco, ImagesAndClassesAscendByIdAndBoxesKeepTheirOrder) {
  const DetectionDataset set = read_annotations(R"([
      {"id": 5, "image_id": 9, "category_id": 40, "bbox": [1, 2, 30.5, 40], "area": 600, "iscrowd": 0},
      {"id": 4, "image_id": 9, "category_id": 7, "bbox": [5, 6, 7, 8], "iscrowd": 1, "segmentation": [[1, 2], [3]]}])");
  EXPECT_TRUE(set.notes.empty());
  ASSERT_EQ(set.images.size(), 2u);
  EXPECT_EQ(set.images[0].file, "two.png");
  EXPECT_EQ(set.images[0].width, 0);
  EXPECT_EQ(set.images[1].width, 640);
  ASSERT_EQ(set.classes.size(), 2u);
  EXPECT_EQ(set.classes[0].name, "NaN");
  ASSERT_EQ(set.images[1].boxes.size(), 2u);
  const TrueBox &first = set.images[1].boxes[0], &second = set.images[1].boxes[1];
  EXPECT_EQ(first.category, 1);
  EXPECT_EQ(first.box, (CocoBox{1, 2, 30.5, 40}));
  EXPECT_EQ(first.area, 600);
  EXPECT_FALSE(first.crowd);
  EXPECT_TRUE(second.crowd);
  EXPECT_EQ(second.area, 56);  // not stated: that of the box
}

TEST(Coco, ABadAnnotationCostsItselfOnly) {
  const std::vector<std::array<std::string, 3>> bad = {
      {R"("text")", "E_ENTRY", "not an object"},
      {R"(null)", "E_ENTRY", "not an object"},
      {R"({"image_id": 9, "category_id": 7})", "E_ENTRY", "has no \"bbox\""},
      {R"({"image_id": 9, "category_id": 7, "bbox": [1, 2, 3]})", "E_ENTRY", "expected four numbers"},
      {R"({"image_id": 9, "category_id": 7, "bbox": [1, 2, "3", 4]})", "E_ENTRY", "expected four numbers"},
      {R"({"image_id": 9, "category_id": 7, "bbox": [1, NaN, 3, 4]})", "E_ENTRY", "expected four numbers"},
      {R"({"image_id": 9, "category_id": 7, "bbox": [1, 2, -Infinity, 4]})", "E_ENTRY", "expected four numbers"},
      {R"({"image_id": 9, "category_id": 7, "bbox": [1, 2, 1e999, 4]})", "E_ENTRY", "expected four numbers"},
      {R"({"image_id": 9, "category_id": 7, "bbox": [1, 2, 1e300, 4]})", "E_ENTRY", "at most 1e9"},
      {R"({"image_id": 9, "category_id": 7, "bbox": [1, 2, -3, 4]})", "E_BOX", "negative"},
      {R"({"image_id": 9, "category_id": 8, "bbox": [1, 2, 3, 4]})", "E_CLASS", "category 8"},
      {R"({"image_id": 10, "category_id": 7, "bbox": [1, 2, 3, 4]})", "E_IMAGE", "image 10"},
      {R"({"image_id": "9", "category_id": 7, "bbox": [1, 2, 3, 4]})", "E_ENTRY", "whole number"},
      {R"({"image_id": 9.5, "category_id": 7, "bbox": [1, 2, 3, 4]})", "E_ENTRY", "whole number"},
      {R"({"image_id": 18446744073709551615, "category_id": 7, "bbox": [1, 2, 3, 4]})", "E_ENTRY", "whole number"},
      {R"({"image_id": 9, "category_id": 7, "bbox": [1, 2, 3, 4], "iscrowd": "no"})", "E_ENTRY", "0 or 1"},
      {R"({"image_id": 9, "category_id": 7, "bbox": [1, 2, 3, 4], "area": [1]})", "E_ENTRY", "a number"},
      {R"({"id": 1, "image_id": 9, "category_id": 7, "bbox": [1, 2, 3, 4]})", "E_DUPLICATE", "id 1"},
  };
  const std::string good = R"({"id": 1, "image_id": 9.0, "category_id": 7, "bbox": [1, 2, 3, 4]})";
  for (const auto& [entry, code, piece] : bad) {
    const DetectionDataset set = read_annotations("[" + good + ", " + entry + "]");
    EXPECT_EQ(set.boxes(), 1) << entry;
    ASSERT_EQ(set.notes.size(), 1u) << entry;
    EXPECT_EQ(set.notes[0].entry, "annotations[1]");
    EXPECT_EQ(set.notes[0].code, code) << entry;
    EXPECT_THAT(set.notes[0].message, HasSubstr(piece));
  }
}

TEST(Coco, ABadImageOrClassCostsItselfAndItsBoxes) {
  const DetectionDataset set = read_text(R"({
      "images": [{"id": 1, "file_name": "a.png"}, {"id": 1, "file_name": "b.png"}, {"file_name": "c.png"},
                 {"id": 3, "file_name": 4}, {"id": 4, "width": -3}, {"id": 5}],
      "categories": [{"id": 1, "name": "cell"}, {"id": 1, "name": "again"}, {"id": 2}],
      "annotations": [{"image_id": 3, "category_id": 1, "bbox": [0, 0, 1, 1]},
                      {"image_id": 1, "category_id": 2, "bbox": [0, 0, 1, 1]}]})");
  EXPECT_EQ(set.images.size(), 2u);
  EXPECT_EQ(set.images[0].file, "a.png");
  EXPECT_EQ(set.classes.size(), 1u);
  std::vector<std::string> codes;
  for (const auto& note : set.notes) codes.push_back(note.code);
  EXPECT_THAT(codes, testing::ElementsAre("E_DUPLICATE", "E_ENTRY", "E_DUPLICATE", "E_ENTRY", "E_ENTRY", "E_ENTRY",
                                          "E_IMAGE", "E_CLASS"));
}

TEST(Coco, WhatIsNoSuchFileIsSaidWithItsName) {
  ScratchFolder dir;
  expect_error(ErrorKind::kInput, "none.json", [&] { read_coco(dir.path() / "none.json"); });
  expect_error(ErrorKind::kInput, "a.json:2: is not valid JSON", [] { read_text("{\"images\": [\n oops"); });
  expect_error(ErrorKind::kInput, "has no list \"images\"", [] { read_text("[1, 2]"); });
  expect_error(ErrorKind::kInput, "has no list \"images\"", [] { read_text(R"({"images": 3, "categories": []})"); });
  expect_error(ErrorKind::kInput, "has no list \"categories\"", [] { read_text(R"({"images": []})"); });
  expect_error(ErrorKind::kInput, "deeper than 32", [] { read_text(std::string(100000, '[')); });
  expect_error(ErrorKind::kInput, "deeper than 32",
               [] { read_text("{\"images\": " + std::string(40, '[') + std::string(40, ']') + "}"); });
}

TEST(Coco, AnnotationsMayBeLeftOut) {
  EXPECT_EQ(read_text(R"({"images": [{"id": 1, "file_name": "a.png"}], "categories": []})").images.size(), 1u);
}

TEST(Coco, OnlyNumbersOutsideOfStringsBecomeNull) {
  std::string text =
      R"({"NaN": "a \" NaN", "b": NaN, "c": [-Infinity,Infinity], "d": -1e400, "e": 1e-400, "f": 2.5e3})";
  null_not_finite(text);
  EXPECT_EQ(text, R"({"NaN": "a \" NaN", "b": null, "c": [null,null], "d": null, "e": 1e-400, "f": 2.5e3})");
  text = "\"open NaN";
  null_not_finite(text);
  EXPECT_EQ(text, "\"open NaN");
}

CocoResults read_results(const std::string& text, const DetectionDataset& truth = read_annotations("[]")) {
  ScratchFolder dir;
  write_bytes(dir.path() / "r.json", text);
  return read_coco_results(dir.path() / "r.json", truth);
}

TEST(CocoResults, IdsBecomeIndicesAndBadEntriesCostThemselves) {
  const CocoResults r = read_results(R"([
      {"image_id": 9, "category_id": 40, "bbox": [1, 2, 3, 4], "score": 0.25},
      {"image_id": 9, "category_id": 40, "bbox": [1, 2, 3, 4], "score": NaN},
      {"image_id": 9, "category_id": 41, "bbox": [1, 2, 3, 4], "score": 1},
      {"image_id": 1, "category_id": 40, "bbox": [1, 2, 3, 4], "score": 1},
      {"image_id": 2, "category_id": 7, "bbox": [0, 0, 0, 0], "score": 1}])");
  ASSERT_EQ(r.boxes.size(), 2u);
  EXPECT_EQ(r.boxes[0].image, 1);
  EXPECT_EQ(r.boxes[0].category, 1);
  EXPECT_EQ(r.boxes[0].score, 0.25);
  EXPECT_EQ(r.boxes[1].image, 0);
  ASSERT_EQ(r.notes.size(), 3u);
  EXPECT_EQ(r.notes[0].code, "E_ENTRY");
  EXPECT_EQ(r.notes[1].code, "E_CLASS");
  EXPECT_EQ(r.notes[2].code, "E_IMAGE");
  expect_error(ErrorKind::kInput, "is no list", [] { read_results("{}"); });
}

TEST(CocoResults, AnEntryIsReadBackRounded) {
  const auto entry = coco_result({.box = {1.5, 2.004, 3, 4.756}, .score = 0.1234567}, 9, {.name = "NaN", .id = 7});
  const CocoResults r = read_results("[" + entry.dump() + "]");
  ASSERT_EQ(r.boxes.size(), 1u);
  EXPECT_EQ(r.boxes[0].image, 1);
  EXPECT_EQ(r.boxes[0].category, 0);
  EXPECT_EQ(r.boxes[0].box, (CocoBox{1.5, 2, 3, 4.76}));
  EXPECT_EQ(r.boxes[0].score, 0.123457);
}

TEST(CocoResults, NamesSayWhichClassAndImageAndIdsOnlyWhereTheyAreTwice) {
  const CocoResults r = read_results(R"([
      {"image_id": 2, "category_id": 7, "category_name": "liver", "file_name": "nine.png", "bbox": [1, 2, 3, 4], "score": 1},
      {"image_id": 1, "category_id": 1, "category_name": "NaN", "file_name": "ct/two.png", "bbox": [1, 2, 3, 4], "score": 1},
      {"image_id": 2, "category_id": 7, "category_name": "spleen", "bbox": [1, 2, 3, 4], "score": 1},
      {"image_id": 2, "category_id": 7, "file_name": "one.png", "bbox": [1, 2, 3, 4], "score": 1}])");
  ASSERT_EQ(r.boxes.size(), 2u);
  EXPECT_EQ(r.boxes[0].image, 1);
  EXPECT_EQ(r.boxes[0].category, 1);
  EXPECT_EQ(r.boxes[1].image, 0);
  EXPECT_EQ(r.boxes[1].category, 0);
  ASSERT_EQ(r.notes.size(), 2u);
  EXPECT_THAT(r.notes[0].message, HasSubstr("names the category \"spleen\", which is not listed"));
  EXPECT_THAT(r.notes[1].message, HasSubstr("names the image \"one.png\", which is not listed"));
}

/// Two images of one name in two folders.
DetectionDataset two_cameras() {
  DetectionDataset set{.source = "a.json", .classes = {{"cell", 1}}};
  set.images = {{.file = "data/cam0/1.png", .id = 4}, {.file = "data/cam1/1.png", .id = 5}};
  return set;
}

TEST(CocoResults, OfSeveralImagesOfOneNameTheFolderSaysWhichElseTheId) {
  const CocoResults r = read_results(R"([
      {"image_id": 5, "category_id": 1, "file_name": "1.png", "bbox": [1, 2, 3, 4], "score": 1},
      {"image_id": 4, "category_id": 1, "file_name": "cam1/1.png", "bbox": [1, 2, 3, 4], "score": 1},
      {"image_id": 1, "category_id": 1, "file_name": "1.png", "bbox": [1, 2, 3, 4], "score": 1},
      {"image_id": 4, "category_id": 1, "file_name": "cam2/1.png", "bbox": [1, 2, 3, 4], "score": 1}])",
                                     two_cameras());
  ASSERT_EQ(r.boxes.size(), 2u);
  EXPECT_EQ(r.boxes[0].image, 1);
  EXPECT_EQ(r.boxes[1].image, 1);
  ASSERT_EQ(r.notes.size(), 2u);
  EXPECT_THAT(r.notes[0].message, HasSubstr("of which there are several"));
  EXPECT_THAT(r.notes[1].message, HasSubstr("names the image \"cam2/1.png\", which is not listed"));
}

TEST(CocoResults, NamesOfAnotherKindAreNoneAndTheIdsCount) {
  const CocoResults r = read_results(R"([{"image_id": 2, "category_id": 40, "category_name": "class 40",
      "file_name": "case_0001", "bbox": [1, 2, 3, 4], "score": 1}])");
  ASSERT_EQ(r.boxes.size(), 1u);
  EXPECT_EQ(r.boxes[0].image, 0);
  EXPECT_EQ(r.boxes[0].category, 1);
}

TEST(Coco, ASizeOfZeroIsNotKnown) {
  const DetectionDataset set = read_text(
      R"({"images": [{"id": 1, "file_name": "a.png", "width": 0, "height": 0}], "categories": [], "annotations": []})");
  ASSERT_EQ(set.images.size(), 1u);
  EXPECT_EQ(set.images[0].width, 0);
  EXPECT_TRUE(set.notes.empty());
}

TEST(Coco, WhatIsWrittenIsReadBack) {
  DetectionDataset set = read_annotations(R"([
      {"id": 1, "image_id": 9, "category_id": 40, "bbox": [1.25, 2, 30.5, 40], "area": 600, "iscrowd": 1},
      {"id": 2, "image_id": 2, "category_id": 7, "bbox": [5, 6, 7, 8]}])");
  ScratchFolder dir;
  for (auto& image : set.images) image.width = 640, image.height = 480;
  write_coco(dir.path() / "b.json", set);
  const DetectionDataset again = read_coco(dir.path() / "b.json");
  EXPECT_TRUE(again.notes.empty());
  ASSERT_EQ(again.boxes(), 2);
  EXPECT_EQ(again.classes[1].id, 40);
  EXPECT_EQ(again.images[1].id, 9);
  EXPECT_EQ(again.images[1].boxes[0].box, (CocoBox{1.25, 2, 30.5, 40}));
  EXPECT_EQ(again.images[1].boxes[0].area, 600);
  EXPECT_TRUE(again.images[1].boxes[0].crowd);
}

TEST(DetectionAnnotations, ABoxIsCutToTheImageAndItsAreaWithIt) {
  const TrueBox box{.box = {-10, 5, 20, 10}, .area = 100};
  const auto inside = clipped_to_image(box, 100, 12);
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->box, (CocoBox{0, 5, 10, 7}));
  EXPECT_DOUBLE_EQ(inside->area, 100 * 70.0 / 200);
  EXPECT_EQ(clipped_to_image({.box = {0.1, 0.2, 0.7, 0.1}, .area = 3}, 1, 1)->area, 3);
  EXPECT_FALSE(clipped_to_image({.box = {100, 0, 5, 5}}, 100, 12));  // touches the edge from outside
  EXPECT_FALSE(clipped_to_image({.box = {5, 5, 0, 5}}, 100, 12));
  EXPECT_FALSE(clipped_to_image({.box = {NAN, 0, 5, 5}}, 100, 12));
}

TEST(Coco, AClassThatSteersAScreenCostsItselfAndItsBoxes) {
  const DetectionDataset set = read_text(R"({"images": [{"id": 1, "file_name": "a.png"}],
      "categories": [{"id": 1, "name": "a\u001b[2J"}, {"id": 2, "name": "b\u2028"}, {"id": 3, "name": "c"}],
      "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}]})");
  ASSERT_EQ(set.classes.size(), 1u);
  ASSERT_EQ(set.notes.size(), 3u);
  EXPECT_EQ(set.notes[0].code, "E_NAME");
  EXPECT_EQ(set.notes[0].message.find('\x1b'), std::string::npos);
  EXPECT_EQ(set.notes[2].code, "E_CLASS");
}

}  // namespace
}  // namespace voxshard
