// A folder per class with DICOM series: read as volumes, named by ids and not by folders, and not taken for classes by
// info.
#include "pipelines/commands/run_info.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"
#include "tests/io/dicom_files.h"
#include "tests/pipelines/tasks/classification/class_scene.h"

namespace voxshard {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Two series of three slices of 4 x 4 pixels in each of two classes, below folders that are named after people.
struct SeriesScene : ClassScene {
  explicit SeriesScene(const std::string& name, const std::string& part = "") : ClassScene(name) {
    int number = 0;
    for (const char* of_class : {"nodule", "normal"})
      for (const char* person : {"Doe_Jane", "Roe_Rick"}) write_series(part + of_class + "/" + person, ++number);
  }
  void write_series(const std::string& folder, int number) const {
    for (int z = 0; z < 3; ++z) {
      DicomSpec spec{.series = "1.2.9." + std::to_string(number)};
      spec.instance = spec.series + "." + std::to_string(z);
      spec.rows = spec.columns = 4, spec.pixel_spacing = "2\\2", spec.position = {{0, 0, 3.0 * z}};
      write("data/" + folder + "/IM" + std::to_string(z),
            dicom_bytes(spec, std::vector<std::int16_t>(16, static_cast<std::int16_t>(100 * number))));
    }
  }
  static ClassReading volumes() { return {.items = ItemKind::kVolume}; }
};

TEST(ClassSeries, AreItemsOfTheFolderTheyLieIn) {
  const SeriesScene scene("class_series");
  const ClassParts parts = find_class_parts(scene.data());
  ASSERT_TRUE(parts.whole);
  EXPECT_EQ(kind_of_part(*parts.whole, 0), ItemKind::kVolume);
  const ClassDataset set = read_class_part(*parts.whole, SeriesScene::volumes());
  EXPECT_EQ(set.classes, (std::vector<std::string>{"nodule", "normal"}));
  ASSERT_EQ(set.items.size(), 4u);
  EXPECT_TRUE(set.failures.empty());
  for (const ClassItem& item : set.items) {
    EXPECT_THAT(item.name, StartsWith("ct_")) << "no name of a person";
    EXPECT_EQ(item.size, (Dims{3, 4, 4}));
    const float hu = read_image(item.file).voxels.as<float>()[0];
    EXPECT_EQ(item.label, hu > 100 * 2 - 1024 ? 1 : 0) << "series 3 and 4 are normal";
    EXPECT_EQ(files_of_item(item, ItemKind::kVolume).size(), 3u);
  }
}

TEST(ClassSeries, HaveATrainingAndATestPart) {
  const SeriesScene scene("class_series_parts", "train/");
  scene.write_series("test/normal/Doe_Jane", 9);
  const ClassSets sets = read_class_sets({.data = scene.data(), .reading = SeriesScene::volumes()});
  EXPECT_EQ(sets.train.items.size(), 4u);
  ASSERT_EQ(sets.val.items.size(), 1u);
  EXPECT_EQ(sets.val.items[0].label, 1);
}

TEST(ClassSeries, ASeriesInTwoClassesIsRefusedOnce) {
  const SeriesScene scene("class_series_twice");
  scene.write_series("normal/again", 1);
  const ClassDataset set = read_class_part(*find_class_parts(scene.data()).whole, SeriesScene::volumes());
  EXPECT_EQ(set.items.size(), 4u);
  ASSERT_EQ(set.failures.size(), 1u);
  EXPECT_EQ(set.failures[0].code, "E_DUPLICATE");
}

TEST(ClassSeries, ALinkToNowhereHidesNoClass) {
  const SeriesScene scene("class_series_link");
  for (const char* name : {"a", "m", "nodule2", "o", "z"})
    std::filesystem::create_directory_symlink("/nowhere", scene.data() / name);
  const ClassDataset set = read_class_part(*find_class_parts(scene.data()).whole, SeriesScene::volumes());
  EXPECT_EQ(set.classes, (std::vector<std::string>{"nodule", "normal"}));
  EXPECT_EQ(set.items.size(), 4u);
}

TEST(ClassSeries, ATreeOfStudiesIsNoSetOfClassesForInfo) {
  const SeriesScene scene("class_series_info");
  InfoReport report = run_info({scene.data()}, {});
  EXPECT_TRUE(report.set("class_sets").json.empty());
  ASSERT_EQ(report.folders.json.size(), 1u);
  EXPECT_EQ(report.folders.json.at(0).at("files").size(), 4u);
}

}  // namespace
}  // namespace voxshard
