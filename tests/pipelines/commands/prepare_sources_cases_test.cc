// `prepare` on plain folders and on trees of studies: what becomes a case, its id, and the classes that it has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/datasets/case_ids.h"
#include "io/volume/mapped_volume.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "tests/expect_error.h"
#include "tests/io/study_files.h"
#include "tests/pipelines/prepare_scene.h"
#include "tests/pipelines/prepared_files.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A scene whose images and label maps lie in two plain folders.
struct PlainScene : Scene {
  explicit PlainScene(const std::string& name, int cases = 3) : Scene(name) {
    for (int i = 0; i < cases; ++i) add(names[i], i);
  }
  void add(const std::string& name, int i) const {
    fs::create_directories(path("A")), fs::create_directories(path("B"));
    write_volume(path("A") / (name + ".nii.gz"), make_image(i), DiskType::kI16);
    write_volume(path("B") / (name + ".nii.gz"), make_label(), DiskType::kU8);
  }
  PrepareOptions options(bool keep_names = true) const {
    PrepareOptions o;
    o.work = work(), o.spacing = "keep";
    o.source.images = path("A"), o.source.labels = path("B"), o.source.keep_names = keep_names;
    return o;
  }
  const std::vector<std::string> names = {"Abel_Anna", "Berg_Bo", "Cerny_Cyril"};
};

TEST(PlainFolders, ImagesAndLabelsOfOneNameAreCasesWithTheClassesThatAreThere) {
  PlainScene scene("plain");
  const PrepareReport report = prepare_dataset(scene.options(), scene.progress);
  EXPECT_EQ(report.prepared, 3);
  const PreparedDataset d = read_prepared(scene.work());
  EXPECT_THAT(d.plan.class_names, ElementsAre("background", "class_1", "class_2"));
  ASSERT_EQ(d.cases.size(), 3u);
  EXPECT_EQ(d.cases[1].id, "Berg_Bo");
  EXPECT_EQ(d.cases[0].class_voxels, (std::vector<std::int64_t>{480, 320, 160}));
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("1 in 3, 2 in 3 of 3 cases")));
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("{keep-names} says so")));
  EXPECT_FALSE(fs::exists(scene.work() / kCaseNamesFile));
}

TEST(PlainFolders, TheirVoxelsAreThoseOfTheSameDataSetWithADatasetJson) {
  PlainScene plain("plain_same", 0);
  Scene nnunet("nnunet_same");
  nnunet.write_dataset(2);
  for (int i = 0; i < 2; ++i) plain.add(Scene::id(i), i);
  prepare_dataset(plain.options(), plain.progress);
  prepare_dataset(preparation(nnunet, "keep"), nnunet.progress);
  for (const char* file : {"images/case_0.nii", "labels/case_1.nii", "foreground/case_1.safetensors"})
    EXPECT_EQ(Scene::bytes_of(plain.work() / file), Scene::bytes_of(nnunet.work() / file)) << file;
}

TEST(PlainFolders, IdsAreNumbersUnlessNamesAreKept) {
  PlainScene scene("plain_ids");
  const PrepareReport report = prepare_dataset(scene.options(false), scene.progress);
  EXPECT_EQ(report.ids, "ordinals");
  std::vector<std::string> ids;
  for (const PreparedCase& item : read_prepared(scene.work()).cases) ids.push_back(item.id);
  EXPECT_THAT(ids, ElementsAre("case_0001", "case_0002", "case_0003"));
  EXPECT_THAT(Scene::bytes_of(scene.work() / kCaseNamesFile), HasSubstr("Abel_Anna.nii.gz"));
  for (const auto& file : fs::recursive_directory_iterator(scene.work())) {
    if (!file.is_regular_file() || file.path().filename() == kCaseNamesFile) continue;
    for (const std::string& name : scene.names)
      EXPECT_THAT(Scene::bytes_of(file.path()), Not(HasSubstr(name))) << file.path();
  }
}

