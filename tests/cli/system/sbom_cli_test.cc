// `voxshard --sbom` and `voxshard help third-party`: the SPDX document has what SPDX 2.3 requires, every library of the
// program is in it, it is the same every time, and apps/README.md has the table of what voxshard itself calls.
#include <gmock/gmock.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kScript = VOXSHARD_SOURCE_DIR "/apps/sbom/linked.cmake";

/// Members that SPDX 2.3 requires (clauses 6 to 11), with the form of their values.
struct Required {
  const char *name, *form;
};
constexpr Required kOfTheDocument[] = {{"spdxVersion", "SPDX-2\\.3"},
                                       {"dataLicense", "CC0-1\\.0"},
                                       {"SPDXID", "SPDXRef-DOCUMENT"},
                                       {"name", ".+"},
                                       {"documentNamespace", "https://[^#\\s]+"}};
constexpr Required kOfAPackage[] = {
    {"name", ".+"}, {"SPDXID", "SPDXRef-[A-Za-z0-9.-]+"}, {"downloadLocation", "NOASSERTION|NONE|https?://\\S+"}};
constexpr Required kOfARelationship[] = {{"spdxElementId", "SPDXRef-[A-Za-z0-9.-]+"},
                                         {"relationshipType", "DESCRIBES|DYNAMIC_LINK|STATIC_LINK|DEPENDS_ON"},
                                         {"relatedSpdxElement", "SPDXRef-[A-Za-z0-9.-]+"}};
constexpr Required kOfAReference[] = {{"referenceCategory", "PACKAGE-MANAGER"},
                                      {"referenceType", "purl"},
                                      {"referenceLocator", "pkg:deb/[a-z]+/[^\\s@:]+@[^\\s@:]+\\?arch=[a-z0-9]+"}};
constexpr Required kOfALicenceOfItsOwn[] = {{"licenseId", "LicenseRef-[A-Za-z0-9.-]+"}, {"extractedText", ".+"}};

template <std::size_t N>
std::string lacking(const json& object, const Required (&members)[N]) {
  for (const Required& one : members) {
    if (!object.contains(one.name) || !object.at(one.name).is_string()) return std::string("no ") + one.name;
    if (!std::regex_match(object.at(one.name).get<std::string>(), std::regex(one.form)))
      return std::string(one.name) + " is " + object.at(one.name).dump();
  }
  return "";
}

/// True for NOASSERTION, and for an expression of identifiers that are in the list of SPDX or in the document.
bool is_licence(const std::string& expression, const std::set<std::string>& own) {
  static const std::set<std::string> kListed = {"Apache-2.0",
                                                "BSD-2-Clause",
                                                "BSD-3-Clause",
                                                "BSD-3-Clause-Clear",
                                                "BSD-3-Clause-Open-MPI",
                                                "CC0-1.0",
                                                "FTL",
                                                "GPL-2.0-only",
                                                "GPL-2.0-or-later",
                                                "GPL-3.0-only",
                                                "GPL-3.0-or-later",
                                                "ISC",
                                                "LGPL-2.0-only",
                                                "LGPL-2.0-or-later",
                                                "LGPL-2.1-only",
                                                "LGPL-2.1-or-later",
                                                "LGPL-3.0-only",
                                                "LGPL-3.0-or-later",
                                                "MIT",
                                                "MPL-1.1",
                                                "MPL-2.0",
                                                "PostgreSQL",
                                                "Qhull",
                                                "Zlib",
                                                "curl",
                                                "libtiff"};
  if (expression == "NOASSERTION") return true;
  std::istringstream words(expression);
  bool wants_name = true;
  for (std::string word; words >> word; wants_name = !wants_name) {
    if (!wants_name && word == "WITH") {
      words >> word;
      if (word != "GCC-exception-3.1") return false;
      wants_name = true;  // an operator or the end follows
      continue;
    }
    if (wants_name ? !kListed.contains(word) && !own.contains(word) : word != "AND" && word != "OR") return false;
  }
  return !wants_name;
}

json document() { return json::parse(run_voxshard("--sbom").out); }

/// Returns the names behind "libraries: " of all packages.
std::set<std::string> libraries_of(const json& sbom) {
  std::set<std::string> names;
  for (const json& package : sbom.at("packages")) {
    std::istringstream words(package.value("comment", ""));
    for (std::string word; words >> word;) names.insert(word);
  }
  return names;
}

