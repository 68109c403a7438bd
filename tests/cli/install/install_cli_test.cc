// What `cmake --install` of the build under test lays into a folder: the program runs from there, links of pages lead
// somewhere, and manual pages and completion are those that the program prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

int shell(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()); }

/// Returns the shell command that installs the build under test below `prefix`.
std::string install_command(const std::string& prefix) {
  const fs::path build = fs::path(VOXSHARD_BINARY).parent_path().parent_path();
  return "cmake --install " + build.string() + " --prefix " + prefix;
}

/// One installation for all tests.
class InstallCli : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder("install");
    ASSERT_EQ(shell("DESTDIR= " + install_command(installed(""))), 0);
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string installed(const std::string& path) { return *folder_ / ("usr/" + path); }
  static Folder* folder_;
};
Folder* InstallCli::folder_ = nullptr;

TEST_F(InstallCli, TheProgramRunsFromWhereItIsInstalled) {
  EXPECT_EQ(shell("cd / && test \"$(" + installed("bin/voxshard") + " --version)\" = \"$(" + VOXSHARD_BINARY +
                  " --version)\""),
            0);
  const std::string config = installed("share/voxshard/configs/v3-8_128x128x128_ce.toml");
  EXPECT_EQ(shell(installed("bin/voxshard") + " explain --stage config --config " + config), 0);
  EXPECT_EQ(shell(installed("bin/voxshard") + " plan --size 32x32x32 --base-filters 4 --depth 3 --cores 2 --device " +
                  installed("share/voxshard/devices/tpu-v3.json")),
            0);
}

TEST_F(InstallCli, HoldsAllOfTheDataFolders) {
  int files = 0;
  for (const char* folder : {"configs", "devices", "examples", "terms"}) {
    const fs::path there = fs::path(VOXSHARD_SOURCE_DIR) / "data" / folder;
    if (!fs::exists(there)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(there)) {
      if (!entry.is_regular_file()) continue;
      const fs::path here = installed("share/voxshard") / entry.path().lexically_relative(there.parent_path());
      EXPECT_EQ(read_bytes(here), read_bytes(entry.path())) << here;
      ++files;
    }
  }
  EXPECT_GE(files, 15);
}

TEST_F(InstallCli, LinksOfPagesLeadSomewhere) {
  static const std::regex kLink(R"(\]\(([^)#]+)(#[^)]*)?\))");
  int links = 0;
  for (const auto& entry : fs::recursive_directory_iterator(installed("share/doc/voxshard"))) {
    if (entry.path().extension() != ".md") continue;
    const std::string text = read_bytes(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), kLink), end; it != end; ++it, ++links)
      EXPECT_TRUE(fs::exists(entry.path().parent_path() / (*it)[1].str())) << entry.path() << ": " << (*it)[1];
  }
  EXPECT_GE(links, 10);
  EXPECT_TRUE(fs::exists(installed("share/doc/voxshard/LICENSE")));
}

TEST_F(InstallCli, ManualPagesAndCompletionAreThoseThatTheProgramPrints) {
  auto commands = run_voxshard("help options --json").json();
  commands.erase("every command");
  commands[""] = {};
  for (const auto& [command, options] : commands.items()) {
    const std::string page = installed("share/man/man1/voxshard" + (command.empty() ? "" : "-" + command) + ".1");
    EXPECT_EQ(shell("gzip -dk " + page + ".gz"), 0) << page;
    EXPECT_EQ(file_text(page), run_voxshard("help man " + command).out);
  }
  EXPECT_EQ(file_text(installed("share/bash-completion/completions/voxshard")),
            run_voxshard("help completion bash").out);
}

TEST_F(InstallCli, NothingIsWrittenOutsideOfDestdir) {
  const Folder folder("destdir");
  ASSERT_EQ(shell("DESTDIR=" + (folder / "root") + " " + install_command(folder / "prefix")), 0);
  EXPECT_FALSE(fs::exists(folder / "prefix"));
  EXPECT_TRUE(fs::exists(folder / ("root" + (folder / "prefix/bin/voxshard"))));
  EXPECT_TRUE(fs::exists(folder / ("root" + (folder / "prefix/share/man/man1/voxshard-train.1.gz"))));
}

TEST(Citation, NamesTheVersionAndItsDate) {
  const std::string package = std::string(VOXSHARD_SOURCE_DIR) + "/apps/package/";
  const std::string version = run_voxshard("--version --json").json().at("version");
  const std::string cff = file_text(package + "CITATION.cff"), changes = file_text(package + "CHANGELOG.md");
  EXPECT_THAT(cff, HasSubstr("\nversion: " + version + "\n"));
  const std::size_t at = cff.find("\ndate-released: ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_THAT(changes, HasSubstr("\n## " + version + " (" + cff.substr(at + 16, 10) + ")\n"));
}

}  // namespace
}  // namespace voxshard
