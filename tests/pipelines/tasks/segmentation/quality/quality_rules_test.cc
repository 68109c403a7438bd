// Each rule of the flags gives its flag where it must, and none where it must not.
#include "pipelines/tasks/segmentation/quality/quality_rules.h"

#include <gmock/gmock.h>

#include <functional>

#include "tests/pipelines/tasks/segmentation/quality/quality_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty;

/// Returns the codes of a usual case after a change.
std::vector<std::string> codes_after(const std::function<void(QualityFacts&)>& change,
                                     const QualityRanges& ranges = usual_ranges()) {
  QualityFacts facts = usual_facts(1000);
  change(facts);
  std::vector<std::string> codes;
  for (const QualityFlag& flag : quality_flags(facts, ranges, kTwoOrgans)) codes.push_back(flag.code);
  return codes;
}

std::string text_after(const std::function<void(QualityFacts&)>& change) {
  QualityFacts facts = usual_facts(1000);
  change(facts);
  const auto flags = quality_flags(facts, usual_ranges(), kTwoOrgans);
  return flags.empty() ? "" : flags.front().what;
}

TEST(QualityRules, UsualCasesGetNoFlag) {
  const QualityRanges ranges = usual_ranges();
  for (std::uint64_t number = 1000; number < 1200; ++number)
    for (const QualityFlag& flag : quality_flags(usual_facts(number), ranges, kTwoOrgans))
      ADD_FAILURE() << number << ": " << flag.code << " " << flag.what;
}

TEST(QualityRules, AnImageThatShowsLessThanAnyTrainingImage) {
  const double least = usual_ranges().least_view_mm[2];
  EXPECT_THAT(codes_after([&](QualityFacts& f) { f.labels.view_mm[2] = 0.81 * least; }), IsEmpty());
  EXPECT_THAT(codes_after([&](QualityFacts& f) { f.labels.view_mm[2] = 0.79 * least; }), ElementsAre("W_VIEW"));
  EXPECT_THAT(codes_after([](QualityFacts& f) { f.labels.view_mm = {2000, 3000, 4000}; }), IsEmpty());
  EXPECT_THAT(text_after([](QualityFacts& f) { f.labels.view_mm[2] = 96; }),
              HasSubstr("the image shows 96 mm from foot to head; the least of the training cases: 3"));
}

TEST(QualityRules, AClassThatIsCutWhereNoTrainingCaseCutsIt) {
  const auto border = [](std::size_t label_class, std::size_t side, double mm2) {
    return codes_after([=](QualityFacts& f) { f.labels.classes[label_class].border_mm2[side] = mm2; });
  };
  EXPECT_THAT(border(1, 4, 150), IsEmpty()) << "the cord leaves training images at the foot";
  EXPECT_THAT(border(1, 4, 400), ElementsAre("W_VIEW"));
  EXPECT_THAT(border(1, 5, 100), ElementsAre("W_VIEW")) << "at the head it does not";
  EXPECT_THAT(border(1, 5, 20), IsEmpty()) << "a few voxels";
  EXPECT_THAT(border(2, 0, 5000), ElementsAre("W_VIEW"));
  EXPECT_EQ(text_after([](QualityFacts& f) { f.labels.classes[1].border_mm2[5] = 100; }),
            "cord (1) meets the border of the image on the side of the head, with 100 mm^2; the most of the training "
            "cases: 0 mm^2");
}

TEST(QualityRules, AClassThatAllTrainingCasesHave) {
  const auto without = [](QualityFacts& f) { f.labels.classes[1] = {.parts = 0}; };
  EXPECT_THAT(codes_after(without), ElementsAre("W_ABSENT"));
  EXPECT_EQ(text_after(without), "cord (1) is missing; all 20 training cases with annotations of it have it");
  std::vector<QualityFacts> cases = training_facts(20);
  cases[7].labels.classes[1] = {.parts = 0};
  EXPECT_THAT(codes_after(without, fit_ranges(cases, {0, 0.3, 30})), IsEmpty()) << "one training case lacks it too";
  cases[7].annotated = std::vector<int>{2};
  EXPECT_THAT(codes_after(without, fit_ranges(cases, {0, 0.3, 30})), ElementsAre("W_ABSENT"))
      << "where it was not annotated nobody knows";
}

TEST(QualityRules, AVolumeFarFromTheUsualOne) {
  const auto liver_ml = [](double ml) {
    return codes_after([=](QualityFacts& f) { f.labels.classes[2].volume_ml = ml; });
  };
  // The deviation is its floor, 0.2: six of them are a factor of 3.3.
  EXPECT_THAT(liver_ml(1500 * 3.0), IsEmpty());
  EXPECT_THAT(liver_ml(1500 / 3.0), IsEmpty());
  EXPECT_THAT(liver_ml(1500 * 4.0), ElementsAre("W_VOLUME"));
  EXPECT_THAT(liver_ml(1500 / 4.0), ElementsAre("W_VOLUME"));
  EXPECT_THAT(text_after([](QualityFacts& f) { f.labels.classes[1].volume_ml = 419; }),
              HasSubstr("cord (1) has 419.0 ml; usual in the training cases: 1"));
}

