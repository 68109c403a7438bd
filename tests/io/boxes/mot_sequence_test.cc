#include "io/boxes/mot_sequence.h"

#include "tests/io/video/video_scene.h"

namespace voxshard {
namespace {

class MotFolder : public testing::Test {
 protected:
  fs::path folder() const { return scratch_.path() / "sequence"; }
  void write(const std::string& name, const std::string& text) { write_bytes(folder() / name, text); }

 private:
  ScratchFolder scratch_;
};

TEST_F(MotFolder, NumberedImagesAreItsFramesWithOrWithoutBoxes) {
  for (const char* name : {"img1/000001.jpg", "img1/000002.jpg", "img1/000003.jpg", "img1/Thumbs.db"}) write(name, "");
  write("gt/gt.txt", "3,1,1,2,3,4,1,1,1\n1,1,5,6,7,8,1,1,1\n1,2,9,9,2,2,0,1,1\n");
  const DetectionDataset set = read_mot_sequence(folder());
  ASSERT_EQ(set.images.size(), 3u);
  EXPECT_EQ(set.images[2].file, folder() / "img1/000003.jpg");
  EXPECT_EQ(set.images[2].id, 2);
  ASSERT_TRUE(set.images[2].place);
  EXPECT_EQ(set.images[2].place->frame, 2);
  EXPECT_EQ(set.images[2].place->sequence, set.images[0].place->sequence);
  ASSERT_EQ(set.images[0].boxes.size(), 2u);
  EXPECT_EQ(set.images[0].boxes[0].box, (CocoBox{5, 6, 7, 8}));
  EXPECT_EQ(set.images[0].boxes[0].area, 56);
  EXPECT_FALSE(set.images[0].boxes[0].ignore);
  EXPECT_TRUE(set.images[0].boxes[1].ignore);  // its confidence is 0
  EXPECT_TRUE(set.images[1].boxes.empty());
  EXPECT_TRUE(set.notes.empty());
}

TEST_F(MotFolder, SeqinfoNamesTheFolderOfTheImages) {
  write("seqinfo.ini", "[Sequence]\nname=walk\nimDir = frames\r\nframeRate=30\n");
  write("frames/walk_0001.png", "");
  write("img1/000001.jpg", "");
  write("gt/gt.txt", "1,1,1,2,3,4,1\n");
  EXPECT_EQ(read_mot_sequence(folder()).images.at(0).file, folder() / "frames/walk_0001.png");
}

TEST_F(MotFolder, LabelsNameTheClassesLineByLine) {
  write("img1/1.jpg", "");
  write("gt/labels.txt", "fly\nbee\n");
  write("gt/gt.txt", "1,1,1,2,3,4,1,2,1\n1,2,1,2,3,4,1,3,1\n1,3,1,2,3,4,1\n");
  const DetectionDataset set = read_mot_sequence(folder());
  ASSERT_EQ(set.classes.size(), 2u);
  EXPECT_EQ(set.classes[1].name, "bee");
  ASSERT_EQ(set.images[0].boxes.size(), 2u);
  EXPECT_EQ(set.images[0].boxes[0].category, 1);
  EXPECT_EQ(set.images[0].boxes[1].category, 0);  // not said: the first
  ASSERT_EQ(set.notes.size(), 1u);
  EXPECT_EQ(set.notes[0].entry, "line 2");
  EXPECT_EQ(set.notes[0].code, "E_CLASS");
}

TEST_F(MotFolder, WithoutLabelsTheClassesThatOccurAreNumbered) {
  write("img1/1.jpg", "");
  write("gt/gt.txt", "1,1,1,2,3,4,1,7,1\n1,2,1,2,3,4,1,3,1\n");
  const DetectionDataset set = read_mot_sequence(folder());
  ASSERT_EQ(set.classes.size(), 2u);
  EXPECT_EQ(set.classes[0].name, "class 3");
  EXPECT_EQ(set.classes[1].id, 7);
  EXPECT_EQ(set.images[0].boxes[0].category, 1);
}

TEST_F(MotFolder, ABoxBeyondTheLastFrameIsNoted) {
  write("img1/1.jpg", "");
  write("gt/gt.txt", "1,1,1,2,3,4,1\n2,1,1,2,3,4,1\n");
  const DetectionDataset set = read_mot_sequence(folder());
  EXPECT_EQ(set.boxes(), 1);
  ASSERT_EQ(set.notes.size(), 1u);
  EXPECT_EQ(set.notes[0].code, "E_IMAGE");
  EXPECT_THAT(set.notes[0].message, testing::HasSubstr("frame 2"));
}

TEST_F(MotFolder, WithoutFramesItIsRefused) {
  write("gt/gt.txt", "1,1,1,2,3,4,1\n");
  expect_error(ErrorKind::kInput, "neither numbered pictures nor a video", [&] { read_mot_sequence(folder()); });
  write("a.mp4", "");
  write("b.mp4", "");
  expect_error(ErrorKind::kInput, "several videos", [&] { read_mot_sequence(folder()); });
}

TEST_F(MotFolder, IsKnownByItsTruth) {
  write("gt/gt.txt", "");
  EXPECT_TRUE(is_mot_sequence(folder()));
  EXPECT_FALSE(is_mot_sequence(folder() / "gt"));
  EXPECT_TRUE(is_mot_sequence("clip.mot.txt"));
  EXPECT_FALSE(is_mot_sequence("clip.json"));
}

using MotClip = VideoClips;

TEST_F(MotClip, FramesAreThoseOfTheVideoThatTheFileIsNamedAfter) {
  const fs::path video = clip("walk.mkv", "-c:v ffv1");
  write_bytes(folder() / "walk.boxes.txt", "25,1,1,2,3,4,1\n");
  write_bytes(folder() / "wal.mp4", "another");
  const DetectionDataset set = read_mot_sequence(folder() / "walk.boxes.txt");
  ASSERT_EQ(set.images.size(), 25u);
  EXPECT_EQ(set.images[24].file.string(), video.string() + "#frame=24");
  EXPECT_EQ(set.images[24].boxes.size(), 1u);
  EXPECT_EQ(set.images[24].width, 96);
  EXPECT_EQ(set.images[24].height, 64);
  EXPECT_TRUE(set.notes.empty());
}

TEST_F(MotClip, AFolderMayHoldItsVideoBesideGt) {
  clip("only.mkv", "-c:v ffv1");
  write_bytes(folder() / "gt/gt.txt", "2,1,1,2,3,4,1\n");
  for (const fs::path& path : {folder(), folder() / "gt/gt.txt"}) {
    const DetectionDataset set = read_mot_sequence(path);
    EXPECT_EQ(set.images.size(), 25u) << path;
    EXPECT_EQ(set.images.at(1).boxes.size(), 1u) << path;
  }
}

}  // namespace
}  // namespace voxshard