TEST(PlainFolders, ASecretMakesTheSameIdsInEveryFolderAndAnyOrder) {
  PlainScene one("plain_salt"), two("plain_salt_two", 0);
  two.add(one.names[2], 0);
  for (PlainScene* scene : {&one, &two}) {
    std::ofstream(scene->path("salt")) << "a secret of the operator's";
    fs::permissions(scene->path("salt"), fs::perms(0644));
    PrepareOptions o = scene->options(false);
    o.source.id_salt = scene->path("salt");
    EXPECT_EQ(prepare_dataset(o, scene->progress).ids, "salted");
    EXPECT_THAT(scene->progress.lines, Contains(HasSubstr("W_SECRET")));
  }
  std::set<std::string> ids;
  for (const PreparedCase& item : read_prepared(one.work()).cases) ids.insert(item.id);
  EXPECT_TRUE(ids.contains(read_prepared(two.work()).cases.at(0).id));
}

TEST(PlainFolders, AMissingPartnerOrASecondFileCostsItsCase) {
  PlainScene scene("plain_missing");
  fs::remove(scene.path("B") / "Abel_Anna.nii.gz");
  fs::remove(scene.path("A") / "Berg_Bo.nii.gz");
  scene.add("Dahl_Dag", 1);
  write_volume(scene.path("A") / "Dahl_Dag.mha", Scene::make_image(1), DiskType::kI16);
  const PrepareReport report = prepare_dataset(scene.options(false), scene.progress);
  EXPECT_EQ(report.prepared, 1);
  std::multiset<std::string> codes;
  for (const CaseFailure& f : report.failures) {
    codes.insert(f.code);
    EXPECT_THAT(f.id, testing::StartsWith("case_00"));
    for (const char* name : {"Abel", "Berg", "Dahl"}) EXPECT_THAT(f.message, Not(HasSubstr(name)));
  }
  EXPECT_EQ(codes, (std::multiset<std::string>{"E_DUPLICATE", "E_MISSING", "E_MISSING"}));
}

TEST(PlainFolders, ADamagedFileIsToldByItsCaseAlone) {
  PlainScene scene("plain_damaged");
  Scene::truncate(scene.path("A") / "Abel_Anna.nii.gz");
  write_volume(scene.path("B") / "Berg_Bo.nii.gz", Scene::make_label({12, 10, 7}), DiskType::kU8);
  const PrepareReport report = prepare_dataset(scene.options(false), scene.progress);
  ASSERT_EQ(report.failures.size(), 2u);
  std::string all = Scene::bytes_of(scene.work() / "quarantine.csv") + Scene::bytes_of(scene.work() / "run.json");
  for (const std::string& line : scene.progress.lines) all += line + "\n";
  for (const CaseFailure& f : report.failures) all += f.message;
  EXPECT_THAT(all, HasSubstr("E_SHAPE"));
  for (const char* name : {"Abel", "Berg", "Cerny"}) EXPECT_THAT(all, Not(HasSubstr(name)));
}

TEST(PlainFolders, ChannelSuffixesAreTakenOffAndAClassMapNamesLabels) {
  PlainScene scene("plain_channels", 0);
  fs::create_directories(scene.path("A")), fs::create_directories(scene.path("B"));
  write_volume(scene.path("A") / "x_0000.nii.gz", Scene::make_image(0), DiskType::kI16);
  write_volume(scene.path("B") / "x.nii.gz", Scene::make_label(), DiskType::kU8);
  std::ofstream(scene.path("map.toml")) << "[[class]]\nname = \"liver\"\n[[class]]\nname = \"spleen\"\n";
  PrepareOptions o = scene.options();
  o.source.classes = scene.path("map.toml");
  EXPECT_EQ(prepare_dataset(o, scene.progress).prepared, 1);
  const PreparedDataset d = read_prepared(scene.work());
  EXPECT_EQ(d.cases[0].id, "x");
  EXPECT_THAT(d.plan.class_names, ElementsAre("background", "liver", "spleen"));
  write_volume(scene.path("A") / "x_0001.nii.gz", Scene::make_image(0), DiskType::kI16);
  expect_error(ErrorKind::kUsage, "{channels} names 0 channels, but the images have 2",
               [&] { prepare_dataset(o, scene.progress); });
  o.source.channels = "CT,PET", o.work = scene.path("two");
  EXPECT_EQ(prepare_dataset(o, scene.progress).prepared, 1);
  EXPECT_THAT(read_prepared(o.work).plan.channels, ElementsAre("CT", "PET"));
}

