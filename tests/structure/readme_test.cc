// The tests that README.md names as those of a feature exist.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>

#include "tests/structure/source_rules.h"

namespace voxshard {
namespace {

/// "Suite", "Suite.Test" and for a suite with parameters "Suite/": all that the sources define.
std::set<std::string> tests_of(const std::vector<SourceFile>& files) {
  static const std::regex kTest(R"((?:^|\n)(?:TYPED_)?TEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
  static const std::regex kSuite(R"(INSTANTIATE_TEST_SUITE_P\(\w+,\s*(\w+),)");
  std::set<std::string> names;
  for (const SourceFile& file : files) {
    for (std::sregex_iterator it(file.text.begin(), file.text.end(), kTest), end; it != end; ++it)
      names.insert({(*it)[1].str(), (*it)[1].str() + "." + (*it)[2].str()});
    for (std::sregex_iterator it(file.text.begin(), file.text.end(), kSuite), end; it != end; ++it)
      names.insert((*it)[1].str() + "/");
  }
  return names;
}

/// The names between backquotes in the second column of the table under `heading`.
std::vector<std::string> named_under(const std::string& markdown, const std::string& heading) {
  const std::size_t begin = markdown.find("# " + heading + "\n"), end = markdown.find("\n#", begin);
  std::vector<std::string> names;
  if (begin == std::string::npos) return names;
  static const std::regex kSecond(R"(\n\| [^|]* \| ([^|]*) \|)"), kName("`([^`]+)`");
  const std::string table = markdown.substr(begin, end - begin);
  for (std::sregex_iterator row(table.begin(), table.end(), kSecond), none; row != none; ++row) {
    const std::string cell = (*row)[1].str();
    for (std::sregex_iterator it(cell.begin(), cell.end(), kName); it != none; ++it) names.push_back((*it)[1].str());
  }
  return names;
}

/// "Suite", "Suite.*", "Suite.Test" or "Suite/3".
bool is_there(const std::string& name, const std::set<std::string>& tests) {
  const std::size_t slash = name.find('/');
  if (slash != std::string::npos) return tests.contains(name.substr(0, slash + 1));
  return tests.contains(name.ends_with(".*") ? name.substr(0, name.size() - 2) : name);
}

TEST(ReadmeTests, AreFoundInSourcesAndInTheTable) {
  const auto tests = tests_of({{"a.cc", "\nTEST(A, One) {\nTEST_P(B, Two) {\nINSTANTIATE_TEST_SUITE_P(All, B, x);\n"}});
  for (const char* name : {"A", "A.*", "A.One", "B", "B/3", "B.Two"}) EXPECT_TRUE(is_there(name, tests)) << name;
  for (const char* name : {"C", "A.Two", "A/0", "One", "C.*"}) EXPECT_FALSE(is_there(name, tests)) << name;
  EXPECT_EQ(
      named_under("## T\n| x | `no` |\n### U\n\n| a `b` | c |\n|---|---|\n| d `e` | `f`, `g/1` |\n## V\n| x | `no` |\n",
                  "U"),
      (std::vector<std::string>{"f", "g/1"}));
}

TEST(ReadmeTests, ThatShowAFeatureExist) {
  std::ifstream in(VOXSHARD_SOURCE_DIR "/README.md");
  const std::string readme = {std::istreambuf_iterator<char>(in), {}};
  const auto tests = tests_of(read_sources(true));
  for (const auto& [heading, least] : {std::pair{"Tests of the original's features", 25u}, {"Tests of ranks", 20u}}) {
    const auto names = named_under(readme, heading);
    ASSERT_GE(names.size(), least) << heading;
    for (const std::string& name : names) EXPECT_TRUE(is_there(name, tests)) << name;
  }
}

}  // namespace
}  // namespace voxshard
