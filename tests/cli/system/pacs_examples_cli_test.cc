// The files of data/examples/pacs as a hospital installs them: the commands of the units and of crontab, with the
// variables of pacs.env, are those that voxshard and loop.py take, and rules.toml is right for both.
#include <regex>

#include "tests/cli/process.h"
#include "tests/cli/trained_cli.h"
#include "tests/io/study_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  EXPECT_THAT(text, HasSubstr(from));
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

class PacsExamplesCli : public TrainedCli {
 protected:
  PacsExamplesCli() {
    for (const char* folder : {"bin", "inbox"}) fs::create_directories(scene_ / folder);
    std::string variables = replaced(file_text(examples() + "pacs.env"), "=/srv/voxshard/run\n", "=" + run() + "\n");
    for (const char* folder : {"=/srv/voxshard/", "=/var/log/voxshard/"})
      variables = replaced(variables, folder, "=" + (scene_ / ""));
    for (const char* folder : {"=/etc/voxshard/", "=/usr/share/voxshard/examples/pacs/"})
      variables = replaced(variables, folder, "=" + examples());
    scene_.write("pacs.env", variables);
  }
  static std::string examples() { return std::string(VOXSHARD_SOURCE_DIR) + "/data/examples/pacs/"; }

  /// Returns the shell command that `line` matches in a file of the examples.
  static std::string command(const std::string& file, const std::string& line) {
    const std::string text = file_text(examples() + file);
    std::smatch found;
    EXPECT_TRUE(std::regex_search(text, found, std::regex(line))) << file << ": " << line;
    return found[1].str();
  }
  static std::string unit(const std::string& name) {
    return "set -a; . " + command(name, "\nEnvironmentFile=(.*)\n") + "; " +
           command(name, "\nExecStart=/bin/sh -c '(.*)'\n");
  }
  /// `begins`: what stands before the command; `word`: one of its words.
  static std::string cron(const std::string& begins, const std::string& word) {
    return command("crontab", "\n" + begins + " (.* " + word + " .*)\n");
  }
  /// Runs a shell command with the program and the variables of this test; a variable that pacs.env lacks is an error.
  std::string shell(const std::string& command) const {
    const std::string words = replaced(command, "/etc/voxshard/pacs.env", scene_ / "pacs.env");
    return "env PATH=" + (scene_ / "bin") + ":$PATH sh -uc '" + words + "'";
  }
  CommandResult run_shell(const std::string& command) const { return Process("", 0, shell(command)).wait(); }
  /// The watcher begins at once with what has arrived.
  std::string at_once(const std::string& watch) const {
    return replaced(replaced(watch, "--quiet-for 60", "--quiet-for 0"), "voxshard predict ",
                    VOXSHARD_BINARY " predict ");
  }

  /// Receives a CT that rules.toml chooses, and an MR that it leaves alone.
  void receive() const {
    StudySeries ct{.kernel = "B30f", .patient_id = "P-1"};
    ct.side = 48, ct.slices = 40;
    write_series(fs::path(scene_ / "inbox") / "study_1", ct);
    StudySeries mr = ct;
    mr.study += "1", mr.series += "1", mr.modality = "MR";
    write_series(fs::path(scene_ / "inbox") / "study_2", mr);
  }
  /// Puts a program on PATH that notes its words and fails with 61.
  void failing_program(const std::string& name) const {
    scene_.write("bin/" + name, "#!/bin/sh\necho \"" + name + " $*\" >>" + (scene_ / "calls") + "\nexit 61\n");
    fs::permissions(scene_ / ("bin/" + name), fs::perms(0755));
  }

  Folder scene_{"pacs_examples"};
};

TEST_F(PacsExamplesCli, TheUnitPredictsWhatTheRulesChooseAndWritesTheAudit) {
  receive();
  const std::string watch = at_once(unit("voxshard-predict-pacs.service"));
  Process service("", 0, shell(std::regex_replace(watch, std::regex(" --quiet$"), "")));  // its lines are waited for
  ASSERT_TRUE(service.read_until("predict 1/1"));
  service.send(SIGTERM);
  const CommandResult ended = service.wait();
  EXPECT_THAT(ended.exit_code, AnyOf(0, 8)) << ended.err << "8: two steps of training may find nothing to send";
  EXPECT_TRUE(fs::is_empty(scene_ / "inbox"));
  EXPECT_TRUE(fs::exists(scene_ / "done/study_1") && fs::exists(scene_ / "done/study_2"));
  const CommandResult audit = run_voxshard("check --json --audit " + (scene_ / "audit.jsonl"));
  EXPECT_EQ(audit.exit_code, 0) << audit.err;
  EXPECT_EQ(audit.json().at("audit").at("lines"), 1);
}

TEST_F(PacsExamplesCli, CronPredictsTheSameAndAMisspeltOptionFails) {
  receive();
  const std::string watch = at_once(cron("@reboot", "predict")) + " --dry-run --json";
  const CommandResult r = run_shell(watch);
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const nlohmann::json document = r.json();
  EXPECT_EQ(document.at("planned").size(), 1U);
  EXPECT_EQ(document.at("left_alone").at("by_rule"), (nlohmann::json{{"modality", 1}}));
  for (const char* option : {" --done", " --rules", " --write", " --outbox", " --audit"})
    EXPECT_EQ(run_shell(replaced(watch, option, std::string(option) + "s")).exit_code, 2) << option;
}

TEST_F(PacsExamplesCli, TheUnitsAndCronReceiveAndSendByTheRules) {
  if (std::system("python3 -c 'import tomllib' 2>/dev/null") != 0) GTEST_SKIP() << "no python3 of 3.11 or later";
  failing_program("storescp"), failing_program("dcmsend");
  std::string calls;
  for (const std::string& receive : {unit("voxshard-receive.service"), cron("@reboot", "receive")}) {
    EXPECT_EQ(run_shell(receive).exit_code, 61);
    EXPECT_EQ(run_shell(replaced(receive, " receive ", " received ")).exit_code, 2);
    calls = file_text(scene_ / "calls");
    EXPECT_THAT(calls, HasSubstr("storescp --quiet --fork -aet VOXSHARD +xa -od " + (scene_ / "inbox") + " "));
    EXPECT_TRUE(calls.ends_with(" 11112\n")) << calls;
    fs::remove(scene_ / "calls");
  }
  fs::create_directories(scene_ / "outbox/case_0001-00aa");
  scene_.write("outbox/case_0001-00aa/a.seg.dcm", "");
  for (const std::string& send : {unit("voxshard-send.service") + " --once", cron("\\*/5 \\* \\* \\* \\*", "send")}) {
    const CommandResult r = run_shell(send);
    EXPECT_EQ(r.exit_code, 1) << r.err;
    EXPECT_THAT(r.err, HasSubstr("case_0001-00aa: not sent: dcmsend 61"));
    EXPECT_EQ(run_shell(replaced(send, "--once", "--onces")).exit_code, 2);
    calls = file_text(scene_ / "calls");
    EXPECT_THAT(calls, HasSubstr(" -aet VOXSHARD -aec ORTHANC "));
    EXPECT_THAT(calls, HasSubstr(" 127.0.0.1 4242 " + (scene_ / "outbox/case_0001-00aa/a.seg.dcm") + "\n"));
    fs::remove(scene_ / "calls");
  }
}

}  // namespace
}  // namespace voxshard
