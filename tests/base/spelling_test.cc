// Tests of the suggestion of a known name for a misspelt one.
#include "libcore/base/spelling.h"

#include <gtest/gtest.h>

namespace voxshard {
namespace {

TEST(Spelling, CountsLettersAddedDroppedReplacedAndSwapped) {
  EXPECT_EQ(letters_to_change("train", "train"), 0);
  EXPECT_EQ(letters_to_change("trian", "train"), 1);
  EXPECT_EQ(letters_to_change("trai", "train"), 1);
  EXPECT_EQ(letters_to_change("traain", "train"), 1);
  EXPECT_EQ(letters_to_change("drain", "train"), 1);
  EXPECT_EQ(letters_to_change("", "train"), 5);
  EXPECT_EQ(letters_to_change("kitten", "sitting"), 3);
}

TEST(Spelling, TheNearestIsTheFirstOfEquals) {
  EXPECT_EQ(nearest_name("batch", {"bath", "patch", "latch"}), "bath");
  EXPECT_EQ(nearest_name("", {"abc", "de"}), "de");
}

TEST(Spelling, WhatIsFarFromEveryNameWasNotMeant) {
  EXPECT_EQ(likely_name("evalaute", {"train", "evaluate"}), "evaluate");
  EXPECT_EQ(likely_name("dance", {"train", "evaluate"}), std::nullopt);
  EXPECT_EQ(likely_name("x", {}), std::nullopt);
}

}  // namespace
}  // namespace voxshard