TEST(PlainFolders, NumbersThatLabelMapsHaveTooAreNoChannels) {
  PlainScene scene("plain_numbered", 0);
  for (int i = 1; i <= 3; ++i) scene.add("scan_000" + std::to_string(i), i);
  EXPECT_EQ(prepare_dataset(scene.options(), scene.progress).prepared, 3);
  const PreparedDataset d = read_prepared(scene.work());
  EXPECT_THAT(d.plan.channels, ElementsAre("CT"));
  EXPECT_EQ(d.cases[0].id, "scan_0001");
}

TEST(PlainFolders, OneFolderAloneAndTwoSourcesAreRefused) {
  PlainScene scene("plain_usage");
  PrepareOptions o = scene.options();
  o.source.labels.clear();
  expect_error(ErrorKind::kUsage, "go together", [&] { prepare_dataset(o, scene.progress); });
  o = scene.options(), o.dataset = scene.path("A");
  expect_error(ErrorKind::kUsage, "two data sets", [&] { prepare_dataset(o, scene.progress); });
  o = {}, o.work = scene.work();
  expect_error(ErrorKind::kUsage, "no data set is given", [&] { prepare_dataset(o, scene.progress); });
  o.dataset = scene.path("A");
  expect_error(ErrorKind::kInput, "{images} A {labels} B", [&] { prepare_dataset(o, scene.progress); });
  EXPECT_FALSE(fs::exists(scene.work()));
}

/// A tree of three studies: the second lacks the spleen, the third is cut.
struct TreeScene : Scene {
  explicit TreeScene(const std::string& name) : Scene(name) {
    for (int i = 0; i < 3; ++i) {
      const std::string uid = "1.2.840.55." + std::to_string(i);
      StudySeries ct{.study = uid, .series = uid + ".4", .frame = uid + ".9", .slices = 4 + i};
      ct.patient = patients[i];
      const fs::path folder = data() / ct.patient;
      write_series(folder / "ct", ct);
      std::vector<Block> organs = {{1, "Leber", 2, 6, 1, 3}};
      if (i != 1) organs.push_back({2, "Spleen", 0, 2, 0, 1});
      if (i == 0)
        write_segmentation(folder / "labels", ct, organs);
      else
        write_structure_set(folder / "labels", ct, organs);
    }
    const fs::path cut = data() / patients[2] / "ct" / "IM1";
    fs::resize_file(cut, fs::file_size(cut) - 20);
    std::ofstream(path("map.toml"))
        << "[[class]]\nname = \"liver\"\naliases = [\"Leber\"]\n[[class]]\nname = \"spleen\"\n";
  }
  PrepareOptions options(bool resume = false) const {
    PrepareOptions o;
    o.dataset = data(), o.work = work(), o.spacing = "keep", o.resume = resume, o.source.classes = path("map.toml");
    return o;
  }
  const std::vector<std::string> patients = {"MEIER^ANNA", "NOVAK^JAN", "OKAFOR^UCHE"};
};

TEST(PrepareTree, EveryImageWithLabelsIsACaseOnTheImagesOwnGrid) {
  TreeScene scene("tree");
  const PrepareReport report = prepare_dataset(scene.options(), scene.progress);
  EXPECT_EQ(report.prepared, 2);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].code, "E_READ");
  const PreparedDataset d = read_prepared(scene.work());
  EXPECT_THAT(d.plan.class_names, ElementsAre("background", "liver", "spleen"));
  std::map<std::int64_t, const PreparedCase*> by_slices;
  for (const PreparedCase& item : d.cases) by_slices[item.shape[0]] = &item;
  ASSERT_TRUE(by_slices.contains(4) && by_slices.contains(5));
  EXPECT_EQ(by_slices[4]->class_voxels, (std::vector<std::int64_t>{4 * 64 - 32 - 4, 32, 4}));
  EXPECT_EQ(by_slices[5]->class_voxels, (std::vector<std::int64_t>{5 * 64 - 32, 32, 0}));
  const Volume image = read_image(by_slices[4]->images.at(0)), labels = read_label(by_slices[4]->label);
  EXPECT_EQ(labels.voxels.as<std::int32_t>()[64 + 2 * 8 + 2], 1) << "voxel (2, 2, 1)";
  EXPECT_EQ(labels.voxels.as<std::int32_t>()[8 + 1], 2) << "voxel (1, 1, 0)";
  EXPECT_EQ(image.geometry.spacing, (std::array<double, 3>{1, 1, 2}));
}

