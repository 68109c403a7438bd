// Names in a data set that lead out of it: `prepare` leaves out the case, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "tests/expect_error.h"
#include "tests/pipelines/prepare_scene.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;

TEST(Prepare, ACaseIsNeverWrittenOutsideOfTheWorkFolder) {
  Scene scene("prepare_names");
  scene.write_dataset(2);
  const std::string outside = scene.path("outside").string();
  scene.edit_dataset([&](nlohmann::json& json) {
    for (const std::string& id : {std::string("fine"), std::string("../../escaped"), outside, std::string("a/b")})
      json["dataset"][id] = {{"images", nlohmann::json::array({scene.image(0).string()})},
                             {"label", scene.label(0).string()}};
  });
  const PrepareReport report = prepare_dataset(preparation(scene), scene.progress);
  EXPECT_EQ(report.prepared, 1);
  ASSERT_EQ(report.failures.size(), 3u);
  for (const CaseFailure& f : report.failures) EXPECT_EQ(f.code, "E_NAME") << f.id;
  EXPECT_THAT(Scene::bytes_of(scene.work() / "quarantine.csv"), HasSubstr("../../escaped,E_NAME"));
  std::set<std::string> top;
  for (const auto& entry : std::filesystem::directory_iterator(scene.path(""))) top.insert(entry.path().filename());
  EXPECT_EQ(top, (std::set<std::string>{"data", "work"}));
}

TEST(Prepare, AnAlteredWorkFolderNamesNoOtherFile) {
  Scene scene("prepare_altered");
  scene.write_dataset(1);
  prepare_dataset(preparation(scene), scene.progress);
  nlohmann::json json = read_json(scene.work() / "dataset.json");
  json["cases"][0]["case"] = "../../data/x";
  std::ofstream(scene.work() / "dataset.json") << json.dump();
  expect_error(ErrorKind::kInput, "did not come to its end", [&] { read_prepared(scene.work()); });
  EXPECT_THROW(prepared_image(scene.work(), "../../data/x"), Error);
}

TEST(Prepare, ImagesMayLieWhereverDatasetJsonSaysAndAreNeverWrittenOver) {
  Scene scene("prepare_elsewhere");
  scene.write_dataset(2);
  const auto elsewhere = scene.path("elsewhere");
  std::filesystem::create_directories(elsewhere);
  for (const auto& file : {scene.image(0), scene.label(0), scene.image(1), scene.label(1)})
    std::filesystem::copy_file(file, elsewhere / (file.parent_path().filename().string() + file.filename().string()));
  const auto name = [&](const std::string& folder, int i, const char* suffix) {
    return folder + Scene::id(i) + suffix + scene.ending;
  };
  scene.edit_dataset([&](nlohmann::json& json) {
    json["dataset"]["absolute"] = {
        {"images", nlohmann::json::array({name(elsewhere.string() + "/imagesTr", 0, "_0000")})},
        {"label", name(elsewhere.string() + "/labelsTr", 0, "")}};
    json["dataset"]["above"] = {{"images", nlohmann::json::array({name("../elsewhere/imagesTr", 1, "_0000")})},
                                {"label", name("../elsewhere/labelsTr", 1, "")}};
  });
  EXPECT_EQ(prepare_dataset(preparation(scene), scene.progress).prepared, 2);
  PrepareOptions inside = preparation(scene);
  inside.work = elsewhere / "work";
  try {
    prepare_dataset(inside, scene.progress);
    ADD_FAILURE() << "a work folder among the images";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kUsage);
  }
}

}  // namespace
}  // namespace voxshard
