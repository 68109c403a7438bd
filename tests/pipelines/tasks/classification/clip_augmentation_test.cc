// Random changes of clips in training.
#include "pipelines/tasks/classification/samples/clip_augmentation.h"

#include <gmock/gmock.h>

#include <set>

#include "pipelines/tasks/classification/samples/class_source.h"
#include "tests/pipelines/tasks/classification/clip_scene.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

TEST(ClipAugmentation, AFirstFrameIsDrawnFromAllThatTheVideoHasWithinTheShift) {
  const ClassItem clip{.index = 6, .least_first = 4, .most_first = 20};
  std::set<std::int64_t> first;
  int mirrored = 0;
  for (std::int64_t sample = 0; sample < 400; ++sample) {
    const ClipChange change = change_of_clip(clip, {.shift = 5, .mirror = 0.5}, {.seed = 3, .sample = sample});
    first.insert(change.first), mirrored += change.mirrored;
    EXPECT_EQ(change_of_clip(clip, {.shift = 5, .mirror = 0.5}, {.seed = 3, .sample = sample}).first, change.first);
  }
  EXPECT_THAT(first, testing::ElementsAre(4, 5, 6, 7, 8, 9, 10, 11)) << "4 is where the interval begins";
  EXPECT_NEAR(mirrored, 200, 50);
  EXPECT_EQ(change_of_clip(clip, {}, {.seed = 3, .sample = 9}).first, 6) << "off by default";
  EXPECT_FALSE(change_of_clip(clip, {}, {.seed = 3, .sample = 9}).mirrored);
}

TEST(ClipAugmentation, TheRangeOfFirstFramesIsThatOfTheVideoOrInterval) {
  const ClipScene scene("clip_range");
  scene.video("a.mp4", 40);
  const auto whole = scene.clips("a.mp4", 8, 2);
  ASSERT_EQ(whole.size(), 2u);
  EXPECT_EQ(whole[1].least_first, 0);
  EXPECT_EQ(whole[1].most_first, 25) << "frames 25, 27, .., 39";
  const auto part = scene.clips("a.mp4", 8, 1, ClassInterval{.start_s = 0.4, .end_s = 1.2});  // frames 10 to 29
  ASSERT_EQ(part.size(), 2u);
  EXPECT_EQ(part[0].least_first, 10);
  EXPECT_EQ(part[1].most_first, 22);
}

TEST(ClipAugmentation, EveryFrameIsMirrored) {
  Tensor clip(DType::kF32, {2, 1, 3, 2});
  for (std::int64_t i = 0; i < clip.count(); ++i) clip.as<float>()[i] = static_cast<float>(i);
  mirror_clip(clip);
  const std::vector<float> values(clip.as<float>(), clip.as<float>() + clip.count());
  EXPECT_THAT(values, testing::ElementsAre(4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 6, 7));
}

/// Fills the whole batch of the loaded step.
Tensor batch_of(ClassSource& source, std::int64_t step, WorkerPool& pool) {
  Shape shape = source.load(step, 2, pool);
  shape.push_back(3);
  Tensor batch(DType::kF32, shape);
  fill(batch.view(), 77);
  source.fill(input::Image{}, batch.view());
  return batch;
}

TEST(ClipAugmentation, SamplesAreAFunctionOfSeedStepAndPlaceAlone) {
  const ClipScene scene("clip_source");
  scene.dark_and_bright_videos("data", 2, 12);
  const ClassReading reading{.items = ItemKind::kClip, .clip_length = 4};
  const ClassDataset set = read_class_part(*find_class_parts(scene.data()).whole, reading);
  const ClassPreparation preparation{.classes = set.classes,
                                     .items = ItemKind::kClip,
                                     .clip_length = 4,
                                     .channels = 3,
                                     .mean = {0, 0, 0},
                                     .deviation = {1, 1, 1}};
  const ClipAugmentation clips{.shift = 3, .mirror = 0.5};
  WorkerPool one(1), two(2);
  ClassSource all(set, preparation, reading, 5, {.clips = clips}), late(set, preparation, reading, 5, {.clips = clips}),
      plain(set, preparation, reading, 5);
  int changed = 0;
  for (std::int64_t step = 0; step < 6; ++step) {
    const Tensor batch = batch_of(all, step, one);
    changed += !compare(batch.view(), batch_of(plain, step, one).view()).bit_equal;
    if (step == 5) {
      EXPECT_TRUE(compare(batch.view(), batch_of(late, step, two).view()).bit_equal);
    }
  }
  EXPECT_GE(changed, 4);
}

TEST(ClipAugmentation, IsOfClipsAndWarnsWhereSidesAreClasses) {
  ClipScene scene("clip_mirror");
  for (const char* name : {"left/a.mp4", "left/b.mp4", "right/c.mp4", "right/d.mp4"})
    scene.video(std::string("data/") + name, 8, {.height = 8, .width = 10});
  TrainOptions o = scene.toy_clips("run");
  o.steps = 1, o.task.of<ClassTaskOptions>().clips = {.shift = 2, .mirror = 0.5};
  run_train(o, scene.progress);
  EXPECT_THAT(scene.progress.lines, testing::Contains(HasSubstr("W_MIRROR")));
  std::filesystem::remove_all(scene.data());
  scene.dark_and_bright("data", 3);
  TrainOptions images = scene.toy("images");
  images.task.of<ClassTaskOptions>().clips.shift = 2;
  expect_error(ErrorKind::kUsage, "{clip-shift} and {clip-mirror} are of clips",
               [&] { run_train(images, scene.progress); });
}

}  // namespace
}  // namespace voxshard
