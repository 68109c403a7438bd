// Folders of DICOM series, one for each class, through all commands: trained, predicted and scored, and named by ids.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/run_voxshard.h"
#include "tests/io/archive_files.h"
#include "tests/io/study_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

TEST(SeriesClassesCli, AreTrainedPredictedAndScored) {
  const Folder folder("series_classes");
  int number = 0;
  for (const char* part : {"train", "test"})
    for (const char* of_class : {"thick", "thin"})
      for (const char* person : {"PLANTED_A", "PLANTED_B"}) {
        const std::string uid = "1.2.840.4711." + std::to_string(++number);
        StudySeries ct{.study = uid, .series = uid + ".4", .frame = uid + ".9", .side = 16, .slices = 8};
        if (of_class == std::string("thin")) ct.slices = 16, ct.step_mm = 1;
        write_series(fs::path(folder / "scans") / part / of_class / person, ct);
      }
  const std::string scans = folder / "scans", run = folder / "run", found = folder / "found.json";
  const CommandResult trained = run_voxshard("train " + scans + " -o " + run +
                                             " --model resnet3d18 --base-filters 2 --steps 3 --precision f32 -q");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const CommandResult predicted = run_voxshard("predict " + run + " " + scans + " -o " + found);
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  const CommandResult scores = run_voxshard("evaluate " + found + " " + scans + " --json");
  ASSERT_EQ(scores.exit_code, 0) << scores.err;
  const nlohmann::json predictions = nlohmann::json::parse(file_text(found));
  ASSERT_EQ(predictions.at("predictions").size(), 4u) << "the series of the test part";
  const nlohmann::json classes = scores.json().at("classes"), confusion = scores.json().at("confusion");
  double right = 0;
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_EQ(classes.at(c).at("name"), c == 0 ? "thick" : "thin");
    EXPECT_EQ(classes.at(c).at("items"), 2);
    right += confusion.at(c).at(c).get<int>();
    int found_here = 0, confused = 0;
    for (const nlohmann::json& row : predictions.at("predictions")) {
      EXPECT_THAT(row.at("file").get<std::string>(), HasSubstr("ct_"));
      found_here += row.at("class") == classes.at(c).at("name");
    }
    for (std::size_t truth = 0; truth < 2; ++truth) confused += confusion.at(truth).at(c).get<int>();
    EXPECT_EQ(confused, found_here) << "the scores are of these predictions";
  }
  EXPECT_DOUBLE_EQ(scores.json().at("accuracy"), right / 4);
  for (const std::string& text : {predicted.out, predicted.err, scores.out, scores.err, file_text(found)})
    for (const char* planted : {"PLANTED", "1.2.840.4711"}) EXPECT_THAT(text, Not(HasSubstr(planted)));
}

TEST(SeriesClassesCli, OfArchivesAreTrainedPredictedAndScoredLikeThoseOfFolders) {
  const Folder folder("archive_classes");
  int number = 0;
  for (const std::string part : {"train", "test"})
    for (const std::string of_class : {"thick", "thin"})
      for (const std::string person : {"PLANTED_A", "PLANTED_B"}) {
        const std::string uid = "1.2.840.4711." + std::to_string(++number),
                          below = part + "/" + of_class + "/" + person;
        StudySeries ct{.study = uid, .series = uid + ".4", .frame = uid + ".9", .side = 16, .slices = 8};
        if (of_class == "thin") ct.slices = 16, ct.step_mm = 1;
        write_series(folder / ("scans/" + below), ct);
        std::vector<PackedEntry> files;
        for (const auto& file : fs::directory_iterator(folder / ("scans/" + below)))
          files.push_back({"PLANTED/" + file.path().filename().string(), file_text(file.path())});
        std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
        fs::create_directories(fs::path(folder / ("zips/" + below)).parent_path());
        const std::string kind = person == "PLANTED_A" ? "zip" : "tar.gz";
        folder.write("zips/" + below + "." + kind, archive_bytes(kind, files));
      }
  std::vector<std::string> predictions;
  std::string printed;
  for (const std::string data : {"scans", "zips"}) {
    const std::string run = folder / (data + "_run"), found = folder / (data + "_found.json");
    const CommandResult trained = run_voxshard("train " + (folder / data) + " -o " + run +
                                               " --model resnet3d18 --base-filters 2 --steps 3 --precision f32 -q");
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
    const CommandResult predicted = run_voxshard("predict " + run + " " + (folder / data) + " -o " + found);
    ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
    const CommandResult scores = run_voxshard("evaluate " + found + " " + (folder / data) + " --json");
    ASSERT_EQ(scores.exit_code, 0) << scores.err;
    EXPECT_EQ(run_voxshard("evaluate " + run + " " + (folder / data)).exit_code, 0);
    predictions.push_back(nlohmann::json::parse(file_text(found)).at("predictions").dump());
    printed += trained.out + trained.err + predicted.out + predicted.err + scores.out + scores.err + file_text(found);
  }
  EXPECT_EQ(predictions[1], predictions[0]);
  const CommandResult resumed = run_voxshard("train --resume " + (folder / "zips_run") + " --steps 4 -q");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const CommandResult one = run_voxshard("predict " + (folder / "zips_run") + " " + (folder / "zips/test/thin") +
                                         " -o " + (folder / "one.json") + " --json");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(one.json().at("cases").size(), 2u) << "a folder of archives";
  EXPECT_THAT(printed + one.out + one.err + resumed.err, Not(HasSubstr("PLANTED")));
}

TEST(SeriesClassesCli, ThatAreIrregularAreLeftOutOrResampled) {
  const Folder folder("series_classes");
  int number = 0;
  for (const char* part : {"train", "test"})
    for (const char* of_class : {"thick", "thin"})
      for (const char* person : {"A", "B"}) {
        const std::string uid = "1.2.840.4711." + std::to_string(++number);
        const fs::path series = fs::path(folder / "scans") / part / of_class / person;
        write_series(series, {.study = uid, .series = uid + ".4", .frame = uid + ".9", .side = 16, .slices = 8});
      }
  for (const char* part : {"train", "test"})
    for (const char* of_class : {"thick", "thin"}) {
      const fs::path series = fs::path(folder / "scans") / part / of_class / "B";
      std::set<fs::path> slices(fs::directory_iterator(series), {});
      fs::remove(*std::next(slices.begin(), 3));
    }
  const std::string scans = folder / "scans", run = folder / "run", resample = " --irregular-slices resample",
                    train = "train " + scans + " -o " + run +
                            " --model resnet3d18 --base-filters 2 --steps 1 --precision f32";
  run_voxshard(train);
  EXPECT_THAT(file_text(run + "/quarantine.csv"), HasSubstr("E_GAP"));
  fs::remove_all(run);
  const CommandResult trained = run_voxshard(train + resample);
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(file_text(run + "/quarantine.csv"), Not(HasSubstr("E_GAP")));
  const std::string predict = "predict " + run + " " + scans + " -o " + (folder / "found.json") + " --json";
  EXPECT_EQ(run_voxshard(predict).exit_code, 8);
  const CommandResult predicted = run_voxshard(predict + resample);
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_EQ(run_voxshard("evaluate " + run + " " + scans + resample).exit_code, 0);
  EXPECT_EQ(run_voxshard("evaluate " + run + " " + scans).exit_code, 8);
}

}  // namespace
}  // namespace voxshard
