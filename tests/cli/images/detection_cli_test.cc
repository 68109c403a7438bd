// `demo --task detection` and `evaluate` on detections, as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

/// Returns the annotations as the results of a detector that found every object.
std::string perfect_results(const std::string& annotations) {
  const auto truth = nlohmann::json::parse(file_text(annotations));
  auto list = nlohmann::json::array();
  for (const auto& a : truth["annotations"])
    list.push_back(
        {{"image_id", a["image_id"]}, {"category_id", a["category_id"]}, {"bbox", a["bbox"]}, {"score", 0.5}});
  return list.dump();
}

TEST(DetectionCli, TheDemoSetScoresOneAgainstItself) {
  Folder folder("detection");
  const auto demo = run_voxshard("demo " + (folder / "set") + " --task detection --cases 3 --test 2 --json");
  ASSERT_EQ(demo.exit_code, 0) << demo.err;
  EXPECT_EQ(demo.json().at("test_cases"), 2);
  const std::string truth = folder / "set/annotations/instances_val.json";
  folder.write("found.json", perfect_results(truth));
  const std::string arguments = "evaluate " + (folder / "found.json") + " " + truth;
  const auto r = run_voxshard(arguments + " -o " + (folder / "out/summary.json") + " --curves " +
                              (folder / "out/curves.csv") + " --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_NEAR(r.json().at("AP").get<double>(), 1, 1e-6);
  auto scores = r.json();
  EXPECT_GT(scores.at("memory").at("planned_bytes"), 0);
  scores.erase("memory");  // not in the file
  EXPECT_EQ(nlohmann::json::parse(file_text(folder / "out/summary.json")), scores);
  EXPECT_THAT(file_text(folder / "out/curves.csv"), HasSubstr("class,iou,recall,precision"));
  const auto text = run_voxshard(arguments);
  EXPECT_THAT(text.out, HasSubstr("AP50"));
  EXPECT_THAT(text.out, HasSubstr("1.000"));
  EXPECT_THAT(text.out, HasSubstr("kidney"));
}

TEST(DetectionCli, ClassesOfWhichNothingWasFoundAreNamed) {
  Folder folder("detection_missed");
  folder.write("truth.json", R"({"images": [{"id": 1}], "categories": [{"id": 1, "name": "cell"},
      {"id": 2, "name": "vessel"}, {"id": 3, "name": "duct"}], "annotations": [
      {"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10]},
      {"image_id": 1, "category_id": 2, "bbox": [30, 30, 10, 10]}]})");
  folder.write("found.json", R"([{"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10], "score": 1}])");
  const auto r = run_voxshard("evaluate " + (folder / "found.json") + " " + (folder / "truth.json"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("\nmissed: vessel: AP50 0.000 over all\n"));
  EXPECT_THAT(r.out, testing::Not(HasSubstr("missed: cell")));
  EXPECT_THAT(r.out, testing::Not(HasSubstr("missed: duct"))) << "there is none of it";
}