std::string output_of(const Folder& folder, const std::string& command) {
  EXPECT_EQ(std::system((command + " >" + (folder / "output") + " 2>&1").c_str()), 0) << command;
  return file_text(folder / "output");
}

TEST(SbomCli, HasEveryMemberThatSpdxRequires) {
  const CommandResult r = run_voxshard("--sbom");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  const json sbom = json::parse(r.out);
  EXPECT_EQ(lacking(sbom, kOfTheDocument), "");
  const json& creation = sbom.at("creationInfo");
  EXPECT_TRUE(std::regex_match(creation.at("created").get<std::string>(),
                               std::regex("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ")));
  ASSERT_GE(creation.at("creators").size(), 1u);
  for (const json& creator : creation.at("creators"))
    EXPECT_TRUE(std::regex_match(creator.get<std::string>(), std::regex("(Person|Organization|Tool): .+")));
  std::set<std::string> own;
  for (const json& licence : sbom.at("hasExtractedLicensingInfos")) {
    EXPECT_EQ(lacking(licence, kOfALicenceOfItsOwn), "");
    own.insert(licence.at("licenseId").get<std::string>());
  }
  std::set<std::string> ids = {"SPDXRef-DOCUMENT"}, related;
  ASSERT_GE(sbom.at("packages").size(), 20u);
  for (const json& package : sbom.at("packages")) {
    EXPECT_EQ(lacking(package, kOfAPackage), "") << package;
    EXPECT_TRUE(ids.insert(package.at("SPDXID").get<std::string>()).second) << package;
    EXPECT_EQ(package.at("filesAnalyzed"), false) << "else it must have a verification code: " << package;
    for (const char* name : {"licenseDeclared", "licenseConcluded"})
      EXPECT_TRUE(is_licence(package.at(name).get<std::string>(), own)) << package;
    for (const json& reference : package.value("externalRefs", json::array()))
      EXPECT_EQ(lacking(reference, kOfAReference), "") << package;
  }
  int described = 0;
  for (const json& one : sbom.at("relationships")) {
    EXPECT_EQ(lacking(one, kOfARelationship), "") << one;
    EXPECT_TRUE(ids.contains(one.at("spdxElementId").get<std::string>())) << one;
    EXPECT_TRUE(ids.contains(one.at("relatedSpdxElement").get<std::string>())) << one;
    related.insert(one.at("relatedSpdxElement").get<std::string>());
    described += one.at("relationshipType") == "DESCRIBES";
  }
  EXPECT_EQ(described, 1);
  EXPECT_EQ(related.size(), sbom.at("packages").size()) << "each package is related to another";
}

TEST(SbomCli, ALackingMemberIsFound) {
  json sbom = document();
  sbom.erase("documentNamespace");
  EXPECT_EQ(lacking(sbom, kOfTheDocument), "no documentNamespace");
  sbom["packages"][0]["SPDXID"] = "libstdc++6";
  EXPECT_THAT(lacking(sbom.at("packages").at(0), kOfAPackage), HasSubstr("SPDXID is"));
  EXPECT_TRUE(is_licence("GPL-3.0-or-later WITH GCC-exception-3.1", {}));
  for (const char* wrong : {"", "GPL", "MIT OR", "MIT Zlib", "LicenseRef-a"}) EXPECT_FALSE(is_licence(wrong, {}));
}

TEST(SbomCli, EveryLibraryThatTheProgramNeedsIsInItWithItsVersion) {
  if (std::system("command -v readelf >/dev/null") != 0) GTEST_SKIP() << "no readelf (Debian: binutils)";
  const Folder folder("sbom");
  const std::string dynamic = output_of(folder, "readelf -d " VOXSHARD_BINARY);
  const json sbom = document();
  const std::set<std::string> listed = libraries_of(sbom);
  static const std::regex kNeeded(R"re(\(NEEDED\)[^\[]*\[([^\]]+)\])re");
  int needed = 0;
  for (std::sregex_iterator it(dynamic.begin(), dynamic.end(), kNeeded), end; it != end; ++it, ++needed)
    EXPECT_TRUE(listed.contains((*it)[1].str())) << (*it)[1];
  EXPECT_GE(needed, 10);
  if (!std::filesystem::exists("/var/lib/dpkg/status")) return;
  for (const json& package : sbom.at("packages")) EXPECT_TRUE(package.contains("versionInfo")) << package;
}

