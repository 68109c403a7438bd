// KITTI folders: what is read, and which errors lose only a line or a file.
#include "io/boxes/kitti.h"

#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Lines as in the readme of the development kit.
const std::string kCar = "Car 0.00 0 -1.58 587.01 173.33 614.12 200.12 1.65 1.67 3.64 -0.65 1.71 46.70 -1.59\n";
const std::string kRegion = "DontCare -1 -1 -10 503.89 169.71 590.61 190.13 -1 -1 -1 -1000 -1000 -1000 -10\n";

std::string row(const std::string& type, const std::string& box, const std::string& first = "0 0 0") {
  return type + " " + first + " " + box + " 1 1 1 0 0 10 0\n";
}

struct KittiFolder {
  KittiFolder() { fs::create_directories(dir.path() / "image_2"), fs::create_directories(dir.path() / "label_2"); }
  void write(const std::string& name, const std::string& text) { write_bytes(dir.path() / "label_2" / name, text); }
  DetectionDataset read() const { return read_kitti(dir.path()); }
  ScratchFolder dir;
};

TEST(Kitti, ALineIsATypeAndTheEdgesOfItsBox) {
  const KittiRow car = parse_kitti_line(kCar.substr(0, kCar.size() - 1));
  EXPECT_EQ(car.type, "Car");
  EXPECT_DOUBLE_EQ(car.box.x, 587.01);
  EXPECT_DOUBLE_EQ(car.box.y, 173.33);
  EXPECT_DOUBLE_EQ(car.box.width, 614.12 - 587.01);
  EXPECT_DOUBLE_EQ(car.box.height, 200.12 - 173.33);
  EXPECT_EQ(parse_kitti_line("A\t-1  -1 0 0 0 5 5 1 1 1 0 0 0 0 ").box, (CocoBox{0, 0, 5, 5}));
}

TEST(Kitti, ClassesAreTheTypesByNameOverAllFiles) {
  KittiFolder kitti;
  kitti.write("000001.txt", row("Van", "0 0 9 9") + row("Car", "1 2 4 6"));
  kitti.write("000000.txt", kCar + "\r\n");
  kitti.write("000002.txt", "");
  const DetectionDataset set = kitti.read();
  ASSERT_EQ(set.classes.size(), 2u);
  EXPECT_EQ(set.classes[0].name, "Car");
  EXPECT_EQ(set.classes[1].id, 2);
  ASSERT_EQ(set.images.size(), 3u) << "a picture without objects is one of the set";
  EXPECT_EQ(set.images[0].file, kitti.dir.path() / "image_2" / "000000.png");
  EXPECT_EQ(set.images[1].id, 2);
  EXPECT_EQ(set.images[1].boxes[0].category, 1);
  EXPECT_EQ(set.images[1].boxes[1].area, 12);
  EXPECT_FALSE(set.images[1].boxes[1].crowd);
  EXPECT_TRUE(set.notes.empty());
  EXPECT_TRUE(is_kitti_folder(kitti.dir.path()));
}

TEST(Kitti, ARegionThatWasNotLabelledIsACrowdOfEveryClass) {
  KittiFolder kitti;
  kitti.write("a.txt", kRegion + kCar);
  kitti.write("b.txt", row("Tram", "0 0 9 9"));
  const DetectionDataset set = kitti.read();
  ASSERT_EQ(set.classes.size(), 2u) << "DontCare is no class";
  ASSERT_EQ(set.images[0].boxes.size(), 3u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(set.images[0].boxes[i].crowd);
    EXPECT_EQ(set.images[0].boxes[i].category, static_cast<std::int64_t>(i));
    EXPECT_DOUBLE_EQ(set.images[0].boxes[i].box.x, 503.89);
  }
  EXPECT_FALSE(set.images[0].boxes[2].crowd);
}

