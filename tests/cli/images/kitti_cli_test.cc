// A KITTI folder through info, train, predict and evaluate, like a COCO file.
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;

/// Writes the demo's images to FOLDER/kitti/training/{image_2,label_2}, category 1 as Car, 2 as Van, others as Cyclist.
std::string kitti_demo(const Folder& folder) {
  namespace fs = std::filesystem;
  EXPECT_EQ(run_voxshard("demo " + (folder / "demo") + " --task detection --cases 4 --test 1 --quiet").exit_code, 0);
  const fs::path root = folder / "kitti", part = root / "training";
  for (const char* name : {"image_2", "label_2"}) fs::create_directories(part / name);
  const auto coco = nlohmann::json::parse(file_text(folder / "demo/annotations/instances_train.json"));
  for (const auto& image : coco.at("images")) {
    const fs::path file = image.at("file_name").get<std::string>();
    fs::copy_file(fs::path(folder / "demo/train") / file, part / "image_2" / file);
    std::ofstream labels(part / "label_2" / (file.stem().string() + ".txt"));
    for (const auto& a : coco.at("annotations")) {
      if (a.at("image_id") != image.at("id")) continue;
      const auto box = a.at("bbox").get<std::vector<double>>();
      labels << (a.at("category_id") == 1   ? "Car"
                 : a.at("category_id") == 2 ? "Van"
                                            : "Cyclist")
             << " 0.00 0 -1.58 " << box[0] << ' ' << box[1] << ' ' << box[0] + box[2] << ' ' << box[1] + box[3]
             << " 1.65 1.67 3.64 -0.65 1.71 46.70 -1.59\n";
    }
    labels << "DontCare -1 -1 -10 1 1 9 9 -1 -1 -1 -1000 -1000 -1000 -10\n";
  }
  return root;
}

TEST(KittiCli, IsReadWhereverOtherDetectionSetsAre) {
  Folder folder("kitti");
  const std::string kitti = kitti_demo(folder), run = folder / "run", found = folder / "found.json";
  CommandResult r = run_voxshard("info " + kitti + " --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("detection_sets").at(0).at("images"), 4);
  EXPECT_EQ(r.json().at("detection_sets").at(0).at("classes").at(0).at("name"), "Car");
  r = run_voxshard(
      "train " + kitti + " -o " + run +
      " --model retinanet --backbone resnet18 --base-filters 4 --pyramid-filters 8 --partition 1x2x2x1 --crop 64x64 "
      "--steps 2 --val-fraction 0.25 --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  r = run_voxshard("predict " + run + " " + kitti + " -o " + found + " --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  r = run_voxshard("evaluate " + found + " " + kitti + " --json");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(r.json().contains("AP50"));
}

TEST(KittiCli, ABadLineIsNamedWithItsFile) {
  Folder folder("kitti_bad");
  const std::string kitti = kitti_demo(folder);
  std::ofstream(kitti + "/training/label_2/phantom_000.txt", std::ios::app) << "Car 0 0 0 5 5 nan 9 1 1 1 0 0 9 0\n";
  const CommandResult r = run_voxshard("info " + kitti);
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_THAT(r.out + r.err, HasSubstr("phantom_000.txt line"));
  EXPECT_THAT(r.out + r.err, HasSubstr("the right \"nan\"; expected a number"));
}

}  // namespace
}  // namespace voxshard
