// Several channels from the command line: listed, prepared, trained, predicted and scored; what is lacking is said.
#include <regex>

#include "tests/cli/data/planted_scan.h"
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

TEST(ChannelsCli, SeriesAreTheChannelsThatTheirFoldersOrArchivesAreNamedAs) {
  const TwoChannels folder;
  const std::string run = folder / "run", tree = folder / "tree", zips = folder / "zips";
  ASSERT_EQ(run_voxshard("prepare " + folder.data() + " -o " + (folder / "work") + " --spacing 8,8,8 -q").exit_code, 0);
  ASSERT_EQ(run_voxshard("train " + (folder / "work") + " -o " + run + " --base-filters 4 --depth 3 --precision f32 " +
                         "--crop 16x16x16 --steps 2 --fold all -q")
                .exit_code,
            0);
  fs::create_directories(zips), fs::create_directories(folder / "files");
  for (const std::string channel : {"0", "1"}) {
    const PlantedScan scan{.series = "1.2.840.99.77." + channel, .kernel = channel == "0" ? "B30f" : "B70f"};
    write_planted_scan(tree + "/Planted_000" + channel, scan);
    folder.write("zips/Planted_000" + channel + ".zip", archive_bytes("zip", planted_scan(scan, true)));
    ASSERT_EQ(run_voxshard("convert " + tree + "/Planted_000" + channel + " -o " + (folder / "files") + "/a_000" +
                           channel + ".nii")
                  .exit_code,
              0);
  }
  ASSERT_EQ(run_voxshard("predict " + run + " " + (folder / "files") + " -o " + (folder / "of_files")).exit_code, 0);
  int number = 0;
  for (const std::string& input : {tree, zips, tree + "/Planted_0001"}) {
    const std::string out = folder / ("out" + std::to_string(number++));
    const CommandResult r = run_voxshard("predict " + run + " " + input + " -o " + out);
    ASSERT_EQ(r.exit_code, 0) << input << r.err;
    EXPECT_EQ(file_text(out + "/case_0001.nii.gz"), file_text(folder / "of_files/a.nii.gz")) << input;
    EXPECT_FALSE(fs::exists(out + "/case_0002.nii.gz"));
    fs::remove(out + "/case_paths.jsonl");
    expect_nobody_in(out);
  }
  const CommandResult named =
      run_voxshard("predict " + run + " " + tree + " -o " + (folder / "named") + " --keep-names");
  ASSERT_EQ(named.exit_code, 0) << named.err;
  EXPECT_TRUE(fs::exists(folder / "named/Planted.nii.gz"));

  // Without such names, and where a channel lacks.
  fs::rename(tree + "/Planted_0001", tree + "/pet");
  const CommandResult lacks = run_voxshard("predict " + run + " " + tree + " -o " + (folder / "lacks"));
  EXPECT_EQ(lacks.exit_code, 4) << lacks.err;
  const std::string listed = file_text(folder / "lacks/quarantine.csv");
  EXPECT_THAT(listed, HasSubstr("the channel 1 (PET) is missing; expected a folder or archive CASE_0001"));
  EXPECT_THAT(listed, HasSubstr("the run reads the 2 channels CT, PET; name the folders or archives"));
  expect_nobody(listed), expect_nobody(lacks.out);
}

TEST(ChannelsCli, AlongAnAxisOfNrrdAndMetaImageTheyArePreparedAndPredicted) {
  const Folder folder("channel_files");
  std::string nrrd =
                  "NRRD0004\ntype: short\ndimension: 4\nsizes: 2 16 16 16\nspace: left-posterior-superior\n"
                  "space directions: none (2,0,0) (0,2,0) (0,0,2)\nkinds: list domain domain domain\nencoding: raw\n"
                  "endian: little\n\n",
              mha =
                  "NDims = 3\nDimSize = 16 16 16\nElementSpacing = 2 2 2\nElementNumberOfChannels = 2\n"
                  "ElementType = MET_SHORT\nElementDataFile = LOCAL\n",
              label =
                  "NDims = 3\nDimSize = 16 16 16\nElementSpacing = 2 2 2\nElementType = MET_UCHAR\n"
                  "ElementDataFile = LOCAL\n";
  for (int i = 0; i < 16 * 16 * 16; ++i) {
    const bool inside = i % 16 > 5 && i / 16 % 16 > 5;
    for (const int value : {inside ? 60 + i % 3 : -200, i % 7})
      for (std::string* file : {&nrrd, &mha}) *file += {static_cast<char>(value), static_cast<char>(value >> 8)};
    label += inside ? '\1' : '\0';
  }
  for (const char* part : {"set/imagesTr", "set/labelsTr"}) fs::create_directories(folder / part);
  folder.write("set/imagesTr/a.nrrd", nrrd), folder.write("set/imagesTr/b.mha", mha);
  folder.write("set/labelsTr/a.mha", label), folder.write("set/labelsTr/b.mha", label);
  folder.write("set/dataset.json", R"({"name": "two", "modality": {"0": "CT", "1": "PET"}, "labels": {"0": "background",
      "1": "x"}, "training": [{"image": "./imagesTr/a.nrrd", "label": "./labelsTr/a.mha"},
      {"image": "./imagesTr/b.mha", "label": "./labelsTr/b.mha"}], "test": []})");
  const std::string work = folder / "work", run = folder / "run", out = folder / "out";
  const CommandResult prepared = run_voxshard("prepare " + (folder / "set") + " -o " + work);
  ASSERT_EQ(prepared.exit_code, 0) << prepared.err;
  EXPECT_THAT(prepared.out, HasSubstr("2 prepared"));
  EXPECT_EQ(file_text(work + "/labels/a.nii"), file_text(work + "/labels/b.nii"));
  ASSERT_EQ(run_voxshard("train " + work + " -o " + run + " --base-filters 4 --depth 3 --crop 8x8x8 --steps 2 " +
                         "--fold all -q")
                .exit_code,
            0);
  const CommandResult r = run_voxshard("predict " + run + " " + (folder / "set/imagesTr") + " -o " + out);
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(file_text(out + "/a.nii.gz"), file_text(out + "/b.nii.gz")) << "the same channels in two formats";
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