/// The library of OpenCV's codecs is in the list, though the program begins without it: it is loaded with the first
/// picture.
TEST(SbomCli, TheCodecsOfPicturesAreListedAndMissedWithTheFirstPictureAlone) {
  if (std::system("command -v readelf >/dev/null") != 0) GTEST_SKIP() << "no readelf (Debian: binutils)";
  const Folder folder("codecs");
  const std::set<std::string> listed = libraries_of(document());
  const auto codecs =
      std::ranges::find_if(listed, [](const std::string& name) { return name.starts_with("libopencv_imgcodecs.so."); });
  ASSERT_NE(codecs, listed.end());
  EXPECT_EQ(output_of(folder, "readelf -d " VOXSHARD_BINARY).find(*codecs), std::string::npos);
  folder.write(*codecs, "no library");
  const std::string here = "LD_LIBRARY_PATH=" + (folder / "");
  EXPECT_EQ(run_voxshard("--version", "", here).exit_code, 0);
  const CommandResult doctor = run_voxshard("doctor --check", "", here);
  EXPECT_EQ(doctor.exit_code, 0);
  EXPECT_THAT(doctor.out, HasSubstr("WARNING  pictures: [image] pictures can be neither read nor written here: "));
  const CommandResult demo =
      run_voxshard("demo " + (folder / "pictures") + " --task detection --cases 2 --test 1", "", here);
  EXPECT_EQ(demo.exit_code, 5);
  EXPECT_THAT(demo.err, HasSubstr(*codecs));
}

TEST(SbomCli, WhatOtherLibrariesLoadHasTheLicenceOfItsCopyrightFile) {
  if (!std::filesystem::exists("/usr/share/doc/libexpat1/copyright")) GTEST_SKIP() << "no copyright files of Debian";
  int indirect = 0, known = 0;
  bool has_expat = false;
  for (const json& row : run_voxshard("help third-party --json").json()) {
    if (row.at("use") != "") continue;
    ++indirect, known += row.at("licence") != "NOASSERTION";
    if (row.at("package") != "libexpat1") continue;
    has_expat = true;
    EXPECT_EQ(row.at("licence"), "MIT");
  }
  EXPECT_TRUE(has_expat) << "fontconfig loads it";
  EXPECT_GT(2 * known, indirect) << "most copyright files have the form that programs read";
}

TEST(SbomCli, IsTheSameEveryTimeAndHoldsNoPath) {
  const std::string once = run_voxshard("--sbom").out;
  EXPECT_TRUE(once == run_voxshard("--sbom").out);
  EXPECT_EQ(once.find(VOXSHARD_SOURCE_DIR), std::string::npos);
  EXPECT_EQ(once.find("/usr/"), std::string::npos);
}

TEST(SbomCli, TheBuildWritesTheTimeThatItIsGivenAndWhatItCanFindOut) {
  if (std::system("command -v cmake >/dev/null") != 0) GTEST_SKIP() << "no cmake";
  const Folder folder("linked");
  const auto written = [&](const std::string& environment, const std::string& definitions) {
    output_of(folder, environment + " cmake -DPROGRAMS=" VOXSHARD_BINARY " -DREADELF=readelf " + definitions +
                          " -DHEADER=" + (folder / "linked.h") + " -P " + kScript);
    return file_text(folder / "linked.h");
  };
  EXPECT_THAT(written("SOURCE_DATE_EPOCH=86400", ""), HasSubstr("\"1970-01-02T00:00:00Z\""));
  const std::string plain = written("env -u SOURCE_DATE_EPOCH", "");
  EXPECT_THAT(plain, HasSubstr("\"1970-01-01T00:00:00Z\""));
  const auto before = std::filesystem::last_write_time(folder / "linked.h");
  EXPECT_EQ(written("env -u SOURCE_DATE_EPOCH", ""), plain);
  EXPECT_EQ(std::filesystem::last_write_time(folder / "linked.h"), before) << "nothing is compiled again";
  EXPECT_THAT(
      written("", "-DDPKG=OFF"),
      HasSubstr("{\"libnettle.so.8\", \"\", \"libnettle.so.8\", \"\", \"\", \"\", \"libnettle.so.8\", \"\", false}"));
}

