// What is usual of training cases: what the ranges are, and that they come back from the record of a run.
#include "pipelines/tasks/segmentation/quality/quality_ranges.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "libcore/base/error.h"
#include "pipelines/model_runs/run_preparation.h"
#include "tests/pipelines/tasks/segmentation/quality/quality_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre, testing::HasSubstr;

TEST(QualityRanges, AreThoseOfTheCases) {
  std::vector<QualityFacts> cases = training_facts(9);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto number = static_cast<double>(i);
    cases[i].labels.view_mm = {100 + number, 200 - number, 300};
    cases[i].labels.classes[1].volume_ml = std::exp(number / 2);
    cases[i].labels.classes[1].border_mm2[2] = number;
    cases[i].labels.classes[1].parts = static_cast<std::int64_t>(i % 3);
  }
  const QualityRanges ranges = fit_ranges(cases, {0, 0.3, 30});
  EXPECT_EQ(ranges.cases, 9);
  EXPECT_THAT(ranges.least_view_mm, ElementsAre(100, 192, 300));
  const ClassRange& cord = ranges.classes.at(1);
  EXPECT_EQ(cord.cases, 9);
  EXPECT_TRUE(cord.always);
  EXPECT_NEAR(cord.log_ml.median, 2, 1e-12);
  EXPECT_NEAR(cord.log_ml.deviation, 1.4826, 1e-12) << "0 to 4 in steps of a half lie 1 from 2 in the median";
  EXPECT_THAT(cord.border_mm2, ElementsAre(0, 0, 8, 0, 100, 0));
  EXPECT_EQ(cord.parts, 2);
  cases[4].labels.classes[1].parts.reset();
  EXPECT_FALSE(fit_ranges(cases, {0, 0.3, 30}).classes[1].parts) << "one case in which they were not counted";
}

TEST(QualityRanges, TheLeastPartIsAShareOfTheUsualVolume) {
  EXPECT_THAT(least_part_ml({{}, {10, 30, 20}, {}}), ElementsAre(0, 0.02 * 20, 0));
}

TEST(QualityRanges, PlacesAreToldByTheMedianOfTheClassesThatAllCasesHave) {
  const auto at = [](std::array<double, 3> centre) {
    return ClassSeen{.voxels = 9, .volume_ml = 2, .centre_mm = centre};
  };
  std::vector<QualityFacts> cases(9);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto number = static_cast<double>(i);
    cases[i].labels.classes = {{}, at({0, 0, 0}), at({10, 0, 0}), at({99, 1, 1}), at({12, 20 * number, number})};
  }
  QualityRanges ranges = fit_ranges(cases, {0, 0, 0, 0, 0});
  EXPECT_THAT(ranges.in_all_cases(), ElementsAre(1, 2, 3, 4));
  ASSERT_TRUE(ranges.classes.at(4).place_mm);
  const std::array<Usual, 3>& place = *ranges.classes[4].place_mm;
  EXPECT_EQ(place[0], (Usual{2, kPlaceFloorMm})) << "12 - median(0, 10, 99)";
  EXPECT_EQ(place[1].median, 80);
  EXPECT_NEAR(place[1].deviation, 1.4826 * 40, 1e-9);
  EXPECT_FALSE(class_place(cases[0].labels, 4, {4})) << "no others";
  cases[3].labels.classes[2] = {};
  ranges = fit_ranges(cases, {0, 0, 0, 0, 0});
  EXPECT_THAT(ranges.in_all_cases(), ElementsAre(1, 3, 4));
  EXPECT_EQ((*ranges.classes[4].place_mm)[0].median, 12 - 49.5) << "of two the mean";
  EXPECT_TRUE(ranges.classes[2].place_mm) << "eight cases have it";
  EXPECT_FALSE(class_place(cases[3].labels, 4, {1, 2})) << "one of the others is missing";
  EXPECT_FALSE(class_place(cases[3].labels, 2, {1, 3})) << "it is missing itself";
}

TEST(QualityRanges, ARunOfBeforeTellsNoPlaces) {
  nlohmann::json json = to_json(usual_ranges(12));
  for (nlohmann::json& one : json["classes"]) EXPECT_EQ(one.erase("place_mm"), 1u);
  const auto ranges = quality_ranges_of({{kUsualCases, json}}, 3, 1);
  ASSERT_TRUE(ranges);
  EXPECT_FALSE(ranges->classes.at(2).place_mm);
  EXPECT_EQ(ranges->classes[2].log_ml, usual_ranges(12).classes[2].log_ml);
}

