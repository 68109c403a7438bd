// predict --rules: a dry run checks the file and says of an inbox what would be taken, left alone and waited for; a
// second watcher is refused; a stopped one reports what it left alone.
#include <regex>

#include "tests/cli/process.h"
#include "tests/cli/trained_cli.h"
#include "tests/io/study_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class RulesCli : public TrainedCli {
 protected:
  RulesCli() {
    scene_.write("rules.toml", "[studies]\nmodality = [\"CT\"]\n[receive]\nkeep_days = 7\n");
    StudySeries ct{.series = "1.2.840.77.1.4", .patient = "Planted^Name"};
    ct.side = 48, ct.slices = 12, ct.step_mm = 8;
    write_series(fs::path(inbox()) / "st_1.2.840.77.1", ct);
    StudySeries mr = ct;
    mr.study = "1.2.840.77.2", mr.series = "1.2.840.77.2.4", mr.modality = "MR";
    write_series(fs::path(inbox()) / "st_1.2.840.77.2", mr);
  }
  std::string inbox() const { return scene_ / "inbox"; }
  std::string watch(const std::string& more = "") const {
    return "predict " + run() + " --watch " + inbox() + " --done " + (scene_ / "done") + " --rules " +
           (scene_ / "rules.toml") + " -o " + (scene_ / "out") + " " + more;
  }

  Folder scene_{"rules_cli"};
};

TEST_F(RulesCli, ADryRunSaysWhatWouldBeTakenAndWritesNothing) {
  const CommandResult r = run_voxshard(watch("--quiet-for 0 --dry-run --json"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("planned").size(), 1u);
  EXPECT_EQ(r.json().at("left_alone"), (nlohmann::json{{"series", 1}, {"studies", 1}, {"by_rule", {{"modality", 1}}}}));
  EXPECT_THAT(r.out + r.err, Not(HasSubstr("Planted")));
  EXPECT_FALSE(fs::exists(scene_ / "out"));
  EXPECT_FALSE(fs::exists(scene_ / "done"));
  const CommandResult early = run_voxshard(watch("--quiet-for 3600 --dry-run --json"));
  EXPECT_EQ(early.json().at("arrivals").at("incomplete"), 2);
  EXPECT_EQ(scene_.files(), 2u) << "the inbox and the rules";
}

TEST_F(RulesCli, AFileOfRulesThatIsWrongIsRefusedByTableAndKey) {
  scene_.write("rules.toml", "[studies]\nslices = [40, 20]\n");
  expect_refusal(watch("--dry-run"), 5, "config", "studies.slices has its least above its most");
  scene_.write("rules.toml", "[receive]\nport = 0\n");
  expect_refusal(watch("--dry-run"), 5, "config", "receive.port holds no whole number of 1 to 65535");
}

TEST_F(RulesCli, AWatcherLeavesAloneWhatTheRulesDoNotChooseAndIsTheOnlyOne) {
  Process service(watch("--quiet-for 0 --json"));
  ASSERT_TRUE(service.read_until("predict 1/1"));
  const std::string other = std::regex_replace(watch(), std::regex("/out "), "/another ");
  expect_refusal(other, 6, "output", "inbox is in use by another voxshard (process ");
  service.send(SIGTERM);
  const CommandResult ended = service.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.json().at("cases").size(), 1u);
  EXPECT_EQ(ended.json().at("left_alone").at("studies"), 1);
  EXPECT_TRUE(fs::is_empty(inbox()));
  EXPECT_TRUE(fs::exists(scene_ / "done/st_1.2.840.77.2"));
}

}  // namespace
}  // namespace voxshard
