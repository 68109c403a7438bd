#include "libcore/base/plain_text.h"

#include <gtest/gtest.h>

#include <vector>

namespace voxshard {
namespace {

TEST(PlainText, WhatSteersAScreenIsSpelledOut) {
  EXPECT_EQ(plain_text("a\x1b[2J\a\r\nb"), "a\\x1b[2J\\x07\\x0d\\x0ab");
  EXPECT_EQ(plain_text("a\nb\tc\x1b", "\n\t"), "a\nb\tc\\x1b");
  EXPECT_EQ(plain_text("a\u202eb"), "a\\xe2\\x80\\xaeb");
  for (const char* steering : {"\u0080", "\u009b", "\u009f", "\u2028", "\u2029", "\u200b", "\u200f", "\u202a", "\u2066",
                               "\u2069", "\ufeff", "\u061c", "\U000e0041", "\x7f"})
    EXPECT_EQ(find_steering(std::string("x") + steering), 1u) << plain_text(steering);
}

TEST(PlainText, LettersOfAnyAlphabetStay) {
  for (const char* text : {"", "liver_03", "läsion", "Niere (rechts)", "肝臓", "\U0001fac1", "\u00a0", "a\u0308"}) {
    EXPECT_EQ(plain_text(text), text);
    EXPECT_EQ(find_steering(text), std::string::npos);
  }
}

TEST(PlainText, BytesThatAreNoUtf8AreSpelledOut) {
  EXPECT_EQ(plain_text("\xff"
                       "a\xc3"),
            "\\xffa\\xc3");
  for (const char* wrong : {"\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8", "\x80"})
    EXPECT_EQ(character_bytes(wrong), 0u) << plain_text(wrong);
}

}  // namespace
}  // namespace voxshard
