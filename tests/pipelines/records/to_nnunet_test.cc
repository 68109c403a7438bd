// Data sets and folders of volumes as nnU-Net stores them, and the provenance of volumes.
#include <gmock/gmock.h>

#include "pipelines/commands/run_convert.h"
#include "pipelines/records/to_nnunet.h"
#include "tests/expect_error.h"
#include "tests/io/structure_files.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Makes a Decathlon folder out of the scene's, whose images then have no channel suffix.
void make_decathlon(const Scene& scene, int cases) {
  nlohmann::json training = nlohmann::json::array();
  for (int i = 0; i < cases; ++i) {
    const std::string name = Scene::id(i) + ".nii.gz";
    fs::rename(scene.image(i), scene.data() / "imagesTr" / name);
    training.push_back({{"image", "./imagesTr/" + name}, {"label", "./labelsTr/" + name}});
  }
  fs::create_directories(scene.data() / "imagesTs");
  write_volume(scene.data() / "imagesTs" / "t.nii.gz", Scene::make_image(7), DiskType::kF32);
  scene.edit_dataset([&](nlohmann::json& json) {
    json = {{"name", "Organs"},
            {"modality", {{"0", "CT"}}},
            {"labels", {{"0", "background"}, {"1", "one"}, {"2", "two"}}},
            {"training", training},
            {"test", {"./imagesTs/t.nii.gz"}}};
  });
}

TaskReport convert(Scene& scene, const std::string& output, Provenance provenance = Provenance::kNone) {
  return run_convert({.input = scene.data(), .output = scene.path(output), .threads = 2, .provenance = provenance},
                     ConvertTo::kNnunet, scene.progress);
}

void expect_same_volume(const Volume& a, const Volume& b) {
  EXPECT_TRUE(same_geometry(a.geometry, b.geometry, 1e-6));
  EXPECT_TRUE(compare(a.voxels.view(), b.voxels.view()).bit_equal);
}

TEST(ToNnunet, TheDecathlonKeepsVoxelsPlacesClassesAndParts) {
  Scene scene("to_nnunet");
  scene.write_dataset(2);
  make_decathlon(scene, 2);
  const TaskReport report = convert(scene, "out");
  EXPECT_EQ(report.json.at("converted"), 3);
  const Dataset d = read_dataset(scene.path("out"));
  EXPECT_EQ(d.kind, "nnU-Net v2");
  EXPECT_EQ(d.name, "Organs");
  EXPECT_THAT(d.label_names, ElementsAre("background", "one", "two"));
  EXPECT_THAT(case_ids(d.training), ElementsAre("case_0", "case_1"));
  EXPECT_THAT(case_ids(d.test), ElementsAre("t"));
  EXPECT_EQ(d.training[1].images[0], scene.path("out") / "imagesTr/case_1_0000.nii.gz");
  expect_same_volume(read_image(d.training[1].images[0]), Scene::make_image(1));
  expect_same_volume(read_label(*d.training[1].label), Scene::make_label());
  EXPECT_EQ(read_volume_info(d.training[1].images[0]).scalar_type, "int16");
  EXPECT_EQ(read_volume_info(*d.training[1].label).scalar_type, "uint8");
}

