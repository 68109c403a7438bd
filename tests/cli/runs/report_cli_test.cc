// The page of a run as a user gets it: train writes it, report writes it again and compares runs, and replaces nothing
// but a page.
#include <filesystem>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

class ReportCli : public TrainedCli {};

TEST_F(ReportCli, WritesThePageOfARunAgain) {
  const std::string page = run() + "/report.html", of_train = file_text(page);
  EXPECT_THAT(of_train, HasSubstr("<!DOCTYPE html>"));
  std::filesystem::remove(page);
  const CommandResult r = run_voxshard("report " + run() + " --json");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("runs").at(0).at("steps"), 2);
  EXPECT_EQ(file_text(page), of_train) << "the files say the same";
  EXPECT_THAT(run_voxshard("report " + run()).out, HasSubstr("written: " + page));
}

TEST_F(ReportCli, ComparesSeveralRunsInAFileOfTheirOwn) {
  const Folder folder("compared");
  expect_refusal("report " + run() + " " + run(), 2, "usage", "say where it goes with -o");
  const std::string page = folder / "both.html";
  EXPECT_EQ(run_voxshard("report " + run() + " " + run() + " -o " + page).exit_code, 0);
  EXPECT_THAT(file_text(page), HasSubstr("2 runs compared"));
  EXPECT_EQ(run_voxshard("report " + run() + " -o " + page).exit_code, 0) << "a page replaces a page";
}

TEST_F(ReportCli, ReplacesNothingButAPageAndRefusesWhatIsNoRun) {
  const Folder folder("refused");
  folder.write("mine.html", "<!DOCTYPE html><p>mine");
  expect_refusal("report " + run() + " -o " + (folder / "mine.html"), 6, "output", "is not a report of voxshard");
  EXPECT_EQ(file_text(folder / "mine.html"), "<!DOCTYPE html><p>mine");
  expect_refusal("report " + run() + " -o " + (folder / "page.txt"), 2, "usage", "ends in .html");
  expect_refusal("report " + work() + " -o " + (folder / "page.html"), 3, "input", "holds no run of train");
  EXPECT_FALSE(std::filesystem::exists(folder / "page.html"));
}

TEST_F(ReportCli, OfPredictedVolumesWritesAContactSheet) {
  const Folder folder("sheet");
  const std::string pred = folder / "pred", images = data() + "/imagesTr";
  std::filesystem::copy(images, folder / "scans");
  const CommandResult predicted = run_voxshard("predict " + run() + " " + (folder / "scans") + " -o " + pred);
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_THAT(predicted.out, HasSubstr("next: voxshard report " + pred + " --images " + (folder / "scans")))
      << "there are no labels to evaluate it on";
  const CommandResult alone = run_voxshard("report " + pred);
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("2 of 2 label maps, 0 with their image"));
  EXPECT_THAT(alone.out, HasSubstr("--images names their folder"));
  EXPECT_THAT(file_text(pred + "/report.html"), HasSubstr("This page shows patients."));
  const CommandResult r = run_voxshard("report " + pred + " --images " + images + " --json");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("with_image"), 2);
  EXPECT_EQ(r.json().at("volumes").size(), 8u) << "four classes of two cases";
  EXPECT_EQ(run_voxshard("predict " + run() + " " + (folder / "scans") + " -o " + pred + " --quiet").exit_code, 0)
      << "a sheet in the folder is in nobody's way";
  std::filesystem::resize_file(pred + "/phantom_000.nii.gz", 100);
  EXPECT_EQ(run_voxshard("report " + pred + " --json").exit_code, 8) << "a torn label map costs itself";
}

TEST_F(ReportCli, RefusesImagesOfARunAndPredictionsWithoutASheet) {
  const Folder folder("no_sheet");
  expect_refusal("report " + run() + " --images " + data(), 2, "usage",
                 "--images is for a folder of predicted volumes");
  folder.write("found.json", R"({"task": "classification", "classes": ["a", "b"], "predictions": []})");
  expect_refusal("report " + (folder / "found.json"), 2, "usage", "have no contact sheet");
}

}  // namespace
}  // namespace voxshard
