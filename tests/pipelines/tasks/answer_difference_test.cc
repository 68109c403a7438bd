// How answers of other instructions are compared: boxes by partners, probabilities by what rounding may move.
#include "pipelines/tasks/answer_difference.h"

#include <nlohmann/json.hpp>

#include "pipelines/tasks/classification/scores/class_predictions.h"
#include "pipelines/tasks/classification/scores/classes_difference.h"
#include "pipelines/tasks/detection/golden_image.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

using nlohmann::json;

json box(double x, std::int64_t category, double score) {
  return {{"image_id", 1}, {"category_id", category}, {"bbox", {x, 10, 20, 20}}, {"score", score}};
}

class AnswerDifferenceTest : public testing::Test {
 protected:
  AnswerDifference boxes(const json& a, const json& b) const {
    folder_.write("a.json", a.dump()), folder_.write("b.json", b.dump());
    return detections_difference(folder_ / "a.json", folder_ / "b.json");
  }
  AnswerDifference classes(const std::vector<double>& a, const std::vector<double>& b, DType precision) const {
    write_class_predictions(folder_ / "a.json", {.classes = {"x", "y"}, .rows = {{"1.png", a}}});
    write_class_predictions(folder_ / "b.json", {.classes = {"x", "y"}, .rows = {{"1.png", b}}});
    return classes_difference(folder_ / "a.json", folder_ / "b.json", precision);
  }
  const ScratchFolder folder_{"answers"};
};

TEST_F(AnswerDifferenceTest, ABoxHasAPartnerOfItsClassNearItWithNearlyItsScore) {
  const json one = json::array({box(0, 1, 0.9), box(100, 2, 0.5), box(200, 1, 0.1)});
  EXPECT_EQ(boxes(one, one).differing, 0);
  EXPECT_EQ(boxes(one, one).compared, 4) << "two of each list have half the best score";
  EXPECT_EQ(boxes(one, json::array({box(5, 1, 0.85), box(100, 2, 0.44)})).differing, 0) << "IoU 0.6; 0.44 < 0.45";
  EXPECT_EQ(boxes(one, json::array({box(12, 1, 0.9), box(100, 2, 0.5)})).differing, 2) << "IoU 0.25, both are alone";
  EXPECT_EQ(boxes(one, json::array({box(0, 2, 0.9), box(100, 2, 0.5)})).differing, 2) << "another class";
  EXPECT_EQ(boxes(one, json::array({box(0, 1, 0.7), box(100, 2, 0.5)})).differing, 2) << "another score";
  EXPECT_EQ(boxes(one, json::array()).differing, 2);
  EXPECT_FALSE(boxes(one, json::array()).within());
  EXPECT_TRUE(boxes(json::array(), json::array()).within());
  expect_error(ErrorKind::kInput, "no list of COCO results", [&] { boxes(one, {{"a", 1}}); });
}

TEST_F(AnswerDifferenceTest, ProbabilitiesMayMoveByRoundingAlone) {
  EXPECT_EQ(classes({0.25, 0.75}, {0.2505, 0.7495}, DType::kF32).differing, 0);
  EXPECT_EQ(classes({0.25, 0.75}, {0.26, 0.74}, DType::kF32).differing, 2);
  EXPECT_TRUE(classes({0.25, 0.75}, {0.26, 0.74}, DType::kBF16).within());
  EXPECT_FALSE(classes({0.25, 0.75}, {0.35, 0.65}, DType::kBF16).within());
  write_class_predictions(folder_ / "b.json", {.classes = {"x", "z"}, .rows = {{"1.png", {0.25, 0.75}}}});
  EXPECT_EQ(classes_difference(folder_ / "a.json", folder_ / "b.json", DType::kF32).differing, 2) << "other classes";
}

}  // namespace
}  // namespace voxshard
