#include "libcore/base/coded_text.h"

#include <gtest/gtest.h>

namespace voxshard {
namespace {

TEST(CodedText, TextsAreJoinedAndTakenApart) {
  std::string all;
  EXPECT_TRUE(coded_texts(all).empty());
  add_coded(all, "W_SUV it lacks a weight; it stays as it is");
  add_coded(all, "W_UIDS its UIDs were removed");
  EXPECT_EQ(all, "W_SUV it lacks a weight; it stays as it is; W_UIDS its UIDs were removed");
  const auto parts = coded_texts(all);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].code, "W_SUV");
  EXPECT_EQ(parts[0].text, "it lacks a weight; it stays as it is");
  EXPECT_EQ(parts[1].code, "W_UIDS");
  EXPECT_EQ(parts[1].text, "its UIDs were removed");
}

}  // namespace
}  // namespace voxshard
