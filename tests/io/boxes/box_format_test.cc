// A format of boxes is a row of a table that is handed in: which row reads a path, what a folder holds, and its words.
#include "io/boxes/box_format.h"

#include <gmock/gmock.h>

#include "libcore/base/text.h"
#include "tests/io/boxes/toy_boxes.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

/// A folder with empty files; a name that ends in / is a folder.
struct BoxFolders {
  fs::path with(const std::string& folder, std::initializer_list<const char*> names) {
    for (const std::string name : names)
      if (name.ends_with('/'))
        fs::create_directories(dir.path() / folder / name);
      else
        write_bytes(dir.path() / folder / name, "");
    return dir.path() / folder;
  }
  ScratchFolder dir;
};

TEST(BoxFormats, AFolderIsOfTheFormatWhosePartsLieInIt) {
  BoxFolders folders;
  EXPECT_STREQ(format_of(folders.with("voc", {"Annotations/", "JPEGImages/"})).name, "Pascal VOC");
  EXPECT_STREQ(format_of(folders.with("kitti", {"label_2/", "image_2/"})).name, "KITTI");
  EXPECT_STREQ(format_of(folders.with("mot", {"gt/gt.txt"})).name, "MOT");
  EXPECT_STREQ(format_of("any/list.txt").name, "MOT");
  EXPECT_STREQ(format_of("any/list.json").name, "COCO");
  EXPECT_STREQ(format_of("any/list").name, "COCO") << "the first row reads what no other takes";
}

TEST(BoxFormats, AnnotationsOfAFolderAreItsFilesElseItselfElseWhatIsUnpackedThere) {
  BoxFolders folders;
  const fs::path both = folders.with("both", {"Annotations/", "JPEGImages/", "annotations/instances_val.json"});
  EXPECT_THAT(annotations_in(both), ElementsAre(both / "annotations/instances_val.json"));
  const fs::path voc = folders.with("voc", {"Annotations/", "JPEGImages/", "training/label_2/", "training/image_2/"});
  EXPECT_THAT(annotations_in(voc), ElementsAre(voc));
  const fs::path kitti = folders.with("kitti", {"training/label_2/", "training/image_2/"});
  EXPECT_THAT(annotations_in(kitti), ElementsAre(kitti / "training"));
  EXPECT_TRUE(annotations_in(folders.with("cells", {"red/1.png"})).empty());
  const fs::path texts = folders.with("texts", {"gt.txt", "notes.txt"});
  EXPECT_THAT(annotations_in(texts / "gt.txt"), ElementsAre(texts / "gt.txt"));
  EXPECT_TRUE(annotations_in(texts / "notes.txt").empty()) << "other text is not MOT unless the user says so";
  EXPECT_TRUE(is_taken_as_boxes(texts / "notes.txt"));
  EXPECT_TRUE(is_taken_as_boxes(folders.with("preview", {"Annotations/", "JPEGImages/", "preview.png"})));
  EXPECT_TRUE(is_taken_as_boxes(folders.with("stray", {"label_2/", "image_2/", "preview.png"})));
}

TEST(BoxFormats, APartOfAFormatMakesAFolderUnlikeOtherDataSets) {
  BoxFolders folders;
  for (const char* part : {"annotations/", "Annotations/", "JPEGImages/", "image_2/", "gt/", "coco_a.json"})
    EXPECT_TRUE(is_like_boxes(folders.with(std::string("like_") + part[0] + part[1], {part}))) << part;
  EXPECT_FALSE(is_like_boxes(folders.with("unlike", {"label_2/", "classes.json", "red/1.png"})));
}

TEST(BoxFormats, TheWordsOfHelpAndMessagesAreThoseOfTheRows) {
  const BoxWords words = box_words();
  EXPECT_EQ(or_text(words.names), "COCO, Pascal VOC, KITTI or MOT");
  EXPECT_EQ(or_text(words.folders), "Pascal VOC or KITTI");
  EXPECT_EQ(box_files_text(), "a COCO JSON, a MOT text");
  EXPECT_EQ(box_inputs_text(), "a COCO JSON, a Pascal VOC or KITTI folder, or a MOT text");
  EXPECT_EQ(box_inputs_text(with_toy_boxes()), "a COCO JSON, a toy list, a Pascal VOC or KITTI folder, or a MOT text");
}

TEST(BoxFormats, ARowFromOutsideIsFoundAndRead) {
  BoxFolders folders;
  const BoxFormats formats = with_toy_boxes();
  const fs::path file = folders.with("toys", {}) / "a.toyboxes";
  write_bytes(file, "p.png red 1 2 3 4\np.png\nq.png blue 5 6 7 8\n");
  EXPECT_THAT(annotations_in(file.parent_path(), formats), ElementsAre(file));
  EXPECT_TRUE(annotations_in(file.parent_path()).empty()) << "nobody else knows the format";
  const DetectionDataset set = format_of(file, formats).read(file);
  ASSERT_EQ(set.images.size(), 2u);
  EXPECT_EQ(set.images[1].boxes.at(0).box, (CocoBox{5, 6, 7, 8}));
  EXPECT_EQ(set.classes.at(set.images[1].boxes[0].category).name, "blue");
  ASSERT_EQ(set.notes.size(), 1u);
  EXPECT_EQ(set.notes[0].entry, "p.png");
}

}  // namespace
}  // namespace voxshard
