// summary.json against stored numbers of nnU-Net's formulas in NumPy (nnunet_summary_oracle.py): classes, regions, the
// ignored label, and classes that are in neither map.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "pipelines/tasks/segmentation/scores/class_scores.h"

namespace voxshard {
namespace {

using nlohmann::json;

Volume label_map(std::int64_t (*label)(std::int64_t d, std::int64_t h, std::int64_t w, int number), int number) {
  Volume v{Geometry{.size = {8, 6, 4}}, Tensor(DType::kI32, {4, 6, 8})};
  auto* to = v.voxels.as<std::int32_t>();
  for (std::int64_t d = 0; d < 4; ++d)
    for (std::int64_t h = 0; h < 6; ++h)
      for (std::int64_t w = 0; w < 8; ++w) *to++ = static_cast<std::int32_t>(label(d, h, w, number));
  return v;
}

Volume reference_of(int number) {
  return label_map(
      [](std::int64_t d, std::int64_t h, std::int64_t w, int k) {
        const std::int64_t label = (d + 2 * (h / 2) + w / 3 + k) % 5;
        return k == 1 && label == 3 ? 0 : k == 2 && label == 2 ? 1 : label;
      },
      number);
}
Volume prediction_of(int number) {
  return label_map(
      [](std::int64_t d, std::int64_t h, std::int64_t w, int k) {
        const std::int64_t label = (d + 2 * ((h + 1) / 2) + (w + k) / 3 + k) % 4;
        return k == 1 && label == 3 ? std::int64_t{1} : label;
      },
      number);
}

/// Parses the text of a summary, whose NaN become null.
json parsed_summary(const ScoredLabels& labels) {
  std::vector<CaseScores> cases;
  for (int k = 0; k < 4; ++k) cases.push_back({"p", "r", score_classes(prediction_of(k), reference_of(k), labels, {})});
  const std::string text = summary_text(cases, summary_classes(labels.scored));
  return json::parse(std::regex_replace(text, std::regex("NaN"), "null"));
}

void expect_rows(const json& mine, const json& stored, const std::string& where) {
  ASSERT_EQ(mine.size(), stored.size()) << where;
  for (const auto& [key, value] : stored.items()) {
    ASSERT_TRUE(mine.contains(key)) << where << key;
    if (value.is_object())
      expect_rows(mine.at(key), value, where + key + " ");
    else if (value.is_null())
      EXPECT_TRUE(mine.at(key).is_null()) << where << key;
    else
      EXPECT_NEAR(mine.at(key).get<double>(), value.get<double>(), 1e-12) << where << key;
  }
}

void expect_stored(const std::string& variant, const ScoredLabels& labels) {
  const json all = read_json(VOXSHARD_SOURCE_DIR "/tests/pipelines/tasks/segmentation/nnunet_summary.json");
  const json& stored = all.at(variant);
  const json mine = parsed_summary(labels);
  expect_rows(mine.at("foreground_mean"), stored.at("foreground_mean"), variant + " foreground_mean ");
  expect_rows(mine.at("mean"), stored.at("mean"), variant + " mean ");
  for (std::size_t k = 0; k < 4; ++k)
    expect_rows(mine.at("metric_per_case").at(k).at("metrics"), stored.at("metric_per_case").at(k),
                variant + " case " + std::to_string(k) + " ");
}

TEST(NnunetSummary, ClassesEqualTheStoredNumbers) {
  expect_stored("classes", {.classes = 5, .scored = scored_classes({.classes = 5})});
  expect_stored("ignored", {.classes = 4, .ignored = 4, .scored = scored_classes({.classes = 4})});
}

TEST(NnunetSummary, AClassThatIsNowhereMakesTheForegroundMeanNanAsThere) {
  std::vector<ScoredClass> scored = scored_classes({.classes = 10});
  std::erase_if(scored, [](const ScoredClass& one) { return one.id > 3 && one.id < 9; });
  expect_stored("never", {.classes = 10, .scored = scored});
}

TEST(NnunetSummary, RegionsEqualTheStoredNumbersUnderTheSameKeys) {
  const std::vector<LabelRegion> regions = {{"whole", {1, 2, 3}}, {"core", {2, 3}}, {"enhancing", {3}}};
  const auto scored = scored_classes({.classes = 4, .regions = regions});
  expect_stored("regions", {.classes = 4, .scored = scored});
  expect_stored("regions_ignored", {.classes = 4, .ignored = 4, .scored = scored});
}

TEST(NnunetSummary, RegionsThatAreAskedForChangeNoMeanOverTheClasses) {
  const auto scored = scored_classes({.classes = 4, .asked = regions_from_text("core=2,3;third=3")});
  const json with = parsed_summary({.classes = 4, .scored = scored});
  const json without = parsed_summary({.classes = 4, .scored = scored_classes({.classes = 4})});
  EXPECT_EQ(with.at("foreground_mean"), without.at("foreground_mean"));
  EXPECT_EQ(with.at("mean").at("2"), without.at("mean").at("2"));
  EXPECT_EQ(with.at("mean").at("(3,)"), without.at("mean").at("3"));
  EXPECT_EQ(with.at("mean").size(), 5u);
}

}  // namespace
}  // namespace voxshard
