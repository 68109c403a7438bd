// The allow-lists of DICOM elements: io/README.md lists exactly those that the sources of io read, and those that are
// copied into what is written for a PACS.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "tests/structure/source_rules.h"

namespace voxshard {
namespace {

using Elements = std::set<std::string>;

/// Returns the elements that a source names: "Modality" of DCM_Modality, "(0009,100d)" of DcmTagKey(0x0009, 0x100d).
Elements elements_in(const std::string& source) {
  static const std::regex kNamed(R"(\bDCM_([A-Za-z0-9]+)\b)"),
      kNumbered(R"(\b(?:DcmTagKey|DcmTag|Tag)\(0x([0-9a-f]{4}), 0x([0-9a-f]{4})\))");
  Elements found;
  for (std::sregex_iterator it(source.begin(), source.end(), kNamed), end; it != end; ++it) found.insert((*it)[1]);
  for (std::sregex_iterator it(source.begin(), source.end(), kNumbered), end; it != end; ++it)
    found.insert("(" + (*it)[1].str() + "," + (*it)[2].str() + ")");
  return found;
}

/// Returns the elements between backquotes under a heading of a page, up to the next heading.
Elements elements_under(const std::string& page, const std::string& heading) {
  static const std::regex kElement(R"(`([A-Z][A-Za-z]+|\([0-9a-f]{4},[0-9a-f]{4}\))`)");
  Elements found;
  const std::size_t begin = page.find("\n## " + heading + "\n");
  if (begin == std::string::npos) return found;
  const std::size_t after = page.find("\n## ", begin + 1);
  const std::string part = page.substr(begin, after == std::string::npos ? after : after - begin);
  for (std::sregex_iterator it(part.begin(), part.end(), kElement), end; it != end; ++it) found.insert((*it)[1]);
  return found;
}

TEST(DicomElements, AreFoundInSourcesAndOnPages) {
  EXPECT_EQ(elements_in("v.text(DCM_Modality); DcmTagKey(0x0009, 0x100d); DcmTag(0x7fe0, 0x0010)"),
            (Elements{"Modality", "(0009,100d)", "(7fe0,0010)"}));
  EXPECT_EQ(elements_under("# a\n`Other`\n\n## Elements\n`Rows` and `(0009,100d)`, `predict`\n\n## next\n`Columns`\n",
                           "Elements"),
            (Elements{"Rows", "(0009,100d)"}));
}

/// Returns the elements under a heading of io/README.md.
Elements listed_under(const std::string& heading) {
  std::ifstream in(VOXSHARD_SOURCE_DIR "/io/README.md");
  return elements_under({std::istreambuf_iterator<char>(in), {}}, heading);
}

/// Returns the part of a source from a text up to the end of its braces; nothing where the text is not there.
std::string braces_behind(const std::string& source, const std::string& text) {
  const std::size_t begin = source.find(text);
  return begin == std::string::npos ? "" : source.substr(begin, source.find("};", begin) - begin);
}

TEST(DicomElements, ThatAreReadAreThoseOfTheAllowList) {
  Elements read;
  for (const SourceFile& file : read_sources(false))
    if (file.path.starts_with("io/") && !file.path.starts_with("io/dicom_out/")) read.merge(elements_in(file.text));
  const Elements listed = listed_under("What is read of a DICOM header");
  ASSERT_GT(read.size(), 50u);
  for (const std::string& element : read) EXPECT_TRUE(listed.contains(element)) << element << " is read and not listed";
  for (const std::string& element : listed) EXPECT_TRUE(read.contains(element)) << element << " is listed and not read";
}

TEST(DicomElements, ThatAreCopiedIntoObjectsAreThoseOfTheirList) {
  EXPECT_EQ(braces_behind("a b[] = {1}; kKept[] = {2,\n3}; c = {4};", "kKept[] = {"), "kKept[] = {2,\n3");
  Elements copied;
  for (const SourceFile& file : read_sources(false))
    if (file.path == "io/dicom_out/source_series.cc") copied = elements_in(braces_behind(file.text, "kKept[] = {"));
  ASSERT_GT(copied.size(), 10u);
  EXPECT_EQ(copied, listed_under("What is written for a PACS"));
}

}  // namespace
}  // namespace voxshard
