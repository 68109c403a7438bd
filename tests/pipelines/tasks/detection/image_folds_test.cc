// Folds of images with boxes.
#include "pipelines/tasks/detection/dataset/image_folds.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "io/image/image_reader.h"
#include "tests/pipelines/fold_law.h"
#include "tests/pipelines/tasks/detection/images_scene.h"

namespace voxshard {
namespace {

/// Frames of videos, four each, and images cut out of others.
DetectionDataset frames_and_crops(int videos, int crops) {
  DetectionDataset set;
  const auto add = [&](const std::filesystem::path& file) {
    set.images.push_back({.file = file, .id = static_cast<std::int64_t>(set.images.size())});
  };
  for (int v = 0; v < videos; ++v)
    for (int frame = 0; frame < 4; ++frame) add(frame_path("data/film_" + std::to_string(v) + ".mp4", frame));
  for (int c = 0; c < crops; ++c)
    add("data/slide_0000000" + std::to_string(c / 2) + "_00" + std::to_string(c % 2) + ".png");
  return set;
}

std::string group_by_hand(const DetectionImage& image) {
  const std::string name = image.file.filename().string();
  return name.substr(0, name.starts_with("film") ? name.find(".mp4") : name.rfind('_'));
}

TEST(ImageFolds, FramesOfAVideoAndCropsOfAnImageStandOnOneSide) {
  std::multiset<std::int64_t> held;
  for (const char* fold : {"0", "1", "2", "3", "4"}) {
    const DetectionSets sets = split_by_fold(frames_and_crops(4, 4), fold);
    std::set<std::string> trained;
    for (const DetectionImage& image : sets.train.images) trained.insert(group_by_hand(image));
    for (const DetectionImage& image : sets.val.images) {
      EXPECT_FALSE(trained.contains(group_by_hand(image))) << image.file;
      held.insert(image.id);
    }
    EXPECT_EQ(sets.train.images.size() + sets.val.images.size(), 20u);
    EXPECT_EQ(sets.folds.size(), 5u);
    EXPECT_THAT(sets.said, testing::HasSubstr("of 20 pictures validate, those of each of the 6 groups in one fold"));
  }
  EXPECT_EQ(held.size(), 20u) << "each is held out once";
  EXPECT_EQ(std::set<std::int64_t>(held.begin(), held.end()).size(), 20u);
}

TEST(ImageFolds, OneVideoHasNoFolds) {
  expect_error(ErrorKind::kConfig, "all pictures are of one source",
               [] { split_by_fold(frames_and_crops(1, 0), "0"); });
  expect_error(ErrorKind::kConfig, "expected 0 to 1 or all", [] { split_by_fold(frames_and_crops(2, 0), "2"); });
}

TEST(ImageFolds, FramesThatAreStoredAsImagesStandOnOneSideToo) {
  DetectionDataset set;
  for (std::int64_t i = 0; i < 12; ++i)
    set.images.push_back({.file = "frames/" + std::to_string(i) + ".jpg",
                          .id = i,
                          .place = SequencePlace{"video " + std::to_string(i / 4), i % 4}});
  for (const char* fold : {"0", "1", "2"}) {
    const DetectionSets sets = split_by_fold(set, fold);
    ASSERT_EQ(sets.val.images.size(), 4u);
    for (const DetectionImage& image : sets.val.images)
      EXPECT_EQ(image.place->sequence, sets.val.images[0].place->sequence);
  }
}

TEST(ImageFolds, ImagesOfOneNameCannotBeToldApartWhenARunGoesOn) {
  DetectionDataset set;
  for (const char* file : {"cam0/0001.png", "cam1/0001.png", "cam0/0002.png"})
    set.images.push_back({.file = file, .id = std::ssize(set.images)});
  const KeptSplit kept = {.train = {"0002.png"}, .val = {"0001.png"}};
  expect_error(ErrorKind::kConfig, "cam0/0001.png and cam1/0001.png have one name", [&] { split_as_kept(set, kept); });
  expect_error(ErrorKind::kConfig, "have one name", [&] { split_by_fold(set, "0", {kept}); });
}

TEST(ImageFolds, ANamedFoldLeavesNoOtherChoiceOfWhatValidates) {
  const ImagesScene scene("image_folds_val");
  expect_error(ErrorKind::kUsage, "both say what validates",
               [&] { read_detection_sets({.data = scene.annotations(), .val = scene.annotations(), .fold = "0"}); });
}

TEST(ImageFolds, EachFoldPredictsWhatItHeldOut) {
  ImagesScene scene("image_folds_train");
  const auto options = [&](const std::string& fold) {
    TrainOptions o = scene.options("run" + fold);
    o.steps = 1, detection_options(o).held_out.fold = fold;
    return o;
  };
  expect_each_fold_predicts_its_own({.options = options, .references = scene.annotations(), .items = 7, .metric = "AP"},
                                    scene.progress);
}

}  // namespace
}  // namespace voxshard
