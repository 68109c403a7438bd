// The table of codes: every code that a source gives is a row, and every row is given by a source.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "libcore/base/codes.h"
#include "tests/structure/source_rules.h"

namespace voxshard {
namespace {

/// Returns the codes that literals begin with: "E_SHAPE" of "E_SHAPE", "W_FORMS" of "W_FORMS qform and sform differ".
std::set<std::string> codes_in(const std::string& source) {
  static const std::regex kCode(R"re("([EW]_[A-Z_]+)[" ])re");
  std::set<std::string> codes;
  for (std::sregex_iterator it(source.begin(), source.end(), kCode), end; it != end; ++it) codes.insert((*it)[1].str());
  return codes;
}

TEST(Codes, AreFoundInSources) {
  EXPECT_EQ(codes_in(R"(Error(kInput, "E_SHAPE", "x"); "W_FORMS both"; "E_NO_CASE"; "THE_END"; "E_1"; // E_GONE)"),
            (std::set<std::string>{"E_NO_CASE", "E_SHAPE", "W_FORMS"}));
}

TEST(Codes, OfTheTableAreThoseThatSourcesGive) {
  std::set<std::string> given;
  for (const SourceFile& file : read_sources(false))
    if (file.path != "libcore/base/codes.h") given.merge(codes_in(file.text));
  ASSERT_GE(given.size(), 40u);
  for (const std::string& code : given) EXPECT_NE(meaning_of(code), nullptr) << code << " is no row of kCodes";
  for (const CodeRow& row : kCodes)
    EXPECT_TRUE(given.contains(std::string(row.code))) << row.code << " is given by no source";
}

TEST(Codes, StandOnceAndInOrderWithinTheirKind) {
  std::set<std::string_view> seen;
  for (const CodeRow& row : kCodes) {
    EXPECT_TRUE(seen.insert(row.code).second) << row.code;
    EXPECT_FALSE(std::string_view(row.meaning).ends_with('.')) << row.code;
  }
  EXPECT_TRUE(std::ranges::is_sorted(kCodes, {}, [](const CodeRow& row) { return row.code.front(); }));
}

}  // namespace
}  // namespace voxshard
