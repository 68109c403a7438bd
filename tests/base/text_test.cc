// Numbers as people read them: a fixed count of decimals, or of significant digits.
#include "libcore/base/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace voxshard {
namespace {

TEST(NumberTexts, AreRoundedToDecimalsOrToSignificantDigits) {
  EXPECT_EQ(fixed_text(0.93449), "0.934");
  EXPECT_EQ(fixed_text(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(significant_text(-306.21631773102973), "-306.216");
  EXPECT_EQ(significant_text(3.0230000019073486), "3.023");
  EXPECT_EQ(significant_text(7.374044062349637e-05, 3), "7.37e-05");
  EXPECT_EQ(significant_text(0), "0");
}

}  // namespace
}  // namespace voxshard
