// Malicious files, as a user meets them: a batch leaves the file out, gives the reason in quarantine.csv and goes on.
#include "tests/cli/large_volume.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

/// Runs voxshard with its address space limited to `mebibytes`.
CommandResult run_within(std::int64_t mebibytes, const std::string& arguments) {
  Folder streams("limited");
  const std::string command =
      "ulimit -v " + std::to_string(mebibytes * 1024) + " && " + VOXSHARD_BINARY + " " + arguments;
  const int status = std::system((command + " >" + (streams / "out") + " 2>" + (streams / "err")).c_str());
  CommandResult result{
      .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), .out = {}, .err = {}};
  result.out = file_text(streams / "out"), result.err = file_text(streams / "err");
  return result;
}

class Hostile : public TrainedCli {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    limited_ = false;  // the sanitizer itself takes all of the address space
#endif
  }
  bool limited_ = true;
};

TEST_F(Hostile, ABombInADataSetCostsItsCase) {
  if (!limited_) GTEST_SKIP() << "under AddressSanitizer address space cannot be limited";
  Folder folder("bomb");
  fs::copy(data(), folder / "data", fs::copy_options::recursive);
  write_bomb(folder / "data/imagesTr/phantom_001_0000.nii.gz", 1000, 1000, 600);
  write_bomb(folder / "data/labelsTr/phantom_001.nii.gz", 1000, 1000, 600);
  const std::string prepare = "prepare " + (folder / "data") + " -o ";
  CommandResult r = run_within(2500, prepare + (folder / "work") + " --spacing 8,8,8 --json");
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_EQ(r.json().at("prepared"), 1);
  EXPECT_THAT(file_text(folder / "work/quarantine.csv"), HasSubstr("phantom_001,E_BUDGET"));
  EXPECT_THAT(file_text(folder / "work/quarantine.csv"), HasSubstr("would fit"));
  r = run_within(2500, prepare + (folder / "believed") + " --spacing 8,8,8 --host-memory 64GiB --json");
  EXPECT_EQ(r.exit_code, 8) << "the system refuses what the option promised: " << r.err;
  EXPECT_EQ(r.json().at("prepared"), 1);
  EXPECT_THAT(file_text(folder / "believed/quarantine.csv"), HasSubstr("phantom_001,E_MEMORY"));
}

TEST_F(Hostile, AGiantImageCostsItselfInPrediction) {
  Folder folder("giant");
  fs::create_directories(folder / "in");
  fs::copy(data() + "/imagesTs/phantom_002_0000.nii.gz", folder / "in");
  write_bomb(folder / "in/giant_0000.nii.gz", 800, 800, 400);
  const std::string predict = "predict " + run() + " " + (folder / "in") + " -o ";
  CommandResult r = run_voxshard(predict + (folder / "out") + " --host-memory 512MiB --json");
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_EQ(r.json().at("cases").size(), 1u);
  EXPECT_THAT(file_text(folder / "out/quarantine.csv"), HasSubstr("giant,E_BUDGET"));
  r = run_voxshard(predict + (folder / "few") + " --most-voxels 1000000 --json");
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_THAT(file_text(folder / "few/quarantine.csv"), HasSubstr("more than the 1000000"));
}

TEST_F(Hostile, AnImageWhoseOwnPlanIsOverTheBudgetCostsItself) {
  Folder folder("overbudget");
  fs::create_directories(folder / "in");
  fs::copy(data() + "/imagesTs/phantom_002_0000.nii.gz", folder / "in");
  write_bomb(folder / "in/giant_0000.nii.gz", 512, 512, 300);
  const CommandResult r =
      run_voxshard("predict " + run() + " " + (folder / "in") + " -o " + (folder / "out") + " --memory 16MiB --json");
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_EQ(r.json().at("cases").size(), 1u);
  EXPECT_THAT(file_text(folder / "out/quarantine.csv"), HasSubstr("giant,E_BUDGET"));
  EXPECT_THAT(file_text(folder / "out/quarantine.csv"), HasSubstr("A size that fits"));
}

