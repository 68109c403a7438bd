// Which pairs a training set allows to be joined, the rule in the record of a run, and both on real head and neck CTs
// (VOXSHARD_TEST_DATA names the folder).
#include "pipelines/tasks/segmentation/sides/side_fit.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "io/datasets/dataset.h"
#include "libcore/base/error.h"
#include "libcore/base/rng.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "pipelines/tasks/segmentation/sides/side_split.h"

namespace voxshard {
namespace {

using testing::HasSubstr, testing::ElementsAre;

const std::vector<std::string> kOrgans = {"background", "spine", "kidney_r", "kidney_l", "stomach"};
const std::vector<SidePair> kKidneys = {{.left = 3, .right = 2}};

/// A case with the spine at `spine_mm`, a stomach anywhere, and kidneys of 20 mm whose inner borders lie `gap_mm` apart
/// around the spine.
CaseSides abdomen(std::uint64_t number, double spine_mm, double gap_mm = 60) {
  CaseSides item{.marks = {.middle_mm = 0, .classes = std::vector<std::optional<ClassPlace>>(5)},
                 .x_mm = std::vector<std::vector<float>>(5)};
  item.marks.classes[1] = ClassPlace{spine_mm, 900};
  item.marks.classes[2] = ClassPlace{spine_mm - gap_mm / 2 - 10, 500};
  item.marks.classes[3] = ClassPlace{spine_mm + gap_mm / 2 + 10, 500};
  item.marks.classes[4] = ClassPlace{rng_uniform({.seed = 3, .stream = 1}, number) * 100 - 50, 400};
  for (int i = 0; i <= 200; ++i) {
    item.x_mm[2].push_back(static_cast<float>(spine_mm - gap_mm / 2 - 20 + 0.1 * i));
    item.x_mm[3].push_back(static_cast<float>(spine_mm + gap_mm / 2 + 0.1 * i));
  }
  return item;
}

std::vector<CaseSides> abdomens(std::uint64_t count) {
  std::vector<CaseSides> cases;
  for (std::uint64_t i = 0; i < count; ++i)
    cases.push_back(abdomen(i, 80 * rng_uniform({.seed = 3, .stream = 0}, i) - 40));
  return cases;
}

std::string why_kept(const FittedSides& fitted) { return fitted.kept.empty() ? "joined" : fitted.kept.front().why; }

TEST(SideFit, ASteadyMarkIsChosenBeforeTheMiddleOfTheVolumeAndBeforeAnOrganOfAnyPlace) {
  const FittedSides fitted = fit_sides(abdomens(12), kKidneys, Sides::kAuto);
  ASSERT_EQ(fitted.rule.pairs.size(), 1u);
  const SidedPair& pair = fitted.rule.pairs.front();
  ASSERT_EQ(pair.marks.size(), 3u);
  EXPECT_EQ(pair.marks[0].of, 1);
  EXPECT_NEAR(pair.marks[0].offset_mm, 0, 1e-3);  // x is kept as f32
  EXPECT_EQ(pair.marks[0].usual_mm3, 900);
  EXPECT_EQ(pair.marks[1].of, 4);
  EXPECT_EQ(pair.marks[2].of, 0);
  EXPECT_GT(pair.marks[2].deviation_mm, 5);
  EXPECT_EQ(pair.cases, 12);
  EXPECT_EQ(fitted.rule.joined().classes(), 4);
  EXPECT_THAT(to_text(fitted, kOrgans),
              ElementsAre("sides: kidney_l and kidney_r are trained as one class, and told apart in predictions by a "
                          "plane across x (LPS) that is placed by the centre of spine; 100.0 % of their volume in 12 "
                          "training cases lies on its own side, each case judged by the others"));
}

TEST(SideFit, AutoJoinsOnlyWhereTheCasesAgree) {
  EXPECT_EQ(why_kept(fit_sides(abdomens(3), kKidneys, Sides::kAuto)), "joined");
  EXPECT_THAT(why_kept(fit_sides(abdomens(2), kKidneys, Sides::kAuto)), HasSubstr("only 2 training cases have both"));
  std::vector<CaseSides> turned = abdomens(12);
  std::swap(turned[5].x_mm[2], turned[5].x_mm[3]), std::swap(turned[5].marks.classes[2], turned[5].marks.classes[3]);
  EXPECT_THAT(why_kept(fit_sides(turned, kKidneys, Sides::kAuto)),
              HasSubstr("the other way round in 1 of the 12 training cases"));
  std::vector<CaseSides> overlapping;
  for (std::uint64_t i = 0; i < 12; ++i) overlapping.push_back(abdomen(i, 0, -4));
  EXPECT_THAT(why_kept(fit_sides(overlapping, kKidneys, Sides::kAuto)), HasSubstr("no plane tells them apart: "));
  std::vector<CaseSides> none = abdomens(4);
  for (CaseSides& item : none) item.x_mm[3].clear(), item.marks.classes[3].reset();
  EXPECT_EQ(why_kept(fit_sides(none, kKidneys, Sides::kAuto)), "no training case has both");
}

TEST(SideFit, AnUnsteadyMarkTellsNothingWellEnough) {
  std::vector<CaseSides> cases = abdomens(12);
  for (CaseSides& item : cases) item.marks.classes[1].reset();  // the stomach and the middle of the volume are left
  EXPECT_THAT(why_kept(fit_sides(cases, kKidneys, Sides::kAuto)), HasSubstr("of their volume lies on its own side"));
  for (CaseSides& item : cases) item.marks.classes[4].reset();
  const FittedSides forced = fit_sides(cases, kKidneys, Sides::kJoin);
  ASSERT_EQ(forced.rule.pairs.size(), 1u);
  EXPECT_THAT(to_text(forced, kOrgans).front(), HasSubstr("placed by the middle of the volume"));
}

TEST(SideFit, JoinTakesAnyPairButOneThatLiesTheOtherWayRound) {
  EXPECT_EQ(why_kept(fit_sides(abdomens(1), kKidneys, Sides::kJoin)), "joined");
  EXPECT_FALSE(fit_sides(abdomens(1), kKidneys, Sides::kJoin).rule.pairs.front().own_side_share);
  std::vector<CaseSides> turned = abdomens(3);
  for (std::size_t i = 0; i < 2; ++i)
    std::swap(turned[i].x_mm[2], turned[i].x_mm[3]), std::swap(turned[i].marks.classes[2], turned[i].marks.classes[3]);
  EXPECT_THAT(why_kept(fit_sides(turned, kKidneys, Sides::kJoin)), HasSubstr("in 2 of the 3"));
  EXPECT_TRUE(fit_sides(abdomens(3), kKidneys, Sides::kKeep).rule.empty());
}

TEST(SideFit, PlacesOfACaseAreThoseOfItsVoxelsInThePatient) {
  const Geometry g{.size = {10, 8, 6},
                   .origin = {50, 0, 0},
                   .spacing = {2, 3, 4},  // y of the array runs to the right
                   .direction = {0, -1, 0, 1, 0, 0, 0, 0, 1}};
  std::vector<Tensor> rows(3);
  rows[1] = Tensor(DType::kI32, {2, 3}), rows[2] = Tensor(DType::kI32, {1, 3});
  const std::int32_t first[] = {1, 2, 3, 5, 4, 3};  // z, y, x
  std::copy_n(first, 6, rows[1].as<std::int32_t>());
  rows[2].as<std::int32_t>()[1] = 7;
  const std::int64_t voxels[] = {0, 40, 1};
  const CaseSides item = case_sides(g, rows, voxels, {{.left = 1, .right = 2}});
  EXPECT_EQ(item.marks.middle_mm, 50 - 3 * 3.5);
  EXPECT_EQ(item.marks.classes[1]->centre_mm, 50 - 3 * 3);
  EXPECT_EQ(item.marks.classes[1]->volume_mm3, 40 * 24);
  EXPECT_THAT(item.x_mm[1], ElementsAre(38, 44));
  EXPECT_THAT(item.x_mm[2], ElementsAre(29));
}

/// A run's preparation with the rule, as a checkpoint keeps it.
nlohmann::json preparation_with(const SideRule& rule) {
  return {{"class_names", kOrgans}, {kTrainedClasses, to_json(rule, kOrgans)}};
}

TEST(SideRule, ComesBackFromTheRecordOfARunToTheBit) {
  SideRule rule = fit_sides(abdomens(12), kKidneys, Sides::kAuto).rule;
  rule.pairs.front().marks.front().offset_mm = 0.1 + 0.2;
  const nlohmann::json preparation = preparation_with(rule);
  EXPECT_EQ(side_rule_of(nlohmann::json::parse(preparation.dump())), rule);
  EXPECT_EQ(preparation.at(kTrainedClasses).size(), 4u);
  EXPECT_EQ(preparation.at(kTrainedClasses)[2].at("name"), "kidney_l + kidney_r");
  EXPECT_TRUE(side_rule_of({{"class_names", kOrgans}}).empty()) << "a run of before, or without pairs";
  const SideRule single = fit_sides(abdomens(1), kKidneys, Sides::kJoin).rule;
  EXPECT_EQ(side_rule_of(preparation_with(single)), single);
}

TEST(SideRule, ABrokenRecordIsRefused) {
  const SideRule rule = fit_sides(abdomens(12), kKidneys, Sides::kAuto).rule;
  const auto refused = [&](const std::function<void(nlohmann::json & preparation, nlohmann::json & pair)>& break_it) {
    nlohmann::json preparation = preparation_with(rule);
    break_it(preparation, preparation[kTrainedClasses][2]);
    try {
      side_rule_of(preparation);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kCheckpoint);
      return std::string(e.what());
    }
    return std::string("taken");
  };
  using J = nlohmann::json;
  EXPECT_EQ(refused([](J&, J&) {}), "taken");
  EXPECT_THAT(refused([](J&, J& pair) { pair["left"] = 5; }), HasSubstr("left is no class of the data"));
  EXPECT_THAT(refused([](J&, J& pair) { pair["left"] = 0; }), HasSubstr("left is no class"));
  EXPECT_THAT(refused([](J&, J& pair) { pair["left"] = pair["right"]; }), HasSubstr("twice"));
  EXPECT_THAT(refused([](J&, J& pair) { pair["left"] = 2.5; }), HasSubstr("left is no class"));
  EXPECT_THAT(refused([](J&, J& pair) { pair.erase("marks"); }), HasSubstr("marks"));
  EXPECT_THAT(refused([](J&, J& pair) { pair["marks"] = J::array(); }), HasSubstr("marks are no list"));
  EXPECT_THAT(refused([](J&, J& pair) { pair["marks"] = std::vector<J>(100, pair["marks"][0]); }),
              HasSubstr("marks are no list of one to 5"));
  EXPECT_THAT(refused([](J&, J& pair) { pair["marks"].erase(2); }), HasSubstr("the last mark is not the middle"));
  EXPECT_THAT(refused([](J&, J& pair) { pair["marks"][0]["of"] = 3; }), HasSubstr("the centre of a joined class"));
  EXPECT_THAT(refused([](J&, J& pair) { pair["marks"][0]["offset_mm"] = 1e300; }), HasSubstr("no usable number"));
  EXPECT_THAT(refused([](J&, J& pair) { pair["marks"][0]["offset_mm"] = "far"; }), HasSubstr("trained_classes"));
  EXPECT_THAT(refused([](J& all, J&) { all[kTrainedClasses] = 3; }), HasSubstr("no shorter list"));
  EXPECT_THAT(refused([](J& all, J&) { all[kTrainedClasses].erase(0); }), HasSubstr("their number does not fit"));
}

/// The training cases of OpenKBP as label maps in memory.
struct HeadsAndNecks {
  std::vector<Volume> labels;
  std::vector<std::string> names;
  std::vector<CaseSides> cases;

