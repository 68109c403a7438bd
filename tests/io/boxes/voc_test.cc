// Pascal VOC folders: what is read, and which errors lose only a file or an object.
#include "io/boxes/voc.h"

#include <algorithm>
#include <map>

#include "io/boxes/coco.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

std::string object(const std::string& name, const std::string& box, const std::string& more = "") {
  return "<object><name>" + name + "</name>" + more + "<bndbox>" + box + "</bndbox></object>";
}

std::string edges(const std::string& x0, const std::string& y0, const std::string& x1, const std::string& y1) {
  return "<xmin>" + x0 + "</xmin><ymin>" + y0 + "</ymin><xmax>" + x1 + "</xmax><ymax>" + y1 + "</ymax>";
}

std::string page(const std::string& file, const std::string& objects) {
  return "<annotation><filename>" + file + "</filename><size><width>640</width><height>480</height></size>" + objects +
         "</annotation>";
}

struct VocFolder {
  VocFolder() { fs::create_directories(dir.path() / "JPEGImages"); }
  void write(const std::string& name, const std::string& text) { write_bytes(dir.path() / "Annotations" / name, text); }
  DetectionDataset read() const { return read_voc(dir.path()); }
  ScratchFolder dir;
};

TEST(Voc, PixelsCountFromOneAndBothEdgesBelongToTheBox) {
  VocFolder voc;
  voc.write("a.xml", page("one.jpg", object("cell", edges("1", "11", "640", "20"))));
  const DetectionDataset set = voc.read();
  ASSERT_EQ(set.boxes(), 1);
  EXPECT_EQ(set.images[0].file, voc.dir.path() / "JPEGImages" / "one.jpg");
  EXPECT_EQ(set.images[0].width, 640);
  EXPECT_EQ(set.images[0].boxes[0].box, (CocoBox{0, 10, 640, 10}));
  EXPECT_EQ(set.images[0].boxes[0].area, 6400);
  EXPECT_TRUE(is_voc_folder(voc.dir.path()));
}

TEST(Voc, ClassesAreByNameOverAllFilesAndDifficultObjectsAreIgnored) {
  VocFolder voc;
  voc.write("b.xml", page("b.jpg", object("white", edges("1", "1", "9", "9"))));
  voc.write("a.xml", page("a.jpg", object("red", edges("1", "1", "9", "9"), "<difficult>1</difficult>")));
  const DetectionDataset set = voc.read();
  ASSERT_EQ(set.classes.size(), 2u);
  EXPECT_EQ(set.classes[0].name, "red");
  EXPECT_EQ(set.classes[1].id, 2);
  EXPECT_EQ(set.images[0].file.filename(), "a.jpg");
  EXPECT_TRUE(set.images[0].boxes[0].ignore);
  EXPECT_EQ(set.images[1].boxes[0].category, 1);
  EXPECT_FALSE(set.images[1].boxes[0].ignore);
}

TEST(Voc, ABadObjectCostsItselfOnly) {
  const std::vector<std::array<std::string, 3>> bad = {
      {object("", edges("1", "1", "9", "9")), "E_ENTRY", "has no <name>"},
      {object("cell", ""), "E_ENTRY", "<xmin>"},
      {object("cell", edges("one", "1", "9", "9")), "E_ENTRY", "\"one\"; expected a number"},
      {object("cell", edges("nan", "1", "9", "9")), "E_ENTRY", "expected a number"},
      {object("cell", edges("1", "1", "1e30", "9")), "E_ENTRY", "expected a number"},
      {object("cell", edges("1", "1", "9 px", "9")), "E_ENTRY", "expected a number"},
      {object("cell", edges("9", "1", "2", "9")), "E_BOX", "without area"},
      {object("cell", edges("1", "1", "&xxe;", "9")), "E_ENTRY", "expected a number"},
  };
  for (const auto& [text, code, piece] : bad) {
    VocFolder voc;
    voc.write("a.xml", page("a.jpg", text + object("cell", edges(" 1 ", "1", "9.5", "9"))));
    const DetectionDataset set = voc.read();
    EXPECT_EQ(set.boxes(), 1) << text;
    ASSERT_EQ(set.notes.size(), 1u) << text;
    EXPECT_EQ(set.notes[0].entry, "a.xml object 1");
    EXPECT_EQ(set.notes[0].code, code) << text;
    EXPECT_THAT(set.notes[0].message, HasSubstr(piece));
  }
}

