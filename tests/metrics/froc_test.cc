// FROC against stored cases of an independent script (froc_oracle.py), and cases that are counted by hand.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "libcore/metrics/froc.h"

namespace voxshard {
namespace {

TrueBox object(std::int64_t image, const CocoBox& box) { return {.image = image, .box = box, .area = box.area()}; }

constexpr CocoBox kHere = {10, 10, 40, 40}, kBeside = {20, 10, 40, 40}, kThere = {100, 100, 20, 20};

TEST(Froc, EqualsTheIndependentScriptOnStoredCases) {
  std::ifstream in(VOXSHARD_SOURCE_DIR "/tests/metrics/froc_cases.json");
  const auto cases = nlohmann::json::parse(in);
  ASSERT_EQ(cases.size(), 5u);
  const auto box_of = [](const nlohmann::json& row) { return CocoBox{row[2], row[3], row[4], row[5]}; };
  for (const auto& c : cases) {
    std::vector<TrueBox> truths;
    for (const auto& row : c["truths"])
      truths.push_back(
          {.image = row[0], .category = row[1], .box = box_of(row), .crowd = row[6] == 1, .ignore = row[7] == 1});
    std::vector<ScoredBox> detections;
    for (const auto& row : c["detections"])
      detections.push_back({.image = row[0], .category = row[1], .box = box_of(row), .score = row[6]});
    ASSERT_EQ(c["rules"].size(), 7u);
    for (const auto& stored : c["rules"]) {
      const Froc f = froc(truths, detections,
                          {.images = c["images"],
                           .categories = c["categories"],
                           .hit = find_froc_hit(stored["rule"][0]),
                           .matching = find_froc_matching(stored["rule"][1]),
                           .least_iou = stored["rule"][2]});
      const std::string name = c["name"].get<std::string>() + ": " + stored["rule"].dump();
      for (std::size_t i = 0; i < kFrocRates; ++i)
        EXPECT_NEAR(f.all.sensitivities()[i], stored["sensitivities"][i].get<double>(), 1e-9) << name << " " << i;
      EXPECT_NEAR(f.all.cpm(), stored["cpm"].get<double>(), 1e-9) << name;
      ASSERT_EQ(f.classes.size(), stored["classes"].size());
      for (std::size_t k = 0; k < f.classes.size(); ++k)
        EXPECT_NEAR(f.classes[k].cpm(), stored["classes"][k].get<double>(), 1e-9) << name << " class " << k;
    }
  }
}

TEST(Froc, FourImagesByHand) {
  // Scores 0.9 hit, 0.8 false, 0.7 hit, 0.6 false: (0, 1/3), (1/4, 1/3), (1/4, 2/3), (1/2, 2/3) over four images.
  const std::vector<TrueBox> truths = {object(0, kHere), object(1, kHere), object(2, kHere)};
  const std::vector<ScoredBox> found = {{.image = 0, .box = kHere, .score = 0.9},
                                        {.image = 3, .box = kThere, .score = 0.8},
                                        {.image = 1, .box = kBeside, .score = 0.7},
                                        {.image = 1, .box = kThere, .score = 0.6}};
  const Froc f = froc(truths, found, {.images = 4, .categories = 1});
  ASSERT_EQ(f.all.points.size(), 4u);
  EXPECT_EQ(f.all.objects, 3);
  EXPECT_DOUBLE_EQ(f.all.points[2].false_positives_per_image, 0.25);
  EXPECT_DOUBLE_EQ(f.all.points[2].sensitivity, 2.0 / 3);
  EXPECT_DOUBLE_EQ(f.all.sensitivity_at(0.125), 1.0 / 3);
  EXPECT_DOUBLE_EQ(f.all.sensitivity_at(0.25), 2.0 / 3) << "of points with equal rates the last one";
  EXPECT_DOUBLE_EQ(f.all.sensitivity_at(8), 2.0 / 3) << "beyond the last point it stays";
  EXPECT_DOUBLE_EQ(f.all.cpm(), (1.0 / 3 + 6 * 2.0 / 3) / 7);
}

TEST(Froc, EqualScoresComeTogetherInWhateverOrderTheyStand) {
  const std::vector<TrueBox> truths = {object(0, kHere)};
  std::vector<ScoredBox> found = {{.image = 0, .box = kHere, .score = 0.5}, {.image = 0, .box = kThere, .score = 0.5}};
  for (int order = 0; order < 2; ++order, std::swap(found[0], found[1])) {
    const Froc f = froc(truths, found, {.images = 1, .categories = 1});
    ASSERT_EQ(f.all.points.size(), 1u);
    EXPECT_DOUBLE_EQ(f.all.sensitivity_at(0.5), 0.5) << "between (0, 0) and (1, 1)";
    EXPECT_DOUBLE_EQ(f.all.sensitivity_at(1), 1);
  }
}

TEST(Froc, AFurtherHitIsFalseOrCountsNowhere) {
  const std::vector<TrueBox> truths = {object(0, kHere)};
  const std::vector<ScoredBox> found = {{.image = 0, .box = kHere, .score = 0.5},
                                        {.image = 0, .box = kBeside, .score = 0.4}};
  const auto rate = [&](const char* matching) {
    return froc(truths, found, {.images = 1, .categories = 1, .matching = find_froc_matching(matching)})
        .all.points.back()
        .false_positives_per_image;
  };
  EXPECT_EQ(rate("once"), 1);
  EXPECT_EQ(rate("any"), 0);
}

TEST(Froc, CrowdsAndBoxesToBeIgnoredNeitherHelpNorHarm) {
  TrueBox crowd = object(0, {0, 0, 200, 200}), ignored = object(0, kThere);
  crowd.crowd = true, ignored.ignore = true;
  const std::vector<ScoredBox> found = {{.image = 0, .box = kHere, .score = 0.9},
                                        {.image = 0, .box = kThere, .score = 0.8},
                                        {.image = 0, .box = kThere, .score = 0.7}};
  for (const FrocMatching& matching : froc_matchings()) {
    const Froc f = froc(std::vector{crowd, ignored, object(0, kHere)}, found,
                        {.images = 1, .categories = 1, .matching = &matching});
    EXPECT_EQ(f.all.objects, 1);
    ASSERT_EQ(f.all.points.size(), 1u);
    EXPECT_EQ(f.all.points[0].false_positives_per_image, 0);
    EXPECT_EQ(f.all.points[0].sensitivity, 1);
  }
}

TEST(Froc, TheCentreAndTheOverlapDecideByTheChosenRule) {
  // IoU 1/3 with the centre on the right edge; and a large box around the object, IoU 1/9, whose centre is inside.
  const std::vector<TrueBox> truths = {object(0, {0, 0, 20, 20}), object(1, {20, 20, 20, 20})};
  const std::vector<ScoredBox> found = {{.image = 0, .box = {10, 0, 20, 20}, .score = 0.9},
                                        {.image = 1, .box = {0, 0, 60, 60}, .score = 0.8}};
  const auto reached = [&](const char* hit, double iou) {
    return froc(truths, found, {.images = 2, .categories = 1, .hit = find_froc_hit(hit), .least_iou = iou})
        .all.sensitivity_at(8);
  };
  EXPECT_EQ(reached("iou", 0.1), 1);
  EXPECT_EQ(reached("iou", 0.2), 0.5);
  EXPECT_EQ(reached("iou", 0.5), 0);
  EXPECT_EQ(reached("centre", 0.5), 1) << "an edge belongs to the box";
  EXPECT_EQ(reached("both", 0.2), 0.5);
  EXPECT_EQ(reached("either", 0.5), 1);
}

TEST(Froc, ClassesWithoutObjectsHaveNoSensitivityButTheirFalsePositivesCountTogether) {
  const std::vector<TrueBox> truths = {object(0, kHere)};
  const std::vector<ScoredBox> found = {{.image = 0, .category = 1, .box = kHere, .score = 0.9},
                                        {.image = 0, .category = 0, .box = kHere, .score = 0.8}};
  const Froc f = froc(truths, found, {.images = 2, .categories = 2});
  EXPECT_EQ(f.classes[1].cpm(), -1);
  EXPECT_EQ(f.classes[0].cpm(), 1);
  EXPECT_EQ(f.mean_class_cpm(), 1);
  EXPECT_DOUBLE_EQ(f.all.sensitivity_at(0.25), 0) << "the false one has the higher score";
  EXPECT_DOUBLE_EQ(f.all.sensitivity_at(0.5), 1);
  EXPECT_EQ(froc({}, {}, {.images = 1, .categories = 1}).all.cpm(), -1);
  EXPECT_EQ(froc(truths, {}, {.images = 1, .categories = 1}).all.cpm(), 0);
}

}  // namespace
}  // namespace voxshard
