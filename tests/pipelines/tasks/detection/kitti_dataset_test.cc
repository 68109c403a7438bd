// KITTI folders as the commands meet them: found where KITTI is unpacked, checked against the images, split by lists,
// scored.
#include "io/boxes/kitti.h"
#include "libcore/metrics/average_precision.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"
#include "pipelines/tasks/detection/dataset/detection_info.h"
#include "pipelines/tasks/detection/dataset/find_input_images.h"
#include "tests/pipelines/tasks/detection/detection_scene.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// KITTI/training with images of 64 x 48.
struct KittiScene : DetectionScene {
  explicit KittiScene(const std::string& name) : DetectionScene("kitti_" + name) {}
  void add(const std::string& name, const std::string& labels, bool image = true) const {
    write_text("kitti/training/label_2/" + name + ".txt", labels);
    std::filesystem::create_directories(path("kitti/training/image_2"));
    if (image) write_rgb(path("kitti/training/image_2/" + name + ".png"), Tensor(DType::kU8, {48, 64, 3}));
  }
  static std::string object(const std::string& type, const std::string& edges) {
    return type + " 0 0 0 " + edges + " 1 1 1 0 0 9 0\n";
  }
};

TEST(KittiDataset, IsFoundWhereItIsUnpackedAndCheckedAgainstItsImages) {
  KittiScene scene("found");
  scene.add("000000", scene.object("Car", "-4 0 6 10") + scene.object("DontCare", "30 30 90 90"));
  scene.add("000001", scene.object("Van", "70 0 80 9"));
  scene.add("000002", scene.object("Car", "1 1 9 9"), false);
  for (const char* place : {"kitti", "kitti/training"}) {
    EXPECT_THAT(annotations_in(scene.path(place)), ElementsAre(scene.path("kitti/training")));
    const DetectionDataset set = read_detection_dataset(scene.path(place));
    EXPECT_THAT(ids_of(set), ElementsAre(1, 2));
    EXPECT_EQ(set.images[0].width, 64);
    EXPECT_EQ(set.images[0].boxes[0].box, (CocoBox{0, 0, 6, 10}));
    EXPECT_EQ(set.images[0].boxes[1].box, (CocoBox{30, 30, 34, 18}));
    EXPECT_THAT(codes_of(set.notes), ElementsAre("W_CLIPPED", "W_CLIPPED", "W_CLIPPED", "E_BOX", "E_MISSING"));
    EXPECT_EQ(read_detection_dataset(scene.path(place), DetectionUse::kScoring).images.size(), 3u);
  }
  const DetectionSetInfo info = read_detection_info(scene.path("kitti"));
  EXPECT_EQ(info.crowds, 2) << "one region, of each of two classes";
  EXPECT_EQ(find_input_images(scene.path("kitti"), {}, kMostPixels).list.size(), 2u);
}

TEST(KittiDataset, IsSplitByItsListsElseByAShare) {
  KittiScene scene("split");
  for (const char* name : {"000000", "000001", "000002", "000003"}) scene.add(name, scene.object("Car", "1 1 9 9"));
  EXPECT_EQ(read_detection_sets({.data = scene.path("kitti"), .val_fraction = 0.25}).val.images.size(), 1u);
  scene.write_text("kitti/ImageSets/train.txt", "000000\n000003\n");
  scene.write_text("kitti/ImageSets/val.txt", "000002\n");
  const DetectionSets sets = read_detection_sets({.data = scene.path("kitti")});
  EXPECT_THAT(ids_of(sets.train), ElementsAre(1, 4));
  EXPECT_THAT(ids_of(sets.val), ElementsAre(3));
}

TEST(KittiDataset, DetectionsInARegionThatWasNotLabelledDoNotCount) {
  KittiScene scene("scores");
  scene.add("000000", scene.object("Car", "0 0 20 20") + scene.object("DontCare", "30 10 60 40") +
                          scene.object("Van", "0 30 9 39"));
  const DetectionDataset truth = read_detection_dataset(scene.path("kitti"), DetectionUse::kScoring);
  const auto ap50 = [&](const CocoBox& second) {
    const std::vector<ScoredBox> found = {{.box = {0, 0, 20, 20}, .score = 0.5}, {.box = second, .score = 0.9}};
    return average_precision(true_boxes(truth), found, {.images = 1, .categories = 2}).summary_of(0)[1];
  };
  EXPECT_NEAR(ap50({32, 12, 10, 10}), 1, 1e-6) << "a car where nobody looked";
  EXPECT_NEAR(ap50({2, 40, 5, 5}), 0.5, 1e-2) << "a car where there is none";
}

}  // namespace
}  // namespace voxshard