TEST(ToNnunet, AnOldDataSetOfNnUNetBecomesANewOne) {
  Scene scene("to_nnunet_v1");
  scene.write_dataset(2);
  fs::create_directories(scene.data() / "imagesTs");
  write_volume(scene.data() / "imagesTs" / "t_0000.nii.gz", Scene::make_image(7), DiskType::kF32);
  scene.edit_dataset([&](nlohmann::json& json) {
    json = {{"name", "Task100_Organs"},
            {"modality", {{"0", "CT"}}},
            {"labels", {{"0", "background"}, {"1", "one"}, {"2", "two"}}},
            {"numTraining", 2},
            {"numTest", 1},
            {"training", nlohmann::json::array()},
            {"test", {"./imagesTs/t.nii.gz"}}};
    for (int i = 0; i < 2; ++i)  // v1 lists images without the number of the channel
      json["training"].push_back(
          {{"image", "./imagesTr/" + Scene::id(i) + ".nii.gz"}, {"label", "./labelsTr/" + Scene::id(i) + ".nii.gz"}});
  });
  const Dataset old = read_dataset(scene.data());
  ASSERT_EQ(old.kind, "nnU-Net v1");
  const TaskReport report = convert(scene, "out");
  EXPECT_EQ(report.json.at("converted"), 3);
  const nlohmann::json written = nlohmann::json::parse(Scene::bytes_of(scene.path("out/dataset.json")));
  EXPECT_EQ(written.at("channel_names"), nlohmann::json({{"0", "CT"}}));
  EXPECT_EQ(written.at("labels"), nlohmann::json({{"background", 0}, {"one", 1}, {"two", 2}}));
  EXPECT_EQ(written.at("numTraining"), 2);
  EXPECT_EQ(written.at("file_ending"), ".nii.gz");
  for (const char* key : {"modality", "training", "test", "numTest"}) EXPECT_FALSE(written.contains(key)) << key;
  const Dataset d = read_dataset(scene.path("out"));
  EXPECT_EQ(d.kind, "nnU-Net v2");
  EXPECT_EQ(d.name, "Task100_Organs");
  EXPECT_THAT(case_ids(d.training), ElementsAre("case_0", "case_1"));
  EXPECT_THAT(case_ids(d.test), ElementsAre("t"));
  for (std::size_t i = 0; i < 2; ++i) {
    expect_same_volume(read_image(d.training[i].images.at(0)), read_image(old.training[i].images.at(0)));
    expect_same_volume(read_label(*d.training[i].label), read_label(*old.training[i].label));
  }
  expect_same_volume(read_image(d.test[0].images.at(0)), Scene::make_image(7));
}

TEST(ToNnunet, TwiceGivesTheSameBytesAndReplacesAnUnfinishedFolder) {
  Scene scene("to_nnunet_twice");
  scene.write_dataset(2);
  convert(scene, "one", Provenance::kWithoutNames), convert(scene, "two", Provenance::kWithoutNames);
  for (const char* file : {"dataset.json", "imagesTr/case_1_0000.nii.gz", "imagesTr/case_1_0000.json",
                           "labelsTr/case_0.nii.gz", "labelsTr/case_0.json"})
    EXPECT_EQ(Scene::bytes_of(scene.path("one") / file), Scene::bytes_of(scene.path("two") / file)) << file;
  fs::remove(scene.path("one") / "dataset.json");
  convert(scene, "one", Provenance::kWithoutNames);
  EXPECT_EQ(Scene::bytes_of(scene.path("one/dataset.json")), Scene::bytes_of(scene.path("two/dataset.json")));
}

TEST(ToNnunet, ADamagedCaseCostsItsCase) {
  Scene scene("to_nnunet_damaged");
  scene.write_dataset(3);
  Scene::truncate(scene.image(1));
  const TaskReport report = convert(scene, "out");
  EXPECT_TRUE(report.partial);
  EXPECT_EQ(report.json.at("converted"), 2);
  EXPECT_THAT(case_ids(read_dataset(scene.path("out")).training), ElementsAre("case_0", "case_2"));
  EXPECT_FALSE(fs::exists(scene.path("out/labelsTr/case_1.nii.gz")));
  EXPECT_THAT(Scene::bytes_of(scene.path("out/quarantine.csv")), HasSubstr("case_1,E_READ"));
}

TEST(ToNnunet, AFolderOfVolumesBecomesTestImages) {
  Scene scene("to_nnunet_plain");
  fs::create_directories(scene.data());
  write_volume(scene.data() / "b.nii.gz", Scene::make_image(1), DiskType::kI16);
  write_volume(scene.data() / "a.nrrd", Scene::make_image(2), DiskType::kI16);
  convert(scene, "out");
  const Dataset d = read_dataset(scene.path("out"));
  EXPECT_TRUE(d.training.empty());
  EXPECT_THAT(case_ids(d.test), ElementsAre("a", "b"));
  EXPECT_THAT(d.channels, ElementsAre("CT"));
  expect_same_volume(read_image(d.test[0].images[0]), Scene::make_image(2));
}

