// Left and right of a joined class are told apart by the patient's x axis: whatever the axes of the array, the part of
// the body in view and the boxes that a label map is seen in.
#include "pipelines/tasks/segmentation/sides/side_split.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace voxshard {
namespace {

constexpr int kMiddleOrgan = 1, kRightOrgan = 2, kLeftOrgan = 3,
              kOtherOrgan = 4;  // classes of the data; of the model: 1, 2, 2, 3

/// A plane 2 mm to the left of the centre of the class kMiddleOrgan; without it, in the middle of the volume.
SideRule rule_by_middle() {
  return {.classes = 5,
          .pairs = {{.classes = {.left = kLeftOrgan, .right = kRightOrgan},
                     .marks = {{.of = kMiddleOrgan, .offset_mm = 2, .deviation_mm = 1, .usual_mm3 = 1000}, {.of = 0}},
                     .cases = 9}}};
}

/// Returns the class at a place of the patient, mm: two organs 40 mm to the sides of a middle at x = 100, and another
/// class behind them.
int organ_at(const std::array<double, 3>& mm) {
  const auto near = [&](double x, double y, double radius) { return std::hypot(mm[0] - x, mm[1] - y, mm[2]) < radius; };
  if (near(100, 0, 9)) return kMiddleOrgan;
  if (near(140, 3, 12)) return kLeftOrgan;
  if (near(60, 3, 12)) return kRightOrgan;
  return near(100, 25, 10) ? kOtherOrgan : 0;
}

/// Returns the label map of that patient on a grid whose middle lies at x = `middle_mm`.
Volume patient(const std::array<double, 9>& direction, double middle_mm, std::array<std::int64_t, 3> size) {
  Geometry g{.size = size, .spacing = {2, 2.5, 3}, .direction = direction};
  std::array<double, 3> centre{};
  for (std::size_t a = 0; a < 3; ++a) centre[a] = static_cast<double>(size[a] - 1) / 2;
  const std::array<double, 3> from_origin = g.world(centre);
  g.origin = {middle_mm - from_origin[0], 5 - from_origin[1], -from_origin[2]};
  Volume labels{g, Tensor(DType::kI32, g.shape())};
  std::int32_t* label = labels.voxels.as<std::int32_t>();
  for (std::int64_t d = 0; d < size[2]; ++d)
    for (std::int64_t h = 0; h < size[1]; ++h)
      for (std::int64_t w = 0; w < size[0]; ++w)
        *label++ = organ_at(g.world({static_cast<double>(w), static_cast<double>(h), static_cast<double>(d)}));
  return labels;
}

std::array<double, 9> turned_by(double degrees) {
  const double c = std::cos(degrees * std::numbers::pi / 180), s = std::sin(degrees * std::numbers::pi / 180);
  return {c, -s, 0, s, c, 0, 0, 0, 1};
}

Volume with_joined(Volume labels) {
  const JoinedClasses classes = rule_by_middle().joined();
  for (std::int64_t i = 0; i < labels.voxels.count(); ++i)
    labels.voxels.as<std::int32_t>()[i] = classes.of(labels.voxels.as<std::int32_t>()[i]);
  return labels;
}

std::int64_t count_of(const Volume& labels, int label) {
  return std::count(labels.voxels.as<std::int32_t>(), labels.voxels.as<std::int32_t>() + labels.voxels.count(), label);
}

void expect_split_as(const Volume& truth, const std::string& what) {
  const Volume split = with_joined(truth);
  split_sides(rule_by_middle(), split);
  EXPECT_TRUE(compare(split.voxels.view(), truth.voxels.view()).bit_equal) << what;
}

TEST(SideSplit, JoinedClassesTakeTheLowerNumberAndTheOthersMoveUp) {
  const JoinedClasses classes(7, {{.left = 5, .right = 2}, {.left = 3, .right = 4}});
  EXPECT_EQ(classes.classes(), 5);
  std::vector<int> of;
  for (int label = -1; label < 9; ++label) of.push_back(classes.of(label));
  EXPECT_THAT(of, testing::ElementsAre(-1, 0, 1, 2, 3, 3, 2, 4, 7, 8));
  EXPECT_EQ(classes.parts(2), (SidePair{5, 2}));
  EXPECT_EQ(classes.parts(4), (SidePair{6, 6}));
  EXPECT_THAT(classes.names({"b", "c", "eye_r", "lung_l", "lung_r", "eye_l", "jaw"}),
              testing::ElementsAre("b", "c", "eye_l + eye_r", "lung_l + lung_r", "jaw"));
  EXPECT_EQ(JoinedClasses().of(3), 3) << "nothing is joined";
}

TEST(SideSplit, FollowsThePatientWhateverTheAxesOfTheArray) {
  int orders[] = {0, 1, 2}, seen = 0;
  do
    for (int signs = 0; signs < 8; ++signs) {
      std::array<double, 9> direction{};
      for (int a = 0; a < 3; ++a) direction[3 * orders[a] + a] = (signs >> a & 1) != 0 ? -1 : 1;
      const Volume truth = patient(direction, 103, {64, 60, 56});
      ASSERT_GT(count_of(truth, kLeftOrgan), 100);
      ASSERT_GT(count_of(truth, kRightOrgan), 100);
      expect_split_as(truth, orientation_code(truth.geometry));
      ++seen;
    }
  while (std::next_permutation(std::begin(orders), std::end(orders)));
  EXPECT_EQ(seen, 48);
  for (const double degrees : {-40.0, 20.0, 40.0, 160.0})
    expect_split_as(patient(turned_by(degrees), 103, {80, 70, 40}), "turned by " + std::to_string(degrees));
}

TEST(SideSplit, SlabsOfAnyThicknessGiveTheBitsOfTheWhole) {
  const Volume truth = patient(turned_by(20), 100, {50, 30, 17});
  for (const std::int64_t planes : {1, 2, 5, 17}) {
    const Volume cut = with_joined(truth);
    SidesStep step(rule_by_middle(), cut.geometry);
    rewrite_slabs(LabelSlabs::of(cut.voxels, planes), {&step});
    EXPECT_TRUE(compare(cut.voxels.view(), truth.voxels.view()).bit_equal) << planes;
  }
}

TEST(SideSplit, OneSideInViewIsNotTakenForBoth) {
  for (const double middle_mm : {150.0, 55.0}) {  // the other side is cut off
    const Volume truth = patient(turned_by(0), middle_mm, {54, 40, 40});
    ASSERT_GT(count_of(truth, kMiddleOrgan), 100);
    EXPECT_EQ(count_of(truth, middle_mm > 100 ? kRightOrgan : kLeftOrgan), 0);
    expect_split_as(truth, std::to_string(middle_mm));
  }
}

TEST(SideSplit, WithoutItsMarksTheMiddleOfTheVolumeTells) {
  const auto without_middle = [](Volume labels, std::int64_t left_of_it) {
    for (std::int64_t i = 0; i < labels.voxels.count(); ++i) {
      std::int32_t& label = labels.voxels.as<std::int32_t>()[i];
      if (label == kMiddleOrgan && left_of_it-- <= 0) label = 0;
    }
    return labels;
  };
  const Volume whole = patient(turned_by(0), 103, {64, 40, 40});
  expect_split_as(without_middle(whole, 0), "no mark");
  expect_split_as(without_middle(whole, 3), "stray voxels are no mark");
  const Volume aside = without_middle(patient(turned_by(0), 150, {54, 40, 40}), 0), split = with_joined(aside);
  split_sides(rule_by_middle(), split);
  EXPECT_GT(count_of(split, kRightOrgan), 0) << "the middle of this volume goes through the left organ";
}

TEST(SideSplit, AnEmptyMapStaysEmptyAndWithoutARuleNothingChanges) {
  Volume empty = patient(turned_by(0), 1000, {20, 20, 20});
  split_sides(rule_by_middle(), empty);
  EXPECT_EQ(count_of(empty, 0), empty.voxels.count());
  const Volume labels = with_joined(patient(turned_by(0), 103, {64, 40, 40})), same = labels;
  split_sides({}, same);
  EXPECT_TRUE(compare(labels.voxels.view(), same.voxels.view()).bit_equal);
}

TEST(SideSplit, BoxesInAnyOrderGiveTheBitsOfTheWhole) {
  const Volume truth = patient(turned_by(20), 103, {64, 40, 30}), labels = with_joined(truth);
  Tensor bytes(DType::kU8, labels.voxels.shape());
  copy(labels.voxels.view(), bytes.view());
  std::vector<Box> boxes;
  for (const std::int64_t d : {17, 0})
    for (const std::int64_t w : {0, 23, 50})
      boxes.push_back({{d, 0, w}, {d == 0 ? 17 : 13, 40, w == 0 ? 23 : w == 23 ? 27 : 14}});
  SideSplit split(rule_by_middle(), labels.geometry), whole(rule_by_middle(), labels.geometry);
  whole.see(labels.voxels.view());
  for (const Box& box : boxes) split.see(bytes.view().sub(box));
  EXPECT_EQ(split.planes_mm(), whole.planes_mm());
  const Tensor written(DType::kI32, labels.voxels.shape());
  for (const Box& box : boxes) split.split(bytes.view().sub(box), written.view().sub(box));
  EXPECT_TRUE(compare(written.view(), truth.voxels.view()).bit_equal);
}

TEST(SideRule, ThePlaneIsTheMedianOfTheThreeSteadiestMarksThatAreThere) {
  const std::vector<SideMark> marks = {{.of = 1, .offset_mm = 1, .usual_mm3 = 100},
                                       {.of = 2, .offset_mm = -1, .usual_mm3 = 100},
                                       {.of = 3, .offset_mm = 0, .usual_mm3 = 100},
                                       {.of = 4, .offset_mm = 0, .usual_mm3 = 100},
                                       {.of = 0, .offset_mm = 7}};
  const auto at = [](double mm, double mm3 = 50) { return std::optional(ClassPlace{mm, mm3}); };
  FoundMarks found{.middle_mm = 10, .classes = {std::nullopt, at(0), at(5), at(80), at(1000)}};
  EXPECT_EQ(plane_mm(marks, found), 4) << "1, 4, 80";
  found.classes[2] = at(5, 9);  // less than a tenth of its usual volume
  EXPECT_EQ(plane_mm(marks, found), 80) << "1, 80, 1000";
  found.classes[3].reset(), found.classes[4].reset();
  EXPECT_EQ(plane_mm(marks, found), 1);
  found.classes[4] = at(3);
  EXPECT_EQ(plane_mm(marks, found), 2) << "half-way between two";
  std::vector<SideMark> unsteady = marks;
  unsteady[3].deviation_mm = 1.5;  // of class 4; class 1 has 0
  EXPECT_EQ(plane_mm(unsteady, found), 1) << "an unsteady mark is silent beside a steady one";
  found.classes.assign(5, std::nullopt);
  EXPECT_EQ(plane_mm(marks, found), 17) << "the middle of the volume";
}

}  // namespace
}  // namespace voxshard
