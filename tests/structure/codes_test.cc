// Every code of what is left out, or odd, is explained in README.md, and every one that is explained there exists.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>

#include "tests/structure/source_rules.h"

namespace voxshard {
namespace {

/// "E_SHAPE" of "E_SHAPE" and of "W_FORMS qform and sform differ": what literals begin with.
std::set<std::string> codes_in(const std::string& source) {
  static const std::regex kCode(R"re("([EW]_[A-Z]+)[" ])re");
  std::set<std::string> codes;
  for (std::sregex_iterator it(source.begin(), source.end(), kCode), end; it != end; ++it) codes.insert((*it)[1].str());
  return codes;
}

/// The codes of the list under "**Codes in `quarantine.csv`**", up to the next entry.
std::set<std::string> codes_explained(const std::string& markdown) {
  const std::size_t begin = markdown.find("* **Codes in `quarantine.csv`**");
  if (begin == std::string::npos) return {};
  const std::string list = markdown.substr(begin, markdown.find("\n* ", begin) - begin);
  static const std::regex kCode(R"(\b[EW]_[A-Z]+\b)");
  std::set<std::string> codes;
  for (std::sregex_iterator it(list.begin(), list.end(), kCode), end; it != end; ++it) codes.insert(it->str());
  return codes;
}

TEST(Codes, AreFoundInSourcesAndInTheList) {
  EXPECT_EQ(codes_in(R"(Error(kInput, "E_SHAPE", "x"); "W_FORMS both"; "THE_END"; "E_1"; // E_GONE)"),
            (std::set<std::string>{"E_SHAPE", "W_FORMS"}));
  EXPECT_EQ(codes_explained("E_NOT\n* **Codes in `quarantine.csv`**: E_A (as\n  `W_B`)\n* **more** E_C\n"),
            (std::set<std::string>{"E_A", "W_B"}));
  EXPECT_TRUE(codes_explained("no list, but E_A").empty());
}

/// Of whole commands, which end with them; they stand in the table of exit codes.
bool is_of_commands(const SourceFile& file) {
  return file.path == "libcore/base/error.h" || file.path == "libcore/ranks/mpi.cc" || file.path.starts_with("apps/");
}

TEST(Codes, OfCasesAreThoseThatTheListExplains) {
  std::ifstream in(VOXSHARD_SOURCE_DIR "/README.md");
  const std::set<std::string> explained = codes_explained({std::istreambuf_iterator<char>(in), {}});
  ASSERT_GE(explained.size(), 15u);
  std::set<std::string> given = {"E_READ"};  // of kInput errors that give no other
  for (const SourceFile& file : read_sources(false))
    if (!is_of_commands(file)) given.merge(codes_in(file.text));
  for (const std::string& code : given)
    EXPECT_TRUE(explained.contains(code)) << code << " is not in README.md's list of codes";
  for (const std::string& code : explained) EXPECT_TRUE(given.contains(code)) << code << " is given by no source";
}

}  // namespace
}  // namespace voxshard