TEST(PrepareTree, AClassThatWasNotContouredIsSaidAndKeptInTheRecord) {
  TreeScene scene("tree_annotated");
  const PrepareReport report = prepare_dataset(scene.options(), scene.progress);
  EXPECT_EQ(report.coverage.cases_with, (std::vector<int>{2, 1}));
  EXPECT_EQ(report.coverage.complete, 1);
  EXPECT_THAT(to_text(report.coverage), HasSubstr("spleen: in 1 of 2 cases"));
  int partial = 0;
  for (const PreparedCase& item : read_prepared(scene.work()).cases)
    if (item.annotated) {
      EXPECT_THAT(*item.annotated, ElementsAre(1));
      ++partial;
    }
  EXPECT_EQ(partial, 1);
  const nlohmann::json json = read_json(scene.work() / "dataset.json");
  const auto& records = json.at("cases");
  EXPECT_TRUE(std::ranges::any_of(records, [](const auto& r) {
    return r.contains("annotated") && r.at("annotated") == nlohmann::json({"liver"});
  }));
}

TEST(PrepareTree, NoPatientAndNoUidIsInAnyFileButTheOneOfItsOwner) {
  TreeScene scene("tree_names");
  prepare_dataset(scene.options(), scene.progress);
  std::string all;
  for (const auto& file : fs::recursive_directory_iterator(scene.work())) {
    all += file.path().lexically_relative(scene.work()).string() + "\n";
    if (file.is_regular_file() && file.path().filename() != kCaseNamesFile) all += Scene::bytes_of(file.path());
  }
  for (const std::string& line : scene.progress.lines) all += line + "\n";
  for (const char* planted : {"MEIER", "NOVAK", "OKAFOR", "1.2.840.55", "IM1", "#series"})
    EXPECT_THAT(all, Not(HasSubstr(planted)));
}

TEST(PrepareTree, ResumedItKeepsItsCasesAndTheirIds) {
  TreeScene scene("tree_resume");
  prepare_dataset(scene.options(), scene.progress);
  const std::string before = Scene::bytes_of(scene.work() / "dataset.json");
  StudySeries more{.study = "1.2.7", .series = "1.2.7.4", .frame = "1.2.7.9", .slices = 7};
  PrepareReport report = prepare_dataset(scene.options(true), scene.progress);
  EXPECT_EQ(report.skipped, 2);
  EXPECT_EQ(Scene::bytes_of(scene.work() / "dataset.json"), before);
  write_series(scene.data() / "AAA^FIRST/ct", more);
  write_structure_set(scene.data() / "AAA^FIRST/rs", more, {{1, "liver", 2, 6, 1, 3}, {2, "spleen", 0, 2, 0, 1}});
  report = prepare_dataset(scene.options(true), scene.progress);
  EXPECT_EQ(report.prepared + report.skipped, 3);
  EXPECT_THAT(Scene::bytes_of(scene.work() / kCaseNamesFile), HasSubstr("\"case_0004\""));
  std::ofstream(scene.path("map.toml"))
      << "[[class]]\nname = \"spleen\"\n[[class]]\nname = \"liver\"\naliases = [\"Leber\"]\n";
  report = prepare_dataset(scene.options(true), scene.progress);
  EXPECT_EQ(report.prepared, 3) << "another map gives other labels";
}

TEST(PrepareTree, RanksWriteTheFilesOfOneProcess) {
  TreeScene scene("tree_ranks");
  prepare_dataset(scene.options(), scene.progress);
  test::Mailbox mailbox(3);
  test::run_valid_ranks(mailbox, [&](Transport& transport) {
    RecordingProgress progress;
    PrepareOptions o = scene.options();
    o.work = scene.path("ranks");
    EXPECT_EQ(prepare_dataset(o, {progress, {.transport = &transport}}).coverage.complete, 1);
  });
  EXPECT_EQ(test::differing_file(scene.work(), scene.path("ranks")), "");
}

TEST(PrepareTree, WithoutAClassMapTheStructuresAreListed) {
  TreeScene scene("tree_classes");
  PrepareOptions o = scene.options();
  o.source.classes.clear();
  expect_error(ErrorKind::kUsage, "Leber (3 cases)", [&] { prepare_dataset(o, scene.progress); });
  EXPECT_FALSE(fs::exists(scene.work()));
}

}  // namespace
}  // namespace voxshard