TEST(SbomCli, TheListForPeopleHasThePackagesOfTheDocument) {
  const json rows = run_voxshard("help third-party --json").json();
  const std::string text = "\n" + run_voxshard("help third-party").out;
  const json packages = document().at("packages");
  ASSERT_EQ(rows.size() + 1, packages.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].at("package"), packages[i + 1].at("name"));
    EXPECT_EQ(rows[i].at("licence"), packages[i + 1].at("licenseDeclared"));
    EXPECT_THAT(text, HasSubstr("\n" + rows[i].at("package").get<std::string>() + " ")) << text.substr(0, 200);
  }
}

TEST(ReleaseSums, AreThoseThatSha256sumChecks) {
  if (std::system("command -v cmake >/dev/null") != 0) GTEST_SKIP() << "no cmake";
  const Folder folder("release");
  const std::string write = "cmake -DFOLDER=" + (folder / "") + " -P " VOXSHARD_SOURCE_DIR "/apps/package/sums.cmake",
                    check = "cd " + (folder / "") + " && sha256sum --strict --quiet -c SHA256SUMS 2>/dev/null";
  EXPECT_NE(std::system((write + " 2>/dev/null").c_str()), 0) << "there is nothing to list";
  folder.write("voxshard_0.2.0_amd64.deb", "a package"), folder.write("voxshard-0.2.0.spdx.json", "{}");
  folder.write("notes.txt", "no file of the release");
  output_of(folder, write);
  const std::string sums = file_text(folder / "SHA256SUMS");
  EXPECT_THAT(sums, HasSubstr("  voxshard-0.2.0.spdx.json\n"));
  EXPECT_THAT(sums, HasSubstr("  voxshard_0.2.0_amd64.deb\n"));
  EXPECT_EQ(std::ranges::count(sums, '\n'), 2);
  EXPECT_EQ(std::system(check.c_str()), 0);
  folder.write("voxshard_0.2.0_amd64.deb", "another package");
  EXPECT_NE(std::system(check.c_str()), 0);
}

/// Returns the rows of the table of third-party software on the page: source package, licence, use.
std::set<std::vector<std::string>> rows_of_page() {
  const std::string page = file_text(VOXSHARD_SOURCE_DIR "/apps/README.md");
  std::istringstream lines(page.substr(page.find("## Third-party software")));
  static const std::regex kRow(R"(\| ([^|]+) \| ([^|]+) \| ([^|]+) \|)");
  std::set<std::vector<std::string>> rows;
  std::string line;
  std::getline(lines, line);
  for (std::smatch found; std::getline(lines, line) && !line.starts_with("#");)
    if (std::regex_match(line, found, kRow)) rows.insert({found[1], found[2], found[3]});
  rows.erase({"Debian source package", "licence", "for"});
  return rows;
}

TEST(Pages, TheTableOfThirdPartySoftwareIsThatOfTheProgram) {
  std::set<std::vector<std::string>> of_program;
  for (const json& row : run_voxshard("help third-party --json").json()) {
    if (row.at("use") == "") continue;
    EXPECT_NE(row.at("licence"), "NOASSERTION") << row;
    const std::string source =
        std::regex_replace(row.at("source").get<std::string>(), std::regex("-[0-9]+$"), "");  // gcc-12
    of_program.insert({source, row.at("licence").get<std::string>(), row.at("use").get<std::string>()});
  }
  const auto of_page = rows_of_page();
  ASSERT_GE(of_page.size(), 20u);
  for (const auto& row : of_program) EXPECT_TRUE(of_page.contains(row)) << testing::PrintToString(row);
  for (const auto& row : of_page)
    EXPECT_TRUE(of_program.contains(row) || row[0] == "openmpi") << testing::PrintToString(row);
}

TEST(SbomCli, EveryLibraryThatTheProgramCallsHasALicence) {
  for (const json& row : run_voxshard("help third-party --json").json()) {
    const bool direct = row.at("compiled_in").get<bool>() || !row.at("linked").empty();
    EXPECT_EQ(direct, row.at("use") != "") << row << ": no row of apps/sbom/licences.cc";
  }
}

}  // namespace
}  // namespace voxshard
