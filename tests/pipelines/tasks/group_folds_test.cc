// Folds by groups, which all tasks share.
#include "pipelines/tasks/group_folds.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/expect_error.h"

namespace voxshard {
namespace {

std::vector<std::string> letters(char last) {
  std::vector<std::string> ids;
  for (char c = 'a'; c <= last; ++c) ids.emplace_back(1, c);
  return ids;
}

TEST(GroupFolds, WithoutGroupsTheyAreThoseOfNnunet) {
  const auto ids = letters('m');
  const auto expected = make_splits(ids), splits = splits_of(folds_by_group(ids), ids);
  ASSERT_EQ(splits.size(), expected.size());
  for (std::size_t f = 0; f < expected.size(); ++f) {
    EXPECT_EQ(splits[f].val, expected[f].val);
    EXPECT_EQ(splits[f].train, expected[f].train);
  }
}

TEST(GroupFolds, KeepCasesOfOnePatientTogether) {
  const auto ids = letters('m');
  std::vector<std::string> patients = ids;
  patients[2] = patients[12] = "a", patients[4] = "d";
  const auto splits = splits_of(folds_by_group(patients), ids);
  ASSERT_EQ(splits.size(), 5u);
  std::vector<std::string> held_out;
  for (const Split& one : splits) {
    EXPECT_EQ(one.train.size() + one.val.size(), ids.size());
    for (const auto& group : {std::vector<std::string>{"a", "c", "m"}, {"d", "e"}}) {
      const auto held =
          std::ranges::count_if(group, [&](const std::string& id) { return std::ranges::count(one.val, id) > 0; });
      EXPECT_TRUE(held == 0 || held == std::ssize(group));
    }
    held_out.insert(held_out.end(), one.val.begin(), one.val.end());
  }
  std::ranges::sort(held_out);
  EXPECT_EQ(held_out, ids) << "each case is held out once";
  EXPECT_EQ(folds_by_group({"a", "a", "b", "c"}).count, 3) << "as many as there are groups";
  EXPECT_EQ(folds_by_group({"a", "a"}).count, 0) << "one group alone cannot be held out";
}

TEST(GroupFolds, AClassOfTwoGroupsTrainsInEveryFold) {
  std::vector<std::string> groups;
  std::vector<std::int32_t> classes;
  for (int i = 0; i < 20; ++i) groups.push_back("video_" + std::to_string(i / 2)), classes.push_back(i / 2 < 8 ? 0 : 1);
  const Folds folds = folds_by_group(groups, classes);
  ASSERT_EQ(folds.count, 5);
  std::map<std::string, std::set<std::int64_t>> of_group;
  for (std::size_t i = 0; i < groups.size(); ++i) of_group[groups[i]].insert(folds.of_item[i]);
  for (const auto& [group, held] : of_group) EXPECT_EQ(held.size(), 1u) << group;
  for (std::int64_t f = 0; f < 5; ++f) {
    EXPECT_EQ(std::ranges::count(folds.of_item, f), 4) << "two videos of two clips";
    std::set<std::int32_t> trained;
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (!folds.validates(f, i)) trained.insert(classes[i]);
    EXPECT_EQ(trained.size(), 2u) << f;
  }
}

TEST(GroupFolds, AClassOfTwoGroupsTrainsInEveryFoldWhateverElseTheyHold) {
  for (int one = 0; one < 10; ++one)
    for (int other = one + 1; other < 10; ++other) {
      std::vector<std::string> groups;
      std::vector<std::int32_t> classes;
      for (int g = 0; g < 10; ++g) {
        groups.push_back("video_" + std::to_string(g)), classes.push_back(0);
        if (g == one || g == other) groups.push_back(groups.back()), classes.push_back(1);
      }
      const Folds folds = folds_by_group(groups, classes);
      std::set<std::int64_t> held;
      for (std::size_t i = 0; i < groups.size(); ++i)
        if (classes[i] == 1) held.insert(folds.of_item[i]);
      EXPECT_EQ(held.size(), 2u) << one << " and " << other << " alone have class 1, and class 0 too";
    }
}

TEST(GroupFolds, AClassOfOneGroupDoesNotDecideOverOneOfTwo) {
  std::vector<std::string> groups;
  std::vector<std::int32_t> classes;
  for (int g = 0; g < 10; ++g) groups.push_back("video_" + std::to_string(g)), classes.push_back(0);
  for (const char* name : {"video_2", "video_7"}) groups.emplace_back(name), classes.push_back(1);
  const Folds before = folds_by_group(groups, classes);
  groups.emplace_back("video_7"), classes.push_back(2);  // no fold can hold it out and train on it
  const Folds after = folds_by_group(groups, classes);
  EXPECT_TRUE(std::equal(before.of_item.begin(), before.of_item.end(), after.of_item.begin()));
}

TEST(GroupFolds, ANameThatStoodOnBothSidesOfAFoldTrains) {
  // x is the name of two images in two folders, of which fold 0 held out one and fold 1 the other
  const std::vector<KeptSplit> kept = {{.train = {"b", "x"}, .val = {"a", "x"}},
                                       {.train = {"a", "x"}, .val = {"b", "x"}}};
  const Folds folds = folds_as_kept({"a", "x", "x", "b"}, {"a", "one/x", "other/x", "b"}, kept);
  EXPECT_THAT(folds.of_item, testing::ElementsAre(0, -1, -1, 1)) << "else what trained in fold 0 validates in it";
}

TEST(GroupFolds, OfARunThatStartedBeforeNothingMovesAndNewItemsFollowTheirGroup) {
  const std::vector<KeptSplit> kept = {{.train = {"b1", "c1"}, .val = {"a1"}}, {.train = {"a1", "c1"}, .val = {"b1"}}};
  const Folds folds = folds_as_kept({"a1", "a2", "b1", "c1", "d1"}, {"a", "a", "b", "c", "d"}, kept);
  EXPECT_EQ(folds.count, 2);
  EXPECT_THAT(folds.of_item, testing::ElementsAre(0, 0, 1, -1, -1)) << "a2 is new, and of the group of a1";
}

TEST(GroupFolds, ANewItemOfAGroupOnBothSidesTrains) {
  const std::vector<KeptSplit> kept = {{.train = {"f1"}, .val = {"f9"}}};  // frames of a video, divided by time
  EXPECT_THAT(folds_as_kept({"f1", "f2", "f9"}, {"f", "f", "f"}, kept).of_item, testing::ElementsAre(-1, -1, 0));
}

TEST(GroupFolds, AFoldThatIsNotThereIsRefusedWithThoseThatAre) {
  EXPECT_EQ(number_of_fold("4", 5), 4);
  for (const char* fold : {"5", "-1", "one", ""})
    expect_error(ErrorKind::kConfig, "expected 0 to 4 or all", [&] { number_of_fold(fold, 5); });
  expect_error(ErrorKind::kConfig, "all clips are of one source", [] { require_folds({}, "0", "clips"); });
}

TEST(GroupFolds, TheTextCountsWhatValidatesAndTheGroups) {
  const std::vector<std::string> groups = {"a", "a", "b", "b"};
  EXPECT_EQ(fold_text(folds_by_group(groups), "0", groups, "clips"),
            "fold 0 of 2: 2 of 4 clips validate, those of each of the 2 groups in one fold");
  EXPECT_EQ(fold_text(folds_by_group(letters('d')), "1", letters('d'), "items"), "fold 1 of 4: 1 of 4 items validate");
}

}  // namespace
}  // namespace voxshard
