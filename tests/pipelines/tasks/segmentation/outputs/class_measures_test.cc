// Volume, mean, deviation and diameter of classes against numbers by hand and against all pairs of corners.
#include "pipelines/tasks/segmentation/outputs/class_measures.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "io/files/config_file.h"
#include "pipelines/tasks/segmentation/outputs/measures_file.h"
#include "pipelines/tasks/segmentation/outputs/written_outputs.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

Volume volume(DType type, const std::array<std::int64_t, 3>& size, const std::array<double, 3>& spacing) {
  Geometry geometry{.size = size, .spacing = spacing};
  return {geometry, Tensor(type, geometry.shape())};
}

TEST(ClassMeasuresTest, AreThoseByHand) {
  Volume labels = volume(DType::kI32, {4, 3, 2}, {2, 3, 5}), image = volume(DType::kF32, {4, 3, 2}, {2, 3, 5});
  const std::int32_t classes[] = {0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  std::copy(std::begin(classes), std::end(classes), labels.voxels.as<std::int32_t>());
  auto* v = image.voxels.as<float>();
  v[1] = 10, v[2] = 20, v[5] = 60, v[23] = -7, v[0] = 1e6F;
  const auto measures = measure_classes(labels, image, {"background", "a", "b", "c"});
  EXPECT_EQ(measures[1].voxels, 3);
  EXPECT_DOUBLE_EQ(measures[1].volume_ml, 0.09);
  EXPECT_DOUBLE_EQ(*measures[1].mean, 30);
  EXPECT_DOUBLE_EQ(*measures[1].deviation, std::sqrt((400.0 + 100 + 900) / 3));
  EXPECT_DOUBLE_EQ(*measures[1].diameter_mm, std::hypot(4, 6)) << "from corner (1, 2) to corner (3, 0)";
  EXPECT_DOUBLE_EQ(*measures[2].diameter_mm, std::hypot(2, 3)) << "of a single pixel its diagonal";
  EXPECT_DOUBLE_EQ(*measures[2].mean, -7);
  EXPECT_EQ(measures[3].voxels, 0);
  EXPECT_FALSE(measures[3].mean || measures[3].deviation || measures[3].diameter_mm);
}

TEST(ClassMeasuresTest, TheDiameterIsTheLargestOfAllPairsOfCorners) {
  std::mt19937 random(3);
  for (int turn = 0; turn < 1000; ++turn) {
    const std::int64_t rows = 1 + static_cast<std::int64_t>(random() % 9), columns = 12;
    std::vector<RowSpan> spans;
    for (std::int64_t y = 0; y < rows; ++y) {
      const auto a = static_cast<std::int64_t>(random() % columns), b = static_cast<std::int64_t>(random() % columns);
      if (random() % 4 != 0) spans.push_back({.row = y, .first = std::min(a, b), .last = std::max(a, b)});
    }
    std::vector<std::array<double, 2>> corners;
    for (const RowSpan& span : spans)
      for (const std::int64_t y : {span.row, span.row + 1})
        for (const std::int64_t x : {span.first, span.last + 1})
          corners.push_back({0.7 * static_cast<double>(x), 1.1 * static_cast<double>(y)});
    double largest = 0;
    for (const auto& a : corners)
      for (const auto& b : corners) largest = std::max(largest, std::hypot(a[0] - b[0], a[1] - b[1]));
    ASSERT_NEAR(diameter_mm(spans, 0.7, 1.1), largest, 1e-9) << "turn " << turn;
  }
}

TEST(ClassMeasuresTest, FilesOfCasesAreJoinedInTheirOrder) {
  const ScratchFolder dir("measures");
  const std::vector<std::string> classes = {"background", "liver, left", "b"};
  const std::vector<ClassMeasures> some = {
      {}, {.voxels = 3, .volume_ml = 0.5, .mean = 10.25, .deviation = 0, .diameter_mm = 4}, {}};
  for (const char* id : {"x", "a"})
    write_case_measures(dir.path() / (std::string(id) + kMeasuresEnding), {std::string(id), classes, some, "HU", {}});
  join_measures(dir.path(), {"x", "gone", "a"});
  EXPECT_EQ(read_bytes(dir.path() / kMeasuresCsv),
            "case,class,label,voxels,ml,mean,deviation,diameter_mm,unit\n"
            "x,\"liver, left\",1,3,0.5,10.25,0,4,HU\nx,b,2,0,0,,,,HU\n"
            "a,\"liver, left\",1,3,0.5,10.25,0,4,HU\na,b,2,0,0,,,,HU\n");
  const nlohmann::json all = read_json(dir.path() / kMeasuresJson);
  ASSERT_EQ(all.at("cases").size(), 2u);
  EXPECT_EQ(all["cases"][0]["case"], "x");
  EXPECT_EQ(all["cases"][1]["classes"][0]["diameter_mm"], 4);
  EXPECT_TRUE(all["cases"][1]["classes"][1]["mean"].is_null());
  EXPECT_EQ(all.at("note"), "not for diagnostic use");
  remove_measures(dir.path());
  EXPECT_FALSE(std::filesystem::exists(dir.path() / kMeasuresCsv));
}

TEST(ClassMeasuresTest, NamesThatAreNotUtf8CostNothing) {
  const ScratchFolder dir("measures_latin");
  const std::string id = "case_1";  // a case of another name is refused as its label map is named
  const std::vector<std::string> classes = {"background", "dr\xfcse"};
  const std::vector<ClassMeasures> none(2);
  write_case_measures(dir.path() / (id + kMeasuresEnding), {id, classes, none, "", {}});
  join_measures(dir.path(), {id});
  const nlohmann::json all = read_json(dir.path() / kMeasuresJson);
  ASSERT_EQ(all.at("cases").size(), 1u);
  EXPECT_EQ(all["cases"][0]["classes"][0]["class"], "dr\xef\xbf\xbdse");
}

TEST(WrittenOutputsTest, AreWordsWithCommas) {
  EXPECT_FALSE(written_outputs("").any());
  const WrittenOutputs two = written_outputs("measures,rt-struct");
  EXPECT_TRUE(two.measures && two.structures && !two.segmentation && !two.report);
  EXPECT_TRUE(written_outputs("sr").segmentation) << "which the report refers to";
  for (const char* bad : {"dicom", "dicom-seg,", "sr,dicom_seg"})
    expect_error(ErrorKind::kUsage, "expected some of dicom-seg,measures,sr,rt-struct", [&] { written_outputs(bad); });
}

}  // namespace
}  // namespace voxshard