TEST(ToNnunet, RegionsStayRegions) {
  Scene scene("to_nnunet_regions");
  scene.write_dataset(1);
  scene.edit_dataset([](nlohmann::json& json) {
    json["labels"] = {{"background", 0}, {"all", {1, 2}}, {"part", 2}};
    json["regions_class_order"] = {1, 2};
  });
  convert(scene, "out");
  const nlohmann::json json = read_json(scene.path("out/dataset.json"));
  EXPECT_EQ(json.at("labels"), nlohmann::json({{"background", 0}, {"all", {1, 2}}, {"part", {2}}}));
  EXPECT_EQ(json.at("regions_class_order"), nlohmann::json({1, 2}));
}

TEST(Provenance, TellsSourceGeometryAndRepairsWithoutNames) {
  Scene scene("Doe^Jane");
  fs::create_directories(scene.data());
  const fs::path source = scene.data() / "Doe^Jane.nii.gz";
  write_volume(source, Scene::make_image(1), DiskType::kI16);
  for (const Provenance kind : {Provenance::kWithoutNames, Provenance::kWithNames}) {
    run_convert({.input = source, .output = scene.path("ct.nii.gz"), .provenance = kind}, ConvertTo::kVolume,
                scene.progress);
    const std::string text = Scene::bytes_of(scene.path("ct.json"));
    const nlohmann::json json = nlohmann::json::parse(text);
    EXPECT_EQ(json.at("source").at("format"), "NIfTI");
    EXPECT_EQ(json.at("source").at("files"), 1);
    EXPECT_EQ(json.at("source").at("xxh128").get<std::string>().size(), 32u);
    EXPECT_EQ(json.at("repaired").at("resampled"), false);
    EXPECT_EQ(json.at("values").at("written_as"), "int16");
    if (kind == Provenance::kWithNames)
      EXPECT_EQ(json.at("source").at("path"), source.string());
    else
      EXPECT_THAT(text, Not(HasSubstr("Doe")));
  }
}

TEST(Provenance, IsWrittenOverNoOtherFileAndBesideNoLabelMapOfStructures) {
  Scene scene("provenance_over");
  fs::create_directories(scene.data());
  const fs::path source = scene.data() / "a.nii.gz";
  write_volume(source, Scene::make_image(1), DiskType::kI16);
  std::ofstream(scene.path("dataset.json")) << R"({"labels": {}})";
  const auto convert = [&](const fs::path& input, const std::string& output, ConvertTo to) {
    run_convert({.input = input, .output = scene.path(output), .provenance = Provenance::kWithoutNames}, to,
                scene.progress);
  };
  EXPECT_THROW(convert(source, "dataset.nii.gz", ConvertTo::kVolume), Error);
  EXPECT_EQ(Scene::bytes_of(scene.path("dataset.json")), R"({"labels": {}})");
  EXPECT_FALSE(fs::exists(scene.path("dataset.nii.gz")));
  for (int twice = 0; twice < 2; ++twice) EXPECT_NO_THROW(convert(source, "ct.nii.gz", ConvertTo::kVolume));
  expect_error(ErrorKind::kUsage, "{provenance} is for a volume",
               [&] { convert(scene.data(), "records", ConvertTo::kRecords); });
  std::ofstream(scene.path("rs.dcm"), std::ios::binary) << structure_set_bytes({.rois = {{}}});
  expect_error(ErrorKind::kUsage, "{provenance} is for a volume",
               [&] { convert(scene.path("rs.dcm"), "labels.nii.gz", ConvertTo::kVolume); });
}

TEST(Provenance, IsNotWrittenUnlessAskedFor) {
  Scene scene("provenance_none");
  fs::create_directories(scene.data());
  write_volume(scene.data() / "a.nii.gz", Scene::make_image(1), DiskType::kI16);
  run_convert({.input = scene.data() / "a.nii.gz", .output = scene.path("ct.nii.gz")}, ConvertTo::kVolume,
              scene.progress);
  EXPECT_FALSE(fs::exists(scene.path("ct.json")));
}

}  // namespace
}  // namespace voxshard
