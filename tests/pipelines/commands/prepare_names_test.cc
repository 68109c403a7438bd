// Names in a data set that lead elsewhere cost `prepare` the case, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "pipelines/tasks/segmentation/prepare_dataset.h"
#include "pipelines/tasks/segmentation/prepared_dataset.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;

PrepareOptions options_of(const Scene& scene) {
  PrepareOptions options;
  options.dataset = scene.data(), options.work = scene.work(), options.threads = 2;
  return options;
}

void edit_dataset(const Scene& scene, const std::function<void(nlohmann::json&)>& change) {
  nlohmann::json json = read_json(scene.data() / "dataset.json");
  change(json);
  std::ofstream(scene.data() / "dataset.json") << json.dump();
}

TEST(Prepare, ACaseIsNeverWrittenOutsideOfTheWorkFolder) {
  Scene scene("prepare_names");
  scene.write_dataset(2);
  const std::string outside = scene.path("outside").string();
  edit_dataset(scene, [&](nlohmann::json& json) {
    for (const std::string& id : {std::string("fine"), std::string("../../escaped"), outside, std::string("a/b")})
      json["dataset"][id] = {{"images", nlohmann::json::array({scene.image(0).string()})},
                             {"label", scene.label(0).string()}};
  });
  const PrepareReport report = prepare_dataset(options_of(scene), scene.progress);
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
  prepare_dataset(options_of(scene), scene.progress);
  nlohmann::json json = read_json(scene.work() / "dataset.json");
  json["cases"][0]["case"] = "../../data/x";
  std::ofstream(scene.work() / "dataset.json") << json.dump();
  try {
    read_prepared(scene.work());
    ADD_FAILURE() << "a path was taken for a name";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kInput);
    EXPECT_THAT(e.what(), HasSubstr("did not come to its end")) << "its list of cases is not what `prepare` wrote";
  }
  EXPECT_THROW(prepared_image(scene.work(), "../../data/x"), Error);
}

}  // namespace
}  // namespace voxshard
