// Several channels from the command line: listed, prepared, trained, predicted and scored; what is lacking is said.
#include <regex>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

/// Demo data whose every image is there twice, as the channels CT and PET.
struct TwoChannels : Folder {
  explicit TwoChannels(const char* first = "CT", const char* second = "PET") : Folder("channels_cli") {
    EXPECT_EQ(run_voxshard("demo " + data() + " --cases 2 --test 2 --quiet").exit_code, 0);
    for (const char* part : {"imagesTr", "imagesTs"})
      for (const std::string& image : images(part))
        fs::copy_file(image, std::regex_replace(image, std::regex("_0000\\."), "_0001."));
    nlohmann::json json = nlohmann::json::parse(file_text(data() + "/dataset.json"));
    json["channel_names"] = {{"0", first}, {"1", second}};
    std::ofstream(data() + "/dataset.json") << json;
  }
  std::string data() const { return *this / "data"; }
  std::vector<std::string> images(const std::string& part) const {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(data() + "/" + part)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }
};

TEST(ChannelsCli, TheWholeRoad) {
  const TwoChannels folder;
  const std::string data = folder.data(), work = folder / "work", run = folder / "run", out = folder / "out";
  EXPECT_THAT(run_voxshard("info " + data + " --quick").out, HasSubstr("channels: CT, PET"));
  const CommandResult prepared = run_voxshard("prepare " + data + " -o " + work + " --spacing 8,8,8 --quiet");
  ASSERT_EQ(prepared.exit_code, 0) << prepared.err;
  EXPECT_THAT(prepared.out, HasSubstr("; CT, HU "));
  EXPECT_THAT(prepared.out, HasSubstr("; PET, normalised by zscore"));
  const CommandResult trained = run_voxshard("train " + work + " -o " + run + " --base-filters 4 --depth 3 " +
                                             "--precision f32 --crop 16x16x16 --steps 2 --fold all --quiet");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  ASSERT_EQ(run_voxshard("predict " + run + " " + data + "/imagesTs -o " + out + " --quiet").exit_code, 0);
  const CommandResult scored =
      run_voxshard("evaluate " + out + " " + data + "/labelsTs --dataset " + data + " --baseline threshold");
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  EXPECT_THAT(scored.err, HasSubstr("of the 2 channels the first, CT, is used for --baseline and --png"));
  EXPECT_EQ(run_voxshard("evaluate " + run + " " + work + " --fold all --quiet").exit_code, 0);

  fs::remove(folder.images("imagesTs").at(1));  // the second channel of the first case
  const std::string less = folder / "less";
  EXPECT_EQ(run_voxshard("predict " + run + " " + data + "/imagesTs -o " + less + " --quiet").exit_code, 8);
  EXPECT_THAT(file_text(less + "/quarantine.csv"), HasSubstr(",E_MISSING,"));
}

TEST(ChannelsCli, ACutModelOfTwoChannelsIsTheUncutOne) {
  const CommandResult r = run_voxshard(
      "verify --channels 2 --base-filters 4 --depth 3 --size 16x16x16 --precision f32 --partition 1x2x2x1x1 --quiet");
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
}

TEST(ChannelsCli, ExplainShowsTheChannels) {
  const CommandResult r = run_voxshard("explain --stage graph --channels 3 --size 16x16x16 --base-filters 4 --depth 2");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("16x16x16x3"));
}

TEST(ChannelsCli, OptionsInHounsfieldUnitsWithoutACtAreRefused) {
  const TwoChannels folder("T1", "T2");
  expect_refusal("prepare " + folder.data() + " -o " + (folder / "work") + " --clip=-100,300", 2, "usage",
                 "none of the 2 channels is called CT");
}

}  // namespace
}  // namespace voxshard
