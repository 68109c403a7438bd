// COCO's numbers of the cases that coco_oracle.py made and scored.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "libcore/metrics/average_precision.h"

namespace voxshard {
namespace {

CocoBox box_of(const nlohmann::json& row) { return {row[2], row[3], row[4], row[5]}; }

TEST(AveragePrecision, EqualsTheIndependentScriptOnStoredCases) {
  std::ifstream in(VOXSHARD_SOURCE_DIR "/tests/metrics/coco_cases.json");
  const auto cases = nlohmann::json::parse(in);
  ASSERT_EQ(cases.size(), 5u);
  for (const auto& c : cases) {
    std::vector<TrueBox> truths;
    for (const auto& row : c["truths"])
      truths.push_back({.image = row[0],
                        .category = row[1],
                        .box = box_of(row),
                        .area = row[6],
                        .crowd = row[7] == 1,
                        .ignore = row[8] == 1});
    std::vector<ScoredBox> detections;
    for (const auto& row : c["detections"])
      detections.push_back({.image = row[0], .category = row[1], .box = box_of(row), .score = row[6]});
    const CocoSummary s =
        average_precision(truths, detections, {.images = c["images"], .categories = c["categories"]}).summary();
    for (std::size_t i = 0; i < kCocoNumbers; ++i)
      EXPECT_NEAR(s[i], c["numbers"][i].get<double>(), 1e-6) << c["name"] << ": " << coco_names()[i];
  }
}

}  // namespace
}  // namespace voxshard
