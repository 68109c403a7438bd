// The pages: README.md is short, and the tests, files and pages that pages name or link to exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "tests/structure/source_rules.h"

namespace voxshard {
namespace {

/// Returns all tests that the sources define: "Suite", "Suite.Test" and for a suite with parameters "Suite/".
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

constexpr const char* kPages[] = {"README.md",         "apps/README.md",  "data/README.md",     "io/README.md",
                                  "libcore/README.md", "tests/README.md", "pipelines/README.md"};

std::string page_text(const std::string& page) {
  std::ifstream in(std::string(VOXSHARD_SOURCE_DIR "/") + page);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the targets of links, "data/README.md" of "[results](data/README.md#volumes)", and of images.
std::vector<std::string> links_of(const std::string& markdown) {
  static const std::regex kLink(R"(\]\(([^)#]+)(#[^)]*)?\))");
  std::vector<std::string> links;
  for (std::sregex_iterator it(markdown.begin(), markdown.end(), kLink), end; it != end; ++it)
    links.push_back((*it)[1].str());
  return links;
}

/// Returns the files of the tree that are named between backquotes: sources, scripts and pages with a folder.
std::vector<std::string> files_of(const std::string& markdown) {
  static const std::regex kFile(R"(`([a-z_0-9]+/[\w/.-]+\.(h|cc|py|sh|md|toml))[ `])");
  std::vector<std::string> files;
  for (std::sregex_iterator it(markdown.begin(), markdown.end(), kFile), end; it != end; ++it)
    files.push_back((*it)[1].str());
  return files;
}

/// Returns the names between backquotes in the second column of the table under `heading`.
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

/// True when a test named "Suite", "Suite.*", "Suite.Test" or "Suite/3" exists.
bool is_there(const std::string& name, const std::set<std::string>& tests) {
  const std::size_t slash = name.find('/');
  if (slash != std::string::npos) return tests.contains(name.substr(0, slash + 1));
  return tests.contains(name.ends_with(".*") ? name.substr(0, name.size() - 2) : name);
}

TEST(PageNames, TestsAreFoundInSourcesAndInTheTable) {
  const auto tests = tests_of({{"a.cc", "\nTEST(A, One) {\nTEST_P(B, Two) {\nINSTANTIATE_TEST_SUITE_P(All, B, x);\n"}});
  for (const char* name : {"A", "A.*", "A.One", "B", "B/3", "B.Two"}) EXPECT_TRUE(is_there(name, tests)) << name;
  for (const char* name : {"C", "A.Two", "A/0", "One", "C.*"}) EXPECT_FALSE(is_there(name, tests)) << name;
  EXPECT_EQ(
      named_under("## T\n| x | `no` |\n### U\n\n| a `b` | c |\n|---|---|\n| d `e` | `f`, `g/1` |\n## V\n| x | `no` |\n",
                  "U"),
      (std::vector<std::string>{"f", "g/1"}));
}

TEST(PageNames, LinksAndFilesAreFoundInText) {
  EXPECT_EQ(links_of("see [a](b/README.md), ![c](d.png) and [e](f.md#g) (no)"),
            (std::vector<std::string>{"b/README.md", "d.png", "f.md"}));
  EXPECT_EQ(files_of("`io/a.h`, `tests/run.sh --slow`, `no.h`, io/b.h, `io/c.txt`"),
            (std::vector<std::string>{"io/a.h", "tests/run.sh"}));
}

TEST(PageNames, TestsThatShowAFeatureExist) {
  const std::string page = page_text("tests/README.md");
  const auto tests = tests_of(read_sources(true));
  for (const auto& [heading, least] :
       {std::pair{"Which test shows what", 25u}, {"Tests of the original's features", 25u}, {"Tests of ranks", 20u}}) {
    const auto names = named_under(page, heading);
    ASSERT_GE(names.size(), least) << heading;
    for (const std::string& name : names) EXPECT_TRUE(is_there(name, tests)) << name;
  }
}

TEST(PageNames, WhatTheyLinkToAndNameExists) {
  const std::filesystem::path root = VOXSHARD_SOURCE_DIR;
  std::size_t links = 0, files = 0;
  for (const std::string page : kPages) {
    const std::string text = page_text(page);
    EXPECT_FALSE(text.empty()) << page;
    const std::filesystem::path folder = std::filesystem::path(page).parent_path();
    for (const std::string& link : links_of(text)) {
      EXPECT_TRUE(std::filesystem::exists(root / folder / link)) << page << ": " << link;
      ++links;
    }
    for (const std::string& file : files_of(text)) {
      if (file.starts_with("models/official/")) continue;  // of the original
      EXPECT_TRUE(std::filesystem::exists(root / file) || std::filesystem::exists(root / folder / file))
          << page << ": " << file;
      ++files;
    }
  }
  EXPECT_GE(links, 7u);
  EXPECT_GE(files, 30u);
}

TEST(PageNames, TheFirstOneIsShort) {
  const std::string text = page_text("README.md");
  EXPECT_LE(std::ranges::count(text, '\n'), 150);
}

}  // namespace
}  // namespace voxshard
