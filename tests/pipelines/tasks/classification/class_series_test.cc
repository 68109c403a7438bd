// A folder per class with DICOM series: read as volumes, named by ids and not by folders, and not taken for classes by
// info.
#include "pipelines/commands/run_info.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"
#include "tests/io/archive_files.h"
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
  /// The files of a series; each number is another study.
  static std::vector<PackedEntry> series(int number, const std::string& kernel = "SOFT") {
    std::vector<PackedEntry> files;
    for (int z = 0; z < 3; ++z) {
      DicomSpec spec{.study = "1.2.8." + std::to_string(number), .series = "1.2.9." + std::to_string(number)};
      spec.kernel = kernel, spec.series += kernel == "SOFT" ? "" : ".1";
      spec.instance = spec.series + "." + std::to_string(z);
      spec.rows = spec.columns = 4, spec.pixel_spacing = "2\\2", spec.position = {{0, 0, 3.0 * z}};
      files.push_back({kernel + std::to_string(z),
                       dicom_bytes(spec, std::vector<std::int16_t>(16, static_cast<std::int16_t>(100 * number)))});
    }
    return files;
  }
  void write_series(const std::string& folder, int number, const std::string& kernel = "SOFT") const {
    for (const PackedEntry& file : series(number, kernel)) write("data/" + folder + "/" + file.name, file.bytes);
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
    EXPECT_EQ(files_of_item(item, ItemKind::kVolume).files.size(), 3u);
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

TEST(ClassSeries, HavePartsOfTheSameNamesAsFiles) {
  const SeriesScene scene("class_series_names", "training/");
  scene.write_series("validation/normal/Doe_Jane", 9), scene.write_series("testing/nodule/Roe_Rick", 10);
  const ClassParts parts = find_class_parts(scene.data());
  ASSERT_TRUE(parts.train && parts.val && parts.test);
  EXPECT_EQ(read_class_sets({.data = scene.data(), .reading = SeriesScene::volumes()}).train.items.size(), 4u);
  std::filesystem::remove_all(scene.data() / "training");
  expect_error(ErrorKind::kInput, "has validation, but no part to train on",
               [&] { read_class_sets({.data = scene.data(), .reading = SeriesScene::volumes()}); });
}

TEST(ClassSeries, ASeriesInTwoClassesIsRefusedOnce) {
  const SeriesScene scene("class_series_twice");
  scene.write_series("normal/again", 1);
  const ClassDataset set = read_class_part(*find_class_parts(scene.data()).whole, SeriesScene::volumes());
  EXPECT_EQ(set.items.size(), 4u);
  ASSERT_EQ(set.failures.size(), 1u);
  EXPECT_EQ(set.failures[0].code, "E_DUPLICATE");
}

TEST(ClassSeries, OneReconstructionOfAScanIsTakenAndTheOthersAreSaid) {
  const SeriesScene scene("class_series_kernels");
  scene.write_series("normal/Doe_Jane", 3, "BONE");
  ClassReading reading = SeriesScene::volumes();
  const ClassDataset set = read_class_part(*find_class_parts(scene.data()).whole, reading);
  EXPECT_EQ(set.items.size(), 4u);
  EXPECT_TRUE(set.failures.empty());
  ASSERT_EQ(set.notes.size(), 2u);
  EXPECT_THAT(set.notes[0], HasSubstr("in place of slices 3.00 mm apart, kernel sharpness 75 of 100)"));
  EXPECT_THAT(set.notes[1], StartsWith("1 series is left out as another reconstruction of a scan"));
  reading.best_series = false;
  EXPECT_EQ(read_class_part(*find_class_parts(scene.data()).whole, reading).items.size(), 5u);
}

TEST(ClassSeries, ArchivesOfStudiesAreReadLikeTheirFolders) {
  const SeriesScene folders("class_series_folders"), archives("class_series_archives", "unpacked/");
  std::filesystem::remove_all(archives.data());
  int number = 0;
  for (const std::string of_class : {"nodule", "normal"})
    for (const std::string person : {"Doe_Jane.zip", "Roe_Rick.tar.gz"})
      archives.write("data/" + of_class + "/" + person,
                     archive_bytes(person.substr(person.find('.') + 1), SeriesScene::series(++number)));
  archives.write("data/normal/cut.zip", "PK\x03\x04 and no more");
  const ClassParts parts = find_class_parts(archives.data());
  ASSERT_TRUE(parts.whole);
  EXPECT_EQ(kind_of_part(*parts.whole, 0), ItemKind::kVolume);
  const ClassDataset set = read_class_part(*parts.whole, SeriesScene::volumes()),
                     expected = read_class_part(*find_class_parts(folders.data()).whole, SeriesScene::volumes());
  EXPECT_EQ(set.classes, expected.classes);
  ASSERT_EQ(set.items.size(), expected.items.size());
  for (std::size_t i = 0; i < set.items.size(); ++i) {
    EXPECT_EQ(set.items[i].name, expected.items[i].name);
    EXPECT_EQ(set.items[i].label, expected.items[i].label);
    EXPECT_EQ(set.items[i].size, expected.items[i].size);
    const HashedCase a = hashed_item(set.items[i], ItemKind::kVolume, "a");
    EXPECT_EQ(a.files.size(), 3u);
    EXPECT_EQ(a.known.size(), 3u) << "its files may be gone when they are compared";
    EXPECT_TRUE(archive_of_item(set.items[i]));
    EXPECT_FALSE(archive_of_item(expected.items[i]));
  }
  ASSERT_EQ(set.failures.size(), 1u);
  EXPECT_EQ(set.failures[0].code, "E_ARCHIVE");
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
