// The fingerprint in the folder of a run: numbers over all cases, nothing of one.
#include "pipelines/tasks/segmentation/dataset/fingerprint_summary.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

const nlohmann::json kThree = nlohmann::json::parse(R"({"cases": 3, "foreground_hu": {"mean": -3.5}, "per_case": [
  {"case": "secret_1", "size": [10, 40, 5], "spacing_mm": [1, 2, 3], "orientation": "LPS", "voxels": {"background": 90, "b": 0, "a": 10}},
  {"case": "secret_2", "size": [30, 20, 5], "spacing_mm": [0.5, 2, 1], "orientation": "RAS", "voxels": {"background": 195, "b": 5, "a": 0}},
  {"case": "secret_3", "size": [20, 30, 8], "spacing_mm": [0.7, 2, 2], "orientation": "LPS", "voxels": {"background": 80, "b": 5, "a": 15}}]})");

TEST(FingerprintSummary, HasRangesOrientationsAndClassesInTheirOrder) {
  const auto summary = fingerprint_summary(kThree, {"background", "b", "a"});
  EXPECT_EQ(summary.dump(),
            R"({"cases":3,"size":{"least":[10.0,20.0,5.0],"median":[20.0,30.0,5.0],"most":[30.0,40.0,8.0]},)"
            R"("spacing_mm":{"least":[0.5,2.0,1.0],"median":[0.7,2.0,2.0],"most":[1.0,2.0,3.0]},)"
            R"("orientations":{"LPS":2,"RAS":1},"classes":[{"name":"background","cases":3,"share_of_voxels":0.9125},)"
            R"({"name":"b","cases":2,"share_of_voxels":0.025},{"name":"a","cases":2,"share_of_voxels":0.0625}],)"
            R"("foreground_hu":{"mean":-3.5}})");
  EXPECT_EQ(summary.dump().find("secret"), std::string::npos);
}

TEST(FingerprintSummary, OfAFolderWithoutOneNothingIsWritten) {
  const ScratchFolder folder;
  const std::filesystem::path work = folder.path() / "work", run = folder.path() / "run";
  std::filesystem::create_directories(work), std::filesystem::create_directories(run);
  for (const char* text : {"", "{}", "[1", R"({"per_case": [{"size": 3}]})"}) {
    if (*text != 0) std::ofstream(work / "fingerprint.json") << text;
    write_fingerprint_summary(work, {"background"}, run);
    EXPECT_TRUE(std::filesystem::is_empty(run)) << text;
  }
  std::ofstream(work / "fingerprint.json") << kThree;
  write_fingerprint_summary(work, {"background", "a", "b"}, run);
  EXPECT_TRUE(std::filesystem::exists(run / "fingerprint.json"));
}

}  // namespace
}  // namespace voxshard
