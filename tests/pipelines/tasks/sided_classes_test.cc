#include "pipelines/tasks/sided_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace voxshard {
namespace {

TEST(SidedClasses, LeftAndRightInAnyFormAreFound) {
  using Names = std::vector<std::string>;
  for (const Names& names :
       {Names{"background", "kidney_right", "kidney_left"}, Names{"Left kidney", "right Kidney"},
        Names{"LeftParotid", "RightParotid"}, Names{"Lung L", "lung r"}, Names{"l_eye", "R_eye"},
        Names{"kidneyL", "kidneyR"}, Names{"lt_kidney", "rt_kidney"}, Names{"linke Niere", "rechte Niere"},
        Names{"rein_droit", "rein_gauche"}, Names{"EyeLt", "EyeRt"}})
    EXPECT_TRUE(sided_classes(names)) << names.back();
  for (const Names& names :
       {Names{"background", "liver", "river"}, Names{"kidney_left", "spleen"}, Names{"left", "liver"},
        Names{"cell", "cerr"}, Names{"belt", "bert"}, Names{"lens", "rens"}, Names{"klinke", "krechte2"}, Names{}})
    EXPECT_FALSE(sided_classes(names)) << (names.empty() ? "" : names[0]);
  EXPECT_EQ(sided_classes({"b", "Left kidney", "RIGHT kidney"}),
            std::pair(std::string("Left kidney"), std::string("RIGHT kidney")));
  EXPECT_EQ(mirror_warnings({"eye_l", "eye_r"}, {"{mirror}", "{clip-mirror}"}).size(), 2u);
  EXPECT_TRUE(mirror_warnings({"eye_l", "eye_r"}, {}).empty());
  EXPECT_TRUE(mirror_warnings({"liver"}, {"{flip}"}).empty());
}

TEST(SidedClasses, AClassOfOneSideHasNoCounterpart) {
  const auto found = [](const std::vector<std::string>& names) { return one_sided_class(names).value_or("none"); };
  EXPECT_EQ(found({"liver", "kidney_left"}), "kidney_left");
  EXPECT_EQ(found({"eye_l", "eye_r", "RightKidney"}), "RightKidney");
  for (const char* name : {"rein droit", "Atrio destro", "rinon_izquierdo", "rinon derecho", "linke Niere"})
    EXPECT_EQ(found({name}), name);
  EXPECT_EQ(found({"kidney_left", "kidney_right"}), "none");
  EXPECT_EQ(found({"bright spot", "cleft", "label_l", "destroyed", "bone destruction", "leftover"}), "none")
      << "no word for a side, or a short one";
  EXPECT_THAT(mirror_warnings({"kidney_left"}, {"{flip}"}),
              testing::ElementsAre(testing::HasSubstr("W_MIRROR {flip} swaps left and right, and \"kidney_left\"")));
}

TEST(SidedClasses, PairsAreByNumberAndEachClassIsInOne) {
  EXPECT_EQ(side_pairs({"background", "jaw", "eye_r", "Left lung", "eye_l", "right lung", "kidney_left"}),
            (std::vector<SidePair>{{.left = 3, .right = 5}, {.left = 4, .right = 2}}));
  EXPECT_EQ(side_pairs({"background", "eye_l", "eye_r", "EYE_R"}), (std::vector<SidePair>{{.left = 1, .right = 2}}));
  EXPECT_TRUE(side_pairs({}).empty());
  EXPECT_TRUE(side_pairs({"eye_l", "eye_r"}).empty()) << "the first is the background";
}

}  // namespace
}  // namespace voxshard