TEST(QualityRanges, IntensitiesThatAreAllAlikeStillHaveADistance) {
  std::vector<QualityFacts> cases = training_facts(12);
  for (QualityFacts& facts : cases) facts.channels = cases.front().channels;
  const IntensityRange range = fit_ranges(cases, {0, 0.3, 30}).channels.at(0);
  EXPECT_GT(range.usual_distance, 0);
  EXPECT_GT(range.most_distance, range.usual_distance);
  for (QualityFacts& facts : cases) facts.channels[0].assign(kQuantiles, 3.0f);
  EXPECT_TRUE(fit_ranges(cases, {0, 0.3, 30}).channels.at(0).usual.empty()) << "one value: no distance is usual";
}

std::optional<QualityRanges> stored(const nlohmann::json& usual_cases) {
  return quality_ranges_of({{kUsualCases, usual_cases}}, 3, 1);
}

TEST(QualityRanges, ComeBackFromTheRecordOfARunToTheBit) {
  QualityRanges ranges = usual_ranges(12);
  ranges.least_view_mm[0] = 0.1 + 0.2;
  ranges.classes[2].parts.reset();
  EXPECT_EQ(stored(nlohmann::json::parse(to_json(ranges).dump())), ranges);
  EXPECT_EQ(stored(to_json(QualityRanges{.cases = 3})), QualityRanges{.cases = 3});
  EXPECT_FALSE(quality_ranges_of({{"class_names", kTwoOrgans}}, 3, 1)) << "a run of before";
  ranges.classes[1] = {.cases = 4};
  ranges.channels[0] = {};
  EXPECT_EQ(stored(to_json(ranges)), ranges) << "a rare class, and images of one value";
}

TEST(QualityRanges, ABrokenRecordIsRefused) {
  using J = nlohmann::json;
  const auto refused = [](const std::function<void(J&)>& break_it) {
    J json = to_json(usual_ranges(12));
    break_it(json);
    try {
      stored(json);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kCheckpoint);
      return std::string(e.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(refused([](J&) {}), "taken");
  EXPECT_THAT(refused([](J& j) { j = 3; }), HasSubstr("usual_cases are broken"));
  EXPECT_THAT(refused([](J& j) { j["cases"] = -1; }), HasSubstr("cases is no number of things"));
  EXPECT_THAT(refused([](J& j) { j["cases"] = 9.5; }), HasSubstr("cases is no number of things"));
  EXPECT_THAT(refused([](J& j) { j["cases"] = 1e300; }), HasSubstr("cases is no number of things"));
  EXPECT_THAT(refused([](J& j) { j["least_view_mm"] = {1, 2}; }), HasSubstr("no list of 3"));
  EXPECT_THAT(refused([](J& j) { j["classes"].erase(0); }), HasSubstr("other classes or channels"));
  EXPECT_THAT(refused([](J& j) { j["channels"].push_back(j["channels"][0]); }), HasSubstr("other classes or channels"));
  EXPECT_THAT(refused([](J& j) { j["classes"][0]["log_ml"] = "much"; }), HasSubstr("usual_cases are broken"));
  EXPECT_THAT(refused([](J& j) { j["classes"][0]["log_ml"] = 1e300; }), HasSubstr("no usable number"));
  EXPECT_THAT(refused([](J& j) { j["classes"][0].erase("border_mm2"); }), HasSubstr("border_mm2"));
  EXPECT_THAT(refused([](J& j) { j["classes"][0]["parts"] = -2; }), HasSubstr("parts is no number of things"));
  EXPECT_THAT(refused([](J& j) { j["classes"][0]["place_mm"] = 3; }), HasSubstr("usual_cases are broken"));
  EXPECT_THAT(refused([](J& j) { j["classes"][0]["place_mm"]["median"].erase(0); }),
              HasSubstr("place_mm is no list of 3"));
  EXPECT_THAT(refused([](J& j) { j["classes"][0]["place_mm"]["deviation"][1] = 1e300; }),
              HasSubstr("no usable number"));
  EXPECT_THAT(refused([](J& j) { j["channels"][0]["quantiles"].erase(0); }), HasSubstr("no list of 33"));
  EXPECT_THAT(refused([](J& j) { j["channels"][0]["usual_distance"] = 0; }), HasSubstr("is no distance"));
}

}  // namespace
}  // namespace voxshard
