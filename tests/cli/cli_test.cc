// The command as scripts see it: exit codes, --json as exactly one document, --config, and an error text that helps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A demo data set that is made once for all tests; tests copy it before they break it.
class Cli : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder("suite");
    ASSERT_EQ(run_voxshard("demo " + data() + " --cases 3 --test 1 --quiet").exit_code, 0);
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string data() { return *folder_ / "data"; }
  static std::string copy_of_data(const Folder& folder) {
    std::filesystem::copy(data(), folder / "data", std::filesystem::copy_options::recursive);
    return folder / "data";
  }
  static Folder* folder_;
};
Folder* Cli::folder_ = nullptr;

TEST_F(Cli, VersionAsTextAndAsDocument) {
  EXPECT_THAT(run_voxshard("--version").out, HasSubstr("voxshard 0."));
  const auto version = run_voxshard("--version --json").json();
  EXPECT_EQ(version.at("name"), "voxshard");
  EXPECT_THAT(version.at("mpi").get<std::string>(), HasSubstr("MPI")) << "Open MPI v4.1.4, or no MPI";
}

TEST_F(Cli, EveryHelpEndsWithAnExample) {
  EXPECT_THAT(run_voxshard("--help").out, HasSubstr("Example"));
  for (const auto& name : std::vector<std::string>{"demo", "info", "prepare", "train", "predict", "evaluate", "report",
                                                   "verify", "bench", "explain"}) {
    const CommandResult r = run_voxshard(name + " --help");
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_THAT(r.out, HasSubstr("Example:\n  voxshard " + name)) << name;
    EXPECT_THAT(r.out, HasSubstr("--config")) << name;
  }
}

TEST_F(Cli, UsageErrorsExitWithTwo) {
  for (const auto& words : std::vector<std::string>{
           "", "dance", "prepare", "prepare x -o y --nosuch", "demo x --cases many", "demo x --cases 0",
           "prepare x -o y --normalise loudly", "info", "evaluate a b --threads 0"}) {
    const CommandResult r = run_voxshard(words);
    EXPECT_EQ(r.exit_code, 2) << words;
    EXPECT_THAT(r.err, HasSubstr("voxshard: [")) << words;
    EXPECT_THAT(r.out, IsEmpty()) << words;
  }
}

TEST_F(Cli, AnOptionIsNamedAsItIsTyped) {
  EXPECT_THAT(run_voxshard("prepare " + data() + " -o /dev/null --clip 5,3").err, HasSubstr("[prepare] --clip needs"));
  EXPECT_THAT(run_voxshard("prepare " + data() + " -o /dev/null").err, HasSubstr("choose another with -o"));
}

TEST_F(Cli, WithJsonAnErrorIsOneDocumentOnStandardOutput) {
  const CommandResult r = run_voxshard("prepare x -o y --nosuch --json");
  EXPECT_EQ(r.error_kind(), "usage");
  EXPECT_EQ(r.json().at("error").at("exit_code"), 2);
  const CommandResult missing = run_voxshard("info /nowhere.nii.gz --json");
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_EQ(missing.error_kind(), "input");
  EXPECT_EQ(missing.json().at("error").at("code"), "E_READ");
  EXPECT_THAT(missing.err, HasSubstr("/nowhere.nii.gz: no such file or folder; give an image"));
  EXPECT_THAT(run_voxshard("info /nowhere").err, HasSubstr("/nowhere: no such file or folder; give an image"));
}

TEST_F(Cli, PrepareThenEvaluateAgainstItself) {
  Folder folder("roundtrip");
  const CommandResult prepared = run_voxshard("prepare " + data() + " -o " + (folder / "work") + " --json");
  EXPECT_EQ(prepared.exit_code, 0);
  EXPECT_EQ(prepared.json().at("prepared"), 3);
  const CommandResult resumed = run_voxshard("prepare " + data() + " -o " + (folder / "work") + " --json --resume");
  EXPECT_EQ(resumed.json().at("skipped"), 3);
  const CommandResult scored = run_voxshard("evaluate " + data() + "/labelsTs " + data() + "/labelsTs --dataset " +
                                            data() + " --baseline threshold --json -o " + (folder / "summary.json") +
                                            " --png " + (folder / "overlay.png"));
  EXPECT_EQ(scored.exit_code, 0);
  EXPECT_EQ(scored.json().at("mean_dice"), 1.0);
  EXPECT_LT(scored.json().at("threshold_mean_dice"), 0.6);
  EXPECT_TRUE(std::filesystem::exists(folder / "overlay.png"));
  EXPECT_TRUE(nlohmann::json::parse(file_text(folder / "summary.json")).contains("foreground_mean"));
}

TEST_F(Cli, ABadCaseIsNamedSkippedAndCounted) {
  Folder folder("partial");
  const std::string copy = copy_of_data(folder);
  std::filesystem::resize_file(copy + "/imagesTr/phantom_001_0000.nii.gz", 5000);
  const CommandResult r = run_voxshard("prepare " + copy + " -o " + (folder / "work") + " --json");
  EXPECT_EQ(r.exit_code, 8);
  EXPECT_EQ(r.json().at("prepared"), 2);
  EXPECT_EQ(r.json().at("failures").at(0).at("case"), "phantom_001");
  EXPECT_THAT(r.err, HasSubstr("phantom_001"));
  EXPECT_THAT(file_text(folder / "work/quarantine.csv"), HasSubstr("phantom_001,E_READ"));
}