TEST(Kitti, ABadLineCostsItselfOnlyAndIsNamedWithFileAndLine) {
  const std::vector<std::array<std::string, 3>> bad = {
      {"Car 0 0 0 1 1 9 9 1 1 1 0 0 10\n", "E_ENTRY", "has 14 fields; expected type, truncated"},
      {row("Car", "1 1 9 9 0.93"), "E_ENTRY", "has more than 15 fields"},
      {row("Car", "one 1 9 9"), "E_ENTRY", "the left \"one\"; expected a number"},
      {row("Car", "1 1 nan 9"), "E_ENTRY", "the right \"nan\""},
      {row("Car", "1 1 9 inf"), "E_ENTRY", "the bottom \"inf\""},
      {row("Car", "1 1e30 9 9"), "E_ENTRY", "at most 1e9"},
      {row("Car", "1 1 9 9px"), "E_ENTRY", "\"9px\""},
      {row("Car", "1 1 9 9", "7 0 0"), "E_ENTRY", "the truncation \"7\"; expected 0 to 1, or -1"},
      {row("Car", "1 1 9 9", "0 0.5 0"), "E_ENTRY", "expected a whole number"},
      {row("Car", "1 1 9 9", "0 9 0"), "E_ENTRY", "the occlusion \"9\""},
      {"Car 0 0 0 1 1 9 9 1 1 1 0 0 10 x\n", "E_ENTRY", "the rotation_y \"x\""},
      {row("Car", "9 1 1 9"), "E_BOX", "without area"},
      {row("C\x1b[2J", "1 1 9 9"), "E_NAME", "has the type \"C?[2J\""},
      {row("\xff\xfe", "1 1 9 9"), "E_NAME", "has the type"},
      {std::string(2000, 'x') + "\n", "E_ENTRY", "has 2000 characters"},
  };
  for (const auto& [text, code, piece] : bad) {
    KittiFolder kitti;
    kitti.write("000007.txt", "\n" + text + kCar);
    const DetectionDataset set = kitti.read();
    EXPECT_EQ(set.boxes(), 1) << text;
    ASSERT_EQ(set.notes.size(), 1u) << text;
    EXPECT_EQ(set.notes[0].entry, "000007.txt line 2");
    EXPECT_EQ(set.notes[0].code, code) << text;
    EXPECT_THAT(set.notes[0].message, HasSubstr(piece));
  }
}

TEST(Kitti, WhatIsTooMuchIsBounded) {
  KittiFolder kitti;
  std::string many, wrong;
  for (int i = 0; i < 1001; ++i) many += kCar;
  for (int i = 0; i < 3000; ++i) wrong += "x\n";
  kitti.write("a.txt", many);
  kitti.write("b.txt", std::string((1 << 20) + 1, 'x'));
  kitti.write("c.txt", kCar);
  kitti.write("d.txt", wrong);
  kitti.write("e.txt", kCar);
  const DetectionDataset set = kitti.read();
  ASSERT_EQ(set.images.size(), 3u) << "c, d and e";
  EXPECT_EQ(set.boxes(), 2);
  ASSERT_EQ(set.notes.size(), 1001u);
  EXPECT_THAT(set.notes[0].message, HasSubstr("more than 1000 objects"));
  EXPECT_EQ(set.notes[1].entry, "b.txt");
  EXPECT_EQ(set.notes.back().entry, "2002 more entries");
  std::string types;
  for (int i = 0; i < 101; ++i) types += row("t" + std::to_string(i), "0 0 9 9");
  kitti.write("f.txt", types);
  expect_error(ErrorKind::kInput, "more than 100 types", [&] { kitti.read(); });
}

TEST(Kitti, AFolderWithoutLabelsIsAnError) {
  ScratchFolder dir;
  EXPECT_FALSE(is_kitti_folder(dir.path()));
  expect_error(ErrorKind::kInput, "label_2: cannot be read", [&] { read_kitti(dir.path()); });
}

TEST(Kitti, ListsOfASplitLieInTheFolderOrAboveIt) {
  KittiFolder kitti;
  write_bytes(kitti.dir.path() / "ImageSets" / "train.txt", "000000\n000003\r\n");
  EXPECT_THAT(read_kitti_set(kitti.dir.path(), "train"), ElementsAre("000000", "000003"));
  EXPECT_THAT(read_kitti_set(kitti.dir.path() / "training", "train"), ElementsAre("000000", "000003"));
  EXPECT_TRUE(read_kitti_set(kitti.dir.path(), "val").empty());
}

TEST(Kitti, ANameThatSteersAScreenIsShownAsText) {
  KittiFolder kitti;
  kitti.write("a\x1b[2J.txt", kCar);
  kitti.write("b.txt", kCar);
  const DetectionDataset set = kitti.read();
  ASSERT_EQ(set.notes.size(), 1u);
  EXPECT_EQ(set.notes[0].entry, "a\\x1b[2J.txt");
}

}  // namespace
}  // namespace voxshard