  static const HeadsAndNecks* get() {
    static const HeadsAndNecks real = read();
    return real.labels.empty() ? nullptr : &real;
  }

 private:
  static HeadsAndNecks read() {
    const char* root = std::getenv("VOXSHARD_TEST_DATA");
    const std::filesystem::path folder = std::filesystem::path(root == nullptr ? "" : root) / "ct/Dataset001_OpenKBP";
    HeadsAndNecks real;
    if (root == nullptr || !std::filesystem::exists(folder)) return real;
    const Dataset dataset = read_dataset(folder);
    real.names = dataset.label_names;
    const int classes = static_cast<int>(real.names.size());
    for (const Case& item : dataset.training) {
      real.labels.push_back(read_label(*item.label));
      const Tensor& voxels = real.labels.back().voxels;
      std::vector<std::int64_t> counts(real.names.size());
      for (std::int64_t i = 0; i < voxels.count(); ++i) ++counts.at(voxels.as<std::int32_t>()[i]);
      real.cases.push_back(case_sides(real.labels.back().geometry,
                                      sample_foreground(voxels, classes, item.id, 1).by_class, counts,
                                      side_pairs(real.names)));
    }
    return real;
  }
};

/// Returns the share of true voxels of the two parotids that the rule labels as they are, each case by a rule that the
/// others tell.
struct ProperShare {
  double all = 0, least = 1;
};
ProperShare properly_labelled(const HeadsAndNecks& real, const std::function<void(SideRule&)>& change) {
  const SidePair pair = side_pairs(real.names).front();
  ProperShare share;
  double proper = 0, voxels = 0;
  for (std::size_t i = 0; i < real.labels.size(); ++i) {
    std::vector<CaseSides> others = real.cases;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    SideRule rule = fit_sides(others, side_pairs(real.names), Sides::kAuto).rule;
    EXPECT_EQ(rule.pairs.size(), 1u);
    change(rule);
    const Volume split = real.labels[i];
    const Tensor& truth = real.labels[i].voxels;
    const JoinedClasses joined = rule.joined();
    for (std::int64_t v = 0; v < truth.count(); ++v)
      split.voxels.as<std::int32_t>()[v] = joined.of(truth.as<std::int32_t>()[v]);
    split_sides(rule, split);
    double proper_here = 0, here = 0;
    for (std::int64_t v = 0; v < truth.count(); ++v) {
      const std::int32_t label = truth.as<std::int32_t>()[v];
      if (label == pair.left || label == pair.right)
        ++here, proper_here += split.voxels.as<std::int32_t>()[v] == label;
      else
        EXPECT_EQ(split.voxels.as<std::int32_t>()[v], label);
    }
    share.least = std::min(share.least, proper_here / here);
    proper += proper_here, voxels += here;
  }
  share.all = proper / voxels;
  return share;
}

TEST(SideFitReal, ParotidsOf40CasesAreToldApartByARuleOfTheOther39) {
  const HeadsAndNecks* real = HeadsAndNecks::get();
  if (real == nullptr) GTEST_SKIP() << "VOXSHARD_TEST_DATA is not set, or holds no OpenKBP";
  const FittedSides fitted = fit_sides(real->cases, side_pairs(real->names), Sides::kAuto);
  ASSERT_EQ(fitted.rule.pairs.size(), 1u);
  std::printf("%s\n", to_text(fitted, real->names).front().c_str());
  for (const SideMark& mark : fitted.rule.pairs.front().marks)
    std::printf("%s: %.2f mm, deviation %.2f mm\n",
                mark.of == 0 ? "middle of the volume" : real->names[mark.of].c_str(), mark.offset_mm,
                mark.deviation_mm);
  const ProperShare by_marks = properly_labelled(*real, [](SideRule&) {}),
                    by_middle = properly_labelled(*real, [](SideRule&rule) {
                      auto& marks = rule.pairs.front().marks;
                      marks.erase(marks.begin(), marks.end() - 1);
                    });
  std::printf(
      "properly labelled: %.6f of all voxels, %.6f in the worst case; by the middle of the volume alone %.6f, "
      "%.6f\n",
      by_marks.all, by_marks.least, by_middle.all, by_middle.least);
  EXPECT_GE(by_marks.all, 0.999);
  EXPECT_GE(by_marks.least, 0.99);
}

TEST(SideFitReal, ParotidsWithSwappedNamesStayTwoClasses) {
  const HeadsAndNecks* real = HeadsAndNecks::get();
  if (real == nullptr) GTEST_SKIP() << "VOXSHARD_TEST_DATA is not set, or holds no OpenKBP";
  const SidePair pair = side_pairs(real->names).front();
  for (const Sides sides : {Sides::kAuto, Sides::kJoin})
    EXPECT_THAT(why_kept(fit_sides(real->cases, {{.left = pair.right, .right = pair.left}}, sides)),
                HasSubstr("the other way round in 40 of the 40"));
}

}  // namespace
}  // namespace voxshard