TEST_F(Hostile, NamesInADataSetLeadNowhere) {
  Folder folder("names");
  fs::copy(data(), folder / "data", fs::copy_options::recursive);
  nlohmann::json json = nlohmann::json::parse(file_text(folder / "data/dataset.json"));
  for (const std::string& id : {std::string("fine"), std::string("../../escaped"), folder / "outside"})
    json["dataset"][id] = {{"images", nlohmann::json::array({"imagesTr/phantom_000_0000.nii.gz"})},
                           {"label", "labelsTr/phantom_000.nii.gz"}};
  folder.write("data/dataset.json", json.dump());
  const CommandResult r = run_voxshard("prepare " + (folder / "data") + " -o " + (folder / "work") + " --json");
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_EQ(r.json().at("prepared"), 1);
  EXPECT_THAT(file_text(folder / "work/quarantine.csv"), HasSubstr("../../escaped,E_NAME"));
  for (const auto& entry : fs::directory_iterator(folder / ""))
    EXPECT_TRUE(entry.path().filename() == "data" || entry.path().filename() == "work") << entry.path();
}

TEST_F(Hostile, InfoReadsThroughWhatItCallsReadable) {
  Folder folder("info");
  const std::string file = folder / "a.nii.gz";
  fs::copy(data() + "/imagesTr/phantom_000_0000.nii.gz", file);
  EXPECT_EQ(run_voxshard("info " + file).exit_code, 0);
  fs::resize_file(file, 4000);
  CommandResult r = run_voxshard("info " + file + " --json");
  EXPECT_EQ(r.exit_code, 3) << r.err;
  EXPECT_EQ(r.json().at("files").at(0).at("readable"), false);
  EXPECT_THAT(r.json().at("failures").at(0).at("message").get<std::string>(), HasSubstr("truncated"));
  EXPECT_EQ(run_voxshard("info " + file + " --quick").exit_code, 0)
      << "only the header is looked at when that is asked";
  fs::copy(data() + "/imagesTr/phantom_000_0000.nii.gz", folder / "b.nii.gz");
  EXPECT_EQ(run_voxshard("info " + (folder / "")).exit_code, 8);
}

TEST_F(Hostile, MirroringSidesIsSaidBeforeTraining) {
  Folder folder("sides");
  fs::copy(data(), folder / "data", fs::copy_options::recursive);
  nlohmann::json set = nlohmann::json::parse(file_text(folder / "data/dataset.json"));
  nlohmann::json labels = nlohmann::json::object();
  for (const auto& [name, number] : set["labels"].items())
    labels[number == 1 ? "kidney_left" : number == 2 ? "kidney_right" : name] = number;
  set["labels"] = labels;
  folder.write("data/dataset.json", set.dump());
  ASSERT_EQ(
      run_voxshard("prepare " + (folder / "data") + " -o " + (folder / "work") + " --spacing 8,8,8 --quiet").exit_code,
      0);
  const std::string train =
      "train " + (folder / "work") + " -o " + (folder / "run") + kModel + kTraining + "--restart ";
  const CommandResult sides = run_voxshard(train + "--flip W --sides keep --quiet"),
                      others = run_voxshard(train + "--flip DH"), chosen = run_voxshard(train + "--flip W");
  EXPECT_EQ(sides.exit_code, 0) << sides.err;
  EXPECT_THAT(sides.err, HasSubstr("W_MIRROR --flip swaps left and right"))
      << "a warning is shown to whom wants no log, too";
  EXPECT_EQ(chosen.exit_code, 0) << chosen.err;
  EXPECT_THAT(chosen.err, HasSubstr("chosen: --sides auto (kidney_left and kidney_right differ in their side alone"));
  EXPECT_THAT(chosen.err, HasSubstr("kidney_left and kidney_right stay two classes: "));
  EXPECT_THAT(chosen.err, HasSubstr("W_MIRROR --flip is off along the axis from left to right"));
  EXPECT_EQ(others.exit_code, 0) << others.err;
  EXPECT_THAT(others.err, Not(HasSubstr("W_MIRROR")));
}

}  // namespace
}  // namespace voxshard
