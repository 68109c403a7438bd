// predict --recursive as a night uses it: one line a case, a summary, a dry run, and a stop that says how it goes on.
#include "tests/cli/process.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RecursiveCli : public TrainedCli {
 protected:
  void put(const std::string& place) const {
    fs::create_directories(fs::path(inbox() + "/" + place).parent_path());
    fs::copy_file(data() + "/imagesTs/phantom_002_0000.nii.gz", inbox() + "/" + place);
  }
  std::string inbox() const { return scene_ / "inbox"; }
  std::string predict() const { return "predict " + run() + " " + inbox() + " --recursive -o " + (scene_ / "out"); }

  Folder scene_{"recursive"};
};

TEST_F(RecursiveCli, ANightSaysOneLineACaseAndASummaryAndNoFolder) {
  put("MEIER/AUFNAHME.nii.gz"), put("HUBER/deep/AUFNAHME.nii.gz");
  std::ofstream(inbox() + "/HUBER/brief.pdf") << "foreign";
  const json rehearsed = run_voxshard(predict() + " --dry-run --json").json();
  EXPECT_FALSE(fs::exists(scene_ / "out"));
  EXPECT_EQ(rehearsed.at("planned").size(), 2u);
  EXPECT_THAT(rehearsed.at("time_from").get<std::string>(), testing::AnyOf("host", "none"));

  const CommandResult night = run_voxshard(predict() + " --json");
  EXPECT_EQ(night.exit_code, 0) << night.err;
  for (const char* line :
       {"case case_0001: predicted in ", "case case_0002: predicted in ", "left out: 1 file that is no input (1 .pdf)"})
    EXPECT_THAT(night.err, HasSubstr(line));
  EXPECT_THAT(night.out + night.err, AllOf(Not(HasSubstr("MEIER")), Not(HasSubstr("HUBER")), Not(HasSubstr("brief"))));
  EXPECT_EQ(night.json().at("summary"),
            json({{"inputs", 2}, {"predicted", 2}, {"kept", 0}, {"left_out", 0}, {"not_reached", 0}}));
  EXPECT_EQ(night.json().at("foreign").at("files"), 1);
  const CommandResult again = run_voxshard(predict());
  EXPECT_THAT(again.err, HasSubstr("case case_0002: kept, predicted by an earlier call"));
  const json later = run_voxshard(predict() + " --dry-run --json").json();
  EXPECT_EQ(later.at("time_from"), "earlier");
  expect_refusal("predict " + run() + " " + inbox() + "/MEIER/AUFNAHME.nii.gz --recursive -o " + (scene_ / "one"), 2,
                 "usage", "--recursive is about folders");
}

TEST_F(RecursiveCli, AStopSaysWhatRemainsAndTheCommandThatGoesOn) {
  for (int i = 0; i < 60; ++i) put("patient" + std::to_string(i) + "/image.nii.gz");
  Process p(predict() + " --json");
  ASSERT_TRUE(p.read_until(": predicted in "));
  p.send(SIGTERM);
  const CommandResult stopped = p.wait();
  EXPECT_EQ(stopped.exit_code, 143) << stopped.err;
  const json report = stopped.json();
  EXPECT_TRUE(report.at("interrupted").get<bool>());
  const std::int64_t remain = report.at("summary").at("not_reached"), done = report.at("summary").at("predicted");
  EXPECT_GT(remain, 0);
  EXPECT_GT(done, 0);
  EXPECT_EQ(remain + done, 60);
  EXPECT_EQ(report.at("next"), "voxshard " + predict() + " --json");
  const json rest = run_voxshard(predict() + " --json").json();
  EXPECT_EQ(rest.at("kept"), done);
  EXPECT_EQ(rest.at("summary").at("predicted"), remain);
}

TEST_F(RecursiveCli, PrepareAndEvaluateHaveADryRunToo) {
  const CommandResult prepared =
      run_voxshard("prepare " + data() + " -o " + (scene_ / "work") + " --spacing 8,8,8 --dry-run");
  EXPECT_EQ(prepared.exit_code, 0) << prepared.err;
  EXPECT_THAT(prepared.out, HasSubstr("dry run: 2 would be prepared, 0 kept, 0 left out; at most "));
  EXPECT_THAT(prepared.out, Not(HasSubstr("next:")));
  EXPECT_FALSE(fs::exists(scene_ / "work"));
  const std::string labels = data() + "/labelsTr";
  EXPECT_EQ(run_voxshard("evaluate " + labels + " " + labels + " --dry-run --json").json().at("planned").size(), 2u);
  EXPECT_EQ(
      run_voxshard("prepare " + data() + " -o " + (scene_ / "work") + " --dry-run --json").json().at("planned").size(),
      2u);
}

}  // namespace
}  // namespace voxshard