TEST_F(Cli, NoUsableCaseExitsWithFour) {
  Folder folder("none");
  std::filesystem::create_directories(folder / "empty");
  EXPECT_EQ(run_voxshard("prepare " + (folder / "empty") + " -o " + (folder / "work")).exit_code, 4);
  EXPECT_EQ(run_voxshard("info " + (folder / "empty")).exit_code, 4);
  EXPECT_EQ(run_voxshard("evaluate " + (folder / "empty") + " " + data() + "/labelsTs").exit_code, 4);
  const std::string copy = copy_of_data(folder);
  for (const auto& file : std::filesystem::directory_iterator(copy + "/imagesTr"))
    std::filesystem::resize_file(file.path(), 100);
  const CommandResult r = run_voxshard("prepare " + copy + " -o " + (folder / "work"));
  EXPECT_EQ(r.exit_code, 4);
  EXPECT_THAT(r.err, HasSubstr("phantom_000"));
}

TEST_F(Cli, MissingInputExitsWithThree) {
  Folder folder("missing");
  EXPECT_EQ(run_voxshard("prepare /nowhere -o " + (folder / "work")).exit_code, 3);
  folder.write("dataset.json", "{\"labels\": ");
  const CommandResult broken = run_voxshard("prepare " + (folder / "") + " -o " + (folder / "work"));
  EXPECT_EQ(broken.exit_code, 3);
  EXPECT_THAT(broken.err, HasSubstr("dataset.json"));
  EXPECT_EQ(run_voxshard("evaluate /nowhere " + data() + "/labelsTs").exit_code, 3);
}

TEST_F(Cli, UnwritableOutputExitsWithSix) {
  Folder folder("unwritable");
  folder.write("file", "in the way");
  for (const auto& words : std::vector<std::string>{
           "prepare " + data() + " -o " + (folder / "file/work"), "demo " + (folder / "file/data"),
           "evaluate " + data() + "/labelsTs " + data() + "/labelsTs -o " + (folder / "file/s.json"),
           "prepare " + data() + " -o /proc/voxshard"}) {
    const CommandResult r = run_voxshard(words + " --json");
    EXPECT_EQ(r.exit_code, 6) << words << r.err;
    EXPECT_EQ(r.error_kind(), "output");
  }
}

TEST_F(Cli, AMissingPredictionIsPartial) {
  Folder folder("prediction");
  std::filesystem::copy(data() + "/labelsTr", folder / "pred", std::filesystem::copy_options::recursive);
  std::filesystem::remove(folder / "pred/phantom_002.nii.gz");
  const CommandResult r = run_voxshard("evaluate " + (folder / "pred") + " " + data() + "/labelsTr --json");
  EXPECT_EQ(r.exit_code, 8);
  EXPECT_EQ(r.json().at("failures").at(0).at("case"), "phantom_002");
  EXPECT_EQ(r.json().at("cases").size(), 2u);
}

TEST_F(Cli, ConfigGivesOptionsAndTheCommandLineWins) {
  Folder folder("config");
  folder.write("c.toml",
               "seed = 5\n[demo]\ncases = 1\ntest = 0\n[prepare]\nspacing = [4, 4, 4.5]\nclip = [-200, 300]\n");
  CommandResult r = run_voxshard("demo " + (folder / "d") + " --json --config " + (folder / "c.toml"));
  EXPECT_EQ(r.json().at("cases"), 1) << r.err;
  r = run_voxshard("demo " + (folder / "e") + " --json --cases 2 --config=" + (folder / "c.toml"));
  EXPECT_EQ(r.json().at("cases"), 2) << r.err;
  r = run_voxshard("prepare " + (folder / "d") + " -o " + (folder / "w") + " --json --config " + (folder / "c.toml"));
  EXPECT_EQ(r.json().at("plan").at("spacing_mm"), nlohmann::json({4.0, 4.0, 4.5})) << r.err;
  EXPECT_EQ(r.json().at("plan").at("clip_hu"), nlohmann::json({-200.0, 300.0}));
  folder.write("c.json", R"({"prepare": {"normalise": "window"}})");
  r = run_voxshard("prepare " + (folder / "d") + " -o " + (folder / "w") + " --json --config " + (folder / "c.json"));
  EXPECT_EQ(r.json().at("plan").at("normalise"), "window") << r.err;
}

TEST_F(Cli, UnknownConfigKeysAndMissingConfigsExitWithFive) {
  Folder folder("badconfig");
  for (const auto& text : std::vector<std::string>{"shade = 3\n", "[prepare]\ncases = 3\n", "[paint]\nseed = 1\n",
                                                   "seed = \n", "seed = 1979-05-27\n[demo]\ncolour = 1\n"}) {
    folder.write("c.toml", text);
    const CommandResult r = run_voxshard("demo " + (folder / "d") + " --json --config " + (folder / "c.toml"));
    EXPECT_EQ(r.exit_code, 5) << text << r.err;
    EXPECT_THAT(r.err, HasSubstr("c.toml")) << text;
  }
  EXPECT_EQ(run_voxshard("demo " + (folder / "d") + " --config " + (folder / "none.toml")).exit_code, 5);
}

TEST_F(Cli, QuietSaysNothingOnStandardErrorAndProgressIsPlainThere) {
  Folder folder("quiet");
  EXPECT_THAT(run_voxshard("prepare " + data() + " -o " + (folder / "w") + " --quiet").err, IsEmpty());
  const std::string lines = run_voxshard("prepare " + data() + " -o " + (folder / "w")).err;
  EXPECT_THAT(lines, HasSubstr("prepare 3/3"));
  EXPECT_EQ(lines.find('\r'), std::string::npos);
}

TEST_F(Cli, InfoReadsFilesAndFolders) {
  const CommandResult r = run_voxshard("info " + data() + "/imagesTr/phantom_000_0000.nii.gz " + data() + " --json");
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(r.json().at("files").at(0).at("orientation"), "LPS");
  EXPECT_EQ(r.json().at("folders").at(0).at("dataset").at("training"), 3);
}

}  // namespace
}  // namespace voxshard