TEST(DetectionCli, FrocByTheChosenRules) {
  Folder folder("detection_froc");
  folder.write("truth.json", R"({"images": [{"id": 1}, {"id": 2}], "categories": [{"id": 1, "name": "nodule"}],
      "annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 20, 20]},
                      {"image_id": 2, "category_id": 1, "bbox": [0, 0, 20, 20]}]})");
  folder.write("found.json", R"([{"image_id": 1, "category_id": 1, "bbox": [0, 0, 20, 20], "score": 0.9},
                                 {"image_id": 1, "category_id": 1, "bbox": [1, 0, 20, 20], "score": 0.8},
                                 {"image_id": 2, "category_id": 1, "bbox": [12, 0, 20, 20], "score": 0.7}])");
  const std::string words = "evaluate " + (folder / "found.json") + " " + (folder / "truth.json") + " ";
  const auto both = run_voxshard(words + "--metrics coco,froc -o " + (folder / "scores.json") + " --froc-curves " +
                                 (folder / "froc.csv") + " --json");
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_TRUE(both.json().contains("AP50"));
  const auto froc = both.json().at("froc");
  EXPECT_EQ(froc.at("sensitivity").at("0.25"), 0.5) << "IoU 0.25 hits; half of the way to (0.5, 0.5)";
  EXPECT_EQ(froc.at("sensitivity").at("8"), 1.0);
  EXPECT_THAT(froc.at("rule").get<std::string>(), HasSubstr("IoU >= 0.1"));
  EXPECT_THAT(file_text(folder / "froc.csv"), HasSubstr("\nnodule,0.7,0.5,1\n"));
  const auto luna = run_voxshard(words + "--metrics froc --froc-hit centre --froc-matching any --json").json();
  EXPECT_EQ(luna.at("froc").at("CPM"), 0.5) << "the centre (22, 10) lies outside, further hits count nowhere";
  EXPECT_EQ(luna.at("froc").at("sensitivity").at("0.25"), 0.5);
  const auto text = run_voxshard(words + "--metrics froc --froc-iou 0.3");
  EXPECT_THAT(text.out, HasSubstr("CPM"));
  EXPECT_EQ(text.out.find("AP50"), std::string::npos);
  EXPECT_THAT(run_voxshard(words + "--froc-iou 0.3").err, HasSubstr("--froc-iou has no effect"));
  for (const auto& [wrong, piece] :
       {std::pair("--metrics dice", "of detections expected some of coco,froc"),
        std::pair("--metrics froc --curves a.csv", "--curves is for the metric coco"),
        std::pair("--froc-curves a.csv", "--froc-curves is for the metric froc"),
        std::pair("--froc-iou 2", "--froc-iou"), std::pair("--froc-hit box", "iou,centre,both,either")}) {
    const auto r = run_voxshard(words + wrong);
    EXPECT_EQ(r.exit_code, 2) << wrong << "\n" << r.err;
    EXPECT_THAT(r.err, HasSubstr(piece)) << wrong;
  }
}

TEST(DetectionCli, EntriesLeftOutMakeAPartialResult) {
  Folder folder("detection_partial");
  folder.write("truth.json", R"({"images": [{"id": 1}], "categories": [{"id": 1, "name": "cell"}], "annotations": [
      {"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10]},
      {"image_id": 2, "category_id": 1, "bbox": [0, 0, 1, 1]}]})");
  folder.write("found.json", R"([{"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10], "score": 1}])");
  const auto r = run_voxshard("evaluate " + (folder / "found.json") + " " + (folder / "truth.json") + " --json");
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_EQ(r.json().at("failures").at(0).at("case"), "annotations[1]");
  EXPECT_NEAR(r.json().at("AP").get<double>(), 1, 1e-6);
  EXPECT_THAT(r.err, HasSubstr("annotations[1]: E_IMAGE"));
}

TEST(DetectionCli, BadFilesAndOptionsHaveTheirExitCodes) {
  Folder folder("detection_bad");
  folder.write("found.json", "[]");
  folder.write("broken.json", "{\"images\": [");
  const std::string found = folder / "found.json", broken = folder / "broken.json";
  EXPECT_EQ(run_voxshard("evaluate " + found + " " + (folder / "none.json")).exit_code, 3);
  const auto r = run_voxshard("evaluate " + found + " " + broken + " --json");
  EXPECT_EQ(r.exit_code, 3);
  EXPECT_THAT(r.json().at("error").at("message").get<std::string>(), HasSubstr("broken.json:1: is not valid JSON"));
  EXPECT_EQ(run_voxshard("evaluate " + found + " " + broken + " --png a.png").exit_code, 2);
  std::filesystem::create_directory(folder / "labels");
  EXPECT_EQ(run_voxshard("evaluate " + (folder / "labels") + " " + broken + " --curves a.csv").exit_code, 2);
  EXPECT_EQ(run_voxshard("demo " + (folder / "x") + " --task poetry").exit_code, 2);
}

}  // namespace
}  // namespace voxshard
