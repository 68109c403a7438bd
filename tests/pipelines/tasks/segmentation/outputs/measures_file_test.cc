// The files of measures: of one case, and of all cases of a folder.
#include "pipelines/tasks/segmentation/outputs/measures_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

const std::vector<std::string> kOneOrgan = {"background", "liver"};

TEST(MeasuresFile, HoldsTheFlagsOfItsCase) {
  Scene scene("measures_flags");
  const std::vector<ClassMeasures> measures = {{}, {.voxels = 2, .volume_ml = 0.5, .mean = 40.0}};
  const std::vector<QualityFlag> flags = {{"W_VIEW", 0, "the image\nshows 9 mm"},
                                          {"W_VOLUME", 1, "liver (1) has 0.5 ml"}};
  const std::string id = "a";
  write_case_measures(scene.path("a.measures.json"), {id, kOneOrgan, measures, "HU", flags});
  const nlohmann::json one = read_json(scene.path("a.measures.json"));
  EXPECT_EQ(one.at("classes").size(), 1u);
  ASSERT_EQ(one.at("flags").size(), 2u);
  EXPECT_TRUE(one["flags"][0].at("class").is_null());
  EXPECT_EQ(one["flags"][0].at("what").get<std::string>().find('\n'), std::string::npos);
  EXPECT_EQ(one["flags"][1],
            (nlohmann::json{{"code", "W_VOLUME"}, {"class", "liver"}, {"what", "liver (1) has 0.5 ml"}}));
  join_measures(scene.path(""), {"a", "none"});
  const nlohmann::json all = read_json(scene.path(kMeasuresJson));
  ASSERT_EQ(all.at("cases").size(), 1u);
  EXPECT_EQ(all["cases"][0].at("flags"), one["flags"]);
  EXPECT_EQ(all["cases"][0].at("classes"), one["classes"]);
}

TEST(MeasuresFile, OfBeforeHasNoFlagsAndABrokenOneIsNamed) {
  Scene scene("measures_before");
  std::ofstream(scene.path("a.measures.json")) << R"({"case": "a", "unit": "", "classes": []})";
  join_measures(scene.path(""), {"a"});
  EXPECT_FALSE(read_json(scene.path(kMeasuresJson)).at("cases").at(0).contains("flags"));
  for (const char* flags : {"[3]", "{\"a\": 1}", "7", "[{\"code\": 1}]"}) {
    std::ofstream(scene.path("a.measures.json"))
        << R"({"case": "a", "unit": "", "classes": [], "flags": )" << flags << "}";
    EXPECT_THROW(join_measures(scene.path(""), {"a"}), Error) << flags;
  }
}

}  // namespace
}  // namespace voxshard
