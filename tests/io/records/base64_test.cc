// Base 64 as RFC 4648 gives it.
#include "io/records/base64.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace voxshard {
namespace {

TEST(Base64, IsThatOfTheStandard) {
  const auto text = [](std::string_view bytes) {
    return base64_text(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  };
  // Source: RFC 4648, section 10.
  EXPECT_EQ(text(""), "");
  EXPECT_EQ(text("f"), "Zg==");
  EXPECT_EQ(text("fo"), "Zm8=");
  EXPECT_EQ(text("foo"), "Zm9v");
  EXPECT_EQ(text("foob"), "Zm9vYg==");
  EXPECT_EQ(text("fooba"), "Zm9vYmE=");
  EXPECT_EQ(text("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64_text(std::vector<std::uint8_t>{0xff, 0xfe, 0xfb}), "//77");
}

}  // namespace
}  // namespace voxshard