TEST(QualityRules, LittleOfAClassThatSomeTrainingCasesLackIsAsUsualAsNone) {
  std::vector<QualityFacts> cases = training_facts(20);
  cases[7].labels.classes[1] = {.parts = 0};
  const QualityRanges ranges = fit_ranges(cases, {0, 0.3, 30});
  const auto at_the_head = [](QualityFacts& f) { f.labels.classes[1].border_mm2[5] = 100; };
  const auto little = [](QualityFacts& f) { f.labels.classes[1].volume_ml /= 100; };
  const auto much = [](QualityFacts& f) { f.labels.classes[1].volume_ml *= 100; };
  EXPECT_THAT(codes_after(at_the_head), ElementsAre("W_VIEW"));
  EXPECT_THAT(codes_after(at_the_head, ranges), IsEmpty()) << "the view of the training case that lacks it ends before";
  EXPECT_THAT(codes_after(little), ElementsAre("W_VOLUME"));
  EXPECT_THAT(codes_after(little, ranges), IsEmpty());
  EXPECT_THAT(codes_after(much, ranges), ElementsAre("W_VOLUME"));
}

TEST(QualityRules, MorePartsThanTrainingCasesHave) {
  const auto parts = [](std::optional<std::int64_t> count) {
    return codes_after([=](QualityFacts& f) { f.labels.classes[2].parts = count; });
  };
  EXPECT_THAT(parts(2), IsEmpty());
  EXPECT_THAT(parts(3), ElementsAre("W_PARTS"));
  EXPECT_THAT(parts(std::nullopt), IsEmpty()) << "they were not counted";
  EXPECT_EQ(text_after([](QualityFacts& f) { f.labels.classes[2].parts = 9; }),
            "liver (2) lies in 9 parts of at least 30.00 ml; the most of the training cases: 1");
  std::vector<QualityFacts> scattered = training_facts(20);
  scattered[3].labels.classes[2].parts = 10;
  const QualityRanges ranges = fit_ranges(scattered, {0, 0.3, 30});
  EXPECT_THAT(codes_after([](QualityFacts& f) { f.labels.classes[2].parts = 16; }, ranges), IsEmpty());
  EXPECT_THAT(codes_after([](QualityFacts& f) { f.labels.classes[2].parts = 17; }, ranges), ElementsAre("W_PARTS"));
}

TEST(QualityRules, AClassAtAnotherPlaceAmongTheOthers) {
  const auto liver_at = [](std::array<double, 3> centre) {
    return [=](QualityFacts& f) {
      f.labels.classes[1].centre_mm = {20, 20, 85}, f.labels.classes[2].centre_mm = centre;
    };
  };
  EXPECT_THAT(codes_after(liver_at({95 + 20, 120 - 20, 75 + 20})), IsEmpty()) << "five floors of 5 mm are allowed";
  EXPECT_THAT(codes_after(liver_at({95, 120, 75 - 30})), ElementsAre("W_PLACE", "W_PLACE"))
      << "of two classes alone each is told";
  const auto mirrored = liver_at({20 - 75, 120, 75});
  EXPECT_THAT(codes_after(mirrored), ElementsAre("W_PLACE", "W_PLACE"));
  EXPECT_THAT(text_after(mirrored), HasSubstr(" mm to the left of its place among the other classes"));
  EXPECT_THAT(text_after(liver_at({95, 20 - 100, 75 - 40})), HasSubstr(" mm behind and ")) << "the cord, of the liver";
  EXPECT_THAT(codes_after([](QualityFacts& f) {
                for (ClassSeen& one : f.labels.classes)
                  for (double& mm : one.centre_mm) mm += 1000;
              }),
              IsEmpty())
      << "the world may begin elsewhere";
  QualityRanges before = usual_ranges();
  for (ClassRange& range : before.classes) range.place_mm.reset();
  EXPECT_THAT(codes_after(mirrored, before), IsEmpty()) << "a run of before";
}

TEST(QualityRules, IntensitiesFarFromThoseOfTraining) {
  const auto shifted = [](float by) {
    return codes_after([=](QualityFacts& f) {
      for (float& value : f.channels[0]) value += by;
    });
  };
  EXPECT_THAT(shifted(0.5F), IsEmpty());
  EXPECT_THAT(shifted(40), ElementsAre("W_HISTOGRAM"));
  EXPECT_THAT(shifted(-40), ElementsAre("W_HISTOGRAM"));
  EXPECT_THAT(codes_after([](QualityFacts& f) { f.channels[0].clear(); }), ElementsAre("W_HISTOGRAM"));
  EXPECT_THAT(text_after([](QualityFacts& f) { f.channels[0].clear(); }),
              HasSubstr("all intensities lie at the ends of their range"));
}

TEST(QualityRules, FewCasesJudgeNothing) {
  const auto broken = [](QualityFacts& f) {
    f.labels.view_mm = {1, 1, 1}, f.labels.classes[1] = {.parts = 0}, f.channels[0].clear();
  };
  EXPECT_THAT(codes_after(broken, usual_ranges(7)), IsEmpty());
  EXPECT_EQ(codes_after(broken, usual_ranges(8)).size(), 5u);
  std::vector<QualityFacts> cases = training_facts(20);
  for (std::size_t i = 0; i < 13; ++i) cases[i].labels.classes[2] = {.parts = 0};
  const QualityRanges rare = fit_ranges(cases, {0, 0.3, 30});
  EXPECT_THAT(
      codes_after([](QualityFacts& f) { f.labels.classes[2].volume_ml = 1e6, f.labels.classes[2].parts = 99; }, rare),
      IsEmpty())
      << "seven cases have a liver";
}

}  // namespace
}  // namespace voxshard
