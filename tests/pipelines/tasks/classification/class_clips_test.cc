// Data sets of videos: the clips that they give, their classes, and which of them validate.
#include "pipelines/tasks/classification/dataset/class_clips.h"

#include <gmock/gmock.h>

#include <set>

#include "pipelines/tasks/classification/samples/sample_memory.h"
#include "tests/pipelines/tasks/classification/clip_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const ClassReading kFours{.items = ItemKind::kClip, .clip_length = 4};

ClassDataset read_whole(const std::filesystem::path& path, const ClassReading& reading = kFours) {
  return read_class_part(find_class_parts(path).whole.value(), reading);
}

std::set<std::string> videos_in(const ClassDataset& set) {
  std::set<std::string> names;
  for (const ClipVideo& video : videos_of(set)) names.insert(video.name);
  return names;
}

TEST(ClassClips, FollowOneAnotherWithoutOverlap) {
  const ClipScene scene("clips_follow");
  scene.video("a.mp4", 40);
  const std::vector<ClassItem> clips = scene.clips("a.mp4", 6, 2);
  EXPECT_THAT(ClipScene::names_of(clips), ElementsAre("a.mp4#frames=0:12", "a.mp4#frames=12:24", "a.mp4#frames=24:36"));
  EXPECT_EQ(clips[2].index, 24);
  EXPECT_EQ(clips[2].size, (Dims{6, 16, 24}));
  EXPECT_TRUE(clips[2].colour);
  EXPECT_EQ(clips[2].scan, clips[0].scan) << "a video is scanned once";
  EXPECT_EQ(video_of(clips[2]), "a.mp4");
}

TEST(ClassClips, LieWhollyInTheirInterval) {
  const ClipScene scene("clips_interval");
  scene.video("a.mp4", 40);  // 25 a second: frame 5 at 0.2 s
  EXPECT_THAT(ClipScene::names_of(scene.clips("a.mp4", 4, 1, ClassInterval{0.2, 0.56})),
              ElementsAre("a.mp4#frames=5:9", "a.mp4#frames=9:13"));
  expect_error(ErrorKind::kInput, "has 3 frames from 0.21 to 0.36 s", [&] {
    scene.clips("a.mp4", 4, 1, ClassInterval{0.21, 0.36});
  });
}

TEST(ClassClips, AFileThatIsNoVideoIsOpenedOnce) {
  const ClipScene scene("clips_once");
  scene.write("a.mp4", "no video");
  ClipFinder finder(kFours);
  const auto clips = [&] { finder.clips(scene.path("a.mp4"), "a.mp4", ClassInterval{0, 1}); };
  expect_error(ErrorKind::kInput, "a.mp4", clips);
  scene.video("a.mp4", 40);
  expect_error(ErrorKind::kInput, "a.mp4", clips);
}

TEST(ClassClips, WhatIsShorterSaysTheFramesItHasAndThoseWanted) {
  const ClipScene scene("clips_short");
  scene.video("a.mp4", 10);
  expect_error(ErrorKind::kInput, "has 10 frames, a clip of 16 at a stride of 1 wants 16",
               [&] { scene.clips("a.mp4"); });
  expect_error(ErrorKind::kInput, "has 3 frames from 0.2 to 0.32 s, a clip of 4 at a stride of 2 wants 8", [&] {
    scene.clips("a.mp4", 4, 2, ClassInterval{0.2, 0.32});
  });
  expect_error(ErrorKind::kInput, "has 0 frames from 9 to 12 s", [&] {
    scene.clips("a.mp4", 4, 1, ClassInterval{9, 12});
  });
}

TEST(ClassClips, AFolderPerClassIsRead) {
  const ClipScene scene("clips_folders");
  scene.video("data/left/b.mp4", 9), scene.video("data/up/a.mkv", 4), scene.video("data/up/short.mp4", 3);
  scene.write("data/up/none.mp4", "no video");
  const ClassDataset set = read_whole(scene.data());
  EXPECT_EQ(kind_of_part(find_class_parts(scene.data()).whole.value(), 3), ItemKind::kClip);
  EXPECT_THAT(set.classes, ElementsAre("left", "up"));
  EXPECT_THAT(ClassScene::names(set),
              ElementsAre("left/b.mp4#frames=0:4", "left/b.mp4#frames=4:8", "up/a.mkv#frames=0:4"));
  EXPECT_THAT(set.counts(), ElementsAre(2, 1));
  EXPECT_THAT(ClassScene::codes(set.failures), testing::UnorderedElementsAre("E_CLIP", "E_READ"));
}

TEST(ClassClips, AListGivesAClassPerVideoOrPerInterval) {
  const ClipScene scene("clips_list");
  scene.video("data/a.mp4", 40), scene.video("data/b.mp4", 8);
  scene.write(
      "data/list.csv",
      "file,start,end,class\na.mp4,0,0.4,left\na.mp4,0.4,0.8,up\na.mp4,0.7,0.9,left\na.mp4,1,0.5,up\nb.mp4,up\n");
  const ClassDataset set = read_whole(scene.data() / "list.csv");
  EXPECT_THAT(ClassScene::names(set), ElementsAre("a.mp4#frames=0:4", "a.mp4#frames=4:8", "a.mp4#frames=10:14",
                                                  "a.mp4#frames=14:18", "b.mp4#frames=0:4", "b.mp4#frames=4:8"));
  EXPECT_THAT(set.counts(), ElementsAre(2, 4));
  ASSERT_EQ(set.failures.size(), 2u);
  EXPECT_EQ(set.failures[0].code, "E_OVERLAP");
  EXPECT_EQ(set.failures[0].id, "list.csv line 4");
  EXPECT_EQ(set.failures[1].code, "E_TIME");
}