TEST(Voc, ABadFileCostsItselfOnly) {
  std::string deep, bomb = "<!DOCTYPE a [<!ENTITY x \"" + std::string(1000, 'x') + "\">";
  for (int i = 0; i < 20000; ++i) deep += "<object>";
  for (int i = 0; i < 20000; ++i) deep += "</object>";
  bomb += "<!ENTITY y \"&x;&x;&x;&x;\">]>" + page("bomb.jpg", object("&y;", edges("1", "1", "9", "9")));
  VocFolder voc;
  voc.write("a.xml", page("a.jpg", object("cell", edges("1", "1", "9", "9"))));
  voc.write("b.xml", page("b.jpg", deep));
  voc.write("c.xml", "<annotation><object>");
  voc.write("d.xml", "");
  voc.write("e.xml", "<html></html>");
  voc.write("f.xml", bomb);
  const DetectionDataset set = voc.read();
  ASSERT_EQ(set.notes.size(), 4u);
  EXPECT_THAT(set.notes[0].message, HasSubstr("deeper"));
  EXPECT_THAT(set.notes[1].message, HasSubstr("not valid XML"));
  EXPECT_THAT(set.notes[2].message, HasSubstr("not valid XML"));
  EXPECT_THAT(set.notes[3].message, HasSubstr("no <annotation>"));
  ASSERT_EQ(set.images.size(), 2u);
  EXPECT_EQ(set.classes[0].name, "&y;");  // an entity is never expanded
}

TEST(Voc, AFolderWithoutAnnotationsIsAnError) {
  ScratchFolder dir;
  EXPECT_FALSE(is_voc_folder(dir.path()));
  expect_error(ErrorKind::kInput, "Annotations: cannot be read", [&] { read_voc(dir.path()); });
}

TEST(Voc, TheListsOfASetAreNames) {
  VocFolder voc;
  write_bytes(voc.dir.path() / "ImageSets/Main/train.txt", "a\nb  1\n\nc\r\n");
  EXPECT_THAT(read_voc_set(voc.dir.path(), "train"), testing::ElementsAre("a", "b", "c"));
  EXPECT_TRUE(read_voc_set(voc.dir.path(), "val").empty());
}

TEST(Voc, RealCellsAreTheSameBoxesAsInCocoButForThePixelThatVocCountsIn) {
  const fs::path folder = test_data() / "detection" / "bccd";
  REQUIRE_TEST_DATA(folder);
  const DetectionDataset voc = read_voc(folder), coco = read_coco(folder / "coco_train.json");
  EXPECT_EQ(voc.images.size(), 364u);
  EXPECT_TRUE(voc.notes.empty());
  EXPECT_EQ(coco.images.size(), 205u);
  EXPECT_EQ(coco.boxes(), 2804);
  std::map<fs::path, const DetectionImage*> by_name;
  for (const auto& image : voc.images) by_name[image.file.filename()] = &image;
  for (const auto& image : coco.images) {
    const auto& boxes = by_name.at(image.file)->boxes;
    for (const auto& b : image.boxes) {
      const CocoBox same = {b.box.x - 1, b.box.y - 1, b.box.width + 1, b.box.height + 1};
      EXPECT_TRUE(std::any_of(boxes.begin(), boxes.end(), [&](const auto& v) { return v.box == same; })) << image.file;
    }
  }
}

TEST(Voc, AImageOutsideAndAClassThatSteersAScreenCostThemselves) {
  VocFolder voc;
  voc.write("a.xml", page("../../outside.png", ""));
  voc.write("b.xml", page("/etc/b.png", ""));
  voc.write("c.xml", page("c.png", object("cell&#x1b;[2J", edges("1", "1", "9", "9")) +
                                       object("red", edges("1", "1", "9", "9"))));
  const DetectionDataset set = voc.read();
  ASSERT_EQ(set.images.size(), 1u);
  EXPECT_EQ(set.boxes(), 1);
  ASSERT_EQ(set.notes.size(), 3u);
  for (const EntryNote& note : set.notes) EXPECT_EQ(note.code, "E_NAME") << note.message;
}

TEST(Voc, AThousandBadObjectsAreNotedAndTheOthersCounted) {
  VocFolder voc;
  std::string objects;
  for (int i = 0; i < 800; ++i) objects += object("", edges("1", "1", "9", "9"));
  voc.write("a\x1b[2J.xml", page("a.jpg", objects));
  voc.write("b.xml", page("b.jpg", objects));
  const DetectionDataset set = voc.read();
  ASSERT_EQ(set.notes.size(), 1001u);
  EXPECT_EQ(set.notes[0].entry, "a\\x1b[2J.xml object 1") << "no name steers a screen";
  EXPECT_EQ(set.notes.back().entry, "600 more entries");
}

}  // namespace
}  // namespace voxshard
