// Debian's short names of licences become expressions of SPDX, or nothing where SPDX has no such name.
#include "apps/sbom/licences.h"

#include <gtest/gtest.h>

namespace voxshard {
namespace {

TEST(Licences, ShortNamesOfDebianBecomeExpressionsOfSpdx) {
  EXPECT_EQ(spdx_of_debian("Expat"), "MIT");
  EXPECT_EQ(spdx_of_debian("GPL-2"), "GPL-2.0-only") << "without a plus no later version is meant";
  EXPECT_EQ(spdx_of_debian("LGPL-2+ and LGPL-2.1+"), "LGPL-2.0-or-later AND LGPL-2.1-or-later");
  EXPECT_EQ(spdx_of_debian("MPL-1.1 or GPL-2+ or LGPL-2.1+"), "MPL-1.1 OR GPL-2.0-or-later OR LGPL-2.1-or-later");
}

TEST(Licences, WhatSpdxHasNoNameForIsNone) {
  for (const char* licence : {"", "and", "Expat and", "Expat Expat", "public-domain", "LGPL-2.1+ and public-domain",
                              "GPL-3+ with autoconf exception", "GPL-2+ or Artistic, and Expat"})
    EXPECT_EQ(spdx_of_debian(licence), std::nullopt) << licence;
}

}  // namespace
}  // namespace voxshard