TEST(ClassClips, ImagesHaveNoIntervals) {
  const ClipScene scene("clips_pictures");
  scene.dark_and_bright("data", 1);
  scene.write("data/list.csv", "dark/0.png,0,2,dark\ndark/0.png,2,3,dark\nbright/0.png,bright\n");
  const ClassDataset set = read_whole(scene.data() / "list.csv", {});
  EXPECT_THAT(ClassScene::names(set), ElementsAre("bright/0.png"));
  EXPECT_THAT(set.failures.at(0).message, HasSubstr("only videos have"));
}

TEST(ClassClips, NoVideoHasClipsOnBothSides) {
  const ClipScene scene("clips_split");
  scene.dark_and_bright_videos("data", 6, 20);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const ClassSets sets =
        read_class_sets({.data = scene.data(), .val_fraction = 0.3, .seed = seed, .reading = kFours});
    EXPECT_THAT(sets.val.counts(), ElementsAre(10, 10)) << "two videos of five clips";
    EXPECT_THAT(sets.train.counts(), ElementsAre(20, 20));
    const auto train = videos_in(sets.train);
    for (const std::string& name : videos_in(sets.val)) EXPECT_FALSE(train.contains(name)) << name;
  }
}

TEST(ClassClips, AVideoOfSeveralClassesIsHeldOutWholeOrNotAtAll) {
  const ClipScene scene("clips_shared");
  std::string list;
  for (const char* name : {"a.mp4", "b.mp4", "c.mp4", "d.mp4"}) {
    scene.video(std::string("data/") + name, 16);
    list += std::string(name) + ",0,0.32,left\n" + name + ",0.32,0.64,up\n";
  }
  scene.video("data/only.mp4", 8);
  scene.write("data/list.csv", list + "only.mp4,down\n");
  const ClassSets sets = read_class_sets({.data = scene.data() / "list.csv", .val_fraction = 0.25, .reading = kFours});
  EXPECT_THAT(sets.train.classes, ElementsAre("down", "left", "up"));
  EXPECT_THAT(sets.val.counts(), ElementsAre(0, 2, 2)) << "the one video of its class trains";
  EXPECT_EQ(videos_in(sets.val).size(), 1u);
  EXPECT_FALSE(videos_in(sets.train).contains(*videos_in(sets.val).begin()));
}

TEST(ClassClips, AVideoThatValidatesDoesNotTrain) {
  const ClipScene scene("clips_leak");
  scene.dark_and_bright_videos("data", 2, 8);
  scene.write("data/val.csv", "dark/0.mp4,0.1,0.3,dark\n");
  const ClassSets sets = read_class_sets({.data = scene.data(), .val = scene.data() / "val.csv", .reading = kFours});
  EXPECT_THAT(sets.val.counts(), ElementsAre(0, 1));
  EXPECT_FALSE(videos_in(sets.train).contains("dark/0.mp4"));
  EXPECT_THAT(ClassScene::codes(sets.train.failures), ElementsAre("E_DUPLICATE", "E_DUPLICATE"));
}

TEST(ClassClips, OneClassIsRefused) {
  const ClipScene scene("clips_one");
  scene.video("data/left/a.mp4", 8);
  expect_error(ErrorKind::kConfig, "has one class, left",
               [&] { read_class_sets({.data = scene.data(), .reading = kFours}); });
}

TEST(ClassClips, VolumesAndVideosAreNotMixed) {
  const ClipScene scene("clips_mixed");
  scene.video("data/left/a.mp4", 8);
  std::filesystem::create_directories(scene.data() / "up");
  write_volume(scene.data() / "up/v.nii", Scene::make_image(0, {4, 4, 4}), DiskType::kI16);
  const ClassPart part = find_class_parts(scene.data()).whole.value();
  expect_error(ErrorKind::kInput, "holds volumes and videos, v.nii and a.mp4", [&] { kind_of_part(part, 3); });
  EXPECT_EQ(kind_of_part(part, 2), ItemKind::kImage);
}

TEST(ClassClips, ReadingTakesADecoderAndAFrameHoweverLongTheClip) {
  const auto plan = [](std::int64_t length, std::int64_t in_flight) {
    const ClassPreparation p{.classes = {"a", "b"}, .items = ItemKind::kClip, .clip_length = length};
    return reading_items_plan(length * 720 * 1280, in_flight, p).total();
  };
  EXPECT_EQ(plan(16, 2), plan(64, 2));
  EXPECT_EQ(plan(16, 2), 2 * plan(16, 1));
  EXPECT_GT(plan(16, 1), 720 * 1280 * (20 * 3 / 2 + 12 + 12)) << "the frames a decoder keeps, one f32, one resized";
}

}  // namespace
}  // namespace voxshard
