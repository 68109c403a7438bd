// The examples for systemd and cron: three nights over a growing inbox, of which the second is killed, and the inbox
// that is watched. The commands are those of the files in data/examples/nightly.
#include <chrono>
#include <map>
#include <regex>
#include <thread>

#include "tests/cli/large_volume.h"
#include "tests/cli/process.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

class NightsCli : public TrainedCli {
 protected:
  NightsCli() { fs::create_directories(inbox()); }
  std::string inbox() const { return scene_ / "inbox"; }
  std::string output() const { return scene_ / "out"; }
  /// Puts an image of the demo into the inbox, under another name.
  void arrive(int image, const std::string& name) const {
    const std::string part = image < 2 ? "/imagesTr" : "/imagesTs";
    fs::copy_file(data() + part + "/phantom_00" + std::to_string(image) + "_0000.nii.gz",
                  inbox() + "/" + name + ".nii.gz", fs::copy_options::overwrite_existing);
  }
  std::string file(const std::string& name) const { return file_text(output() + "/" + name + ".nii.gz"); }
  /// Returns when each label map was written, by case.
  std::map<std::string, fs::file_time_type> written_at() const {
    std::map<std::string, fs::file_time_type> times;
    for (const auto& entry : fs::directory_iterator(output()))
      if (const std::string name = entry.path().filename(); name.ends_with(".nii.gz") && !name.starts_with("."))
        times[name.substr(0, name.find('.'))] = entry.last_write_time();
    return times;
  }
  /// Returns the shell command of a unit or of the cron line, with the folders of this test.
  std::string command(const std::string& example, const std::regex& line) const {
    const std::string text = file_text(std::string(VOXSHARD_SOURCE_DIR) + "/data/examples/nightly/" + example);
    std::smatch found;
    EXPECT_TRUE(std::regex_search(text, found, line)) << example;
    std::string words = std::regex_replace(found[1].str(), std::regex("\\. /etc/voxshard/predict.env; "), "");
    words = std::regex_replace(words, std::regex("\\bvoxshard predict"), VOXSHARD_BINARY " predict");
    return "RUN=" + run() + " INBOX=" + inbox() + " OUTPUT=" + output() + " DONE=" + (scene_ / "done") +
           " REPORT=" + (scene_ / "night.json") + " sh -c '" + words + "'";
  }
  std::string night() const { return command("voxshard-predict.service", std::regex("ExecStart=/bin/sh -c '(.*)'")); }
  std::string cron() const { return command("crontab", std::regex("\n30 1 \\* \\* \\* (.*)\n")); }
  json report() const { return json::parse(file_text(scene_ / "night.json")); }

  Folder scene_{"nights"};
};

TEST_F(NightsCli, TheThirdPredictsWhatIsNewAloneAfterTheSecondWasKilled) {
  arrive(0, "a"), arrive(1, "b");
  ASSERT_EQ(std::system(night().c_str()), 0);
  EXPECT_EQ(report().at("cases").size(), 2U);
  EXPECT_EQ(report().at("kept"), 0);
  const std::string first_a = file("a"), first_b = file("b");

  arrive(2, "c"), arrive(0, "d");
  write_bomb(inbox() + "/e.nii.gz", 320, 320, 256);  // it is read for far longer than the kill takes
  {
    Process second("predict " + run() + " " + inbox() + " -o " + output());
    ASSERT_TRUE(second.read_until("case d: predicted"));
    second.send(SIGKILL);
    second.wait();
  }
  const auto written = written_at();
  ASSERT_THAT(written, ElementsAre(Key("a"), Key("b"), Key("c"), Key("d"))) << "two new ones of three";
  // Other images under the names of one that was predicted, and of the one at which the night was killed.
  arrive(2, "b"), arrive(1, "e");
  ASSERT_EQ(std::system(cron().c_str()), 0);
  const json third = report();
  EXPECT_EQ(third.at("cases").size(), 5U);
  EXPECT_EQ(third.at("kept"), 3);
  const auto now = written_at();
  ASSERT_EQ(now.size(), 5U);
  for (const char* kept : {"a", "c", "d"}) EXPECT_EQ(now.at(kept), written.at(kept)) << kept << " was written again";
  EXPECT_NE(now.at("b"), written.at("b"));
  EXPECT_TRUE(file("a") == first_a);
  EXPECT_FALSE(file("b") == first_b) << "of another image now";
  EXPECT_TRUE(file("b") == file("c")) << "which is that of c";
  EXPECT_TRUE(file("d") == file("a"));
  EXPECT_TRUE(file("e") == first_b);
  EXPECT_FALSE(has_temporary_files(output()));
  ASSERT_EQ(std::system(night().c_str()), 0);
  EXPECT_EQ(report().at("kept"), 5);
}

TEST_F(NightsCli, ANightThatMeetsARunningOneOrCrashesLeavesTheReportAlone) {
  arrive(0, "a");
  ASSERT_EQ(std::system(night().c_str()), 0);
  const std::string before = file_text(scene_ / "night.json");
  arrive(1, "b"), arrive(2, "c");
  Process running("predict " + run() + " " + inbox() + " -o " + output());
  ASSERT_TRUE(running.read_until("predict 0/3"));
  running.send(SIGSTOP);
  for (const std::string& words : {night(), cron()}) {
    EXPECT_EQ(WEXITSTATUS(std::system(words.c_str())), 6);
    const std::string crashes = std::regex_replace(words, std::regex("[^\\s']+ predict "), "false predict ");
    EXPECT_EQ(WEXITSTATUS(std::system(crashes.c_str())), 1);
  }
  running.send(SIGKILL);
  running.wait();
  EXPECT_EQ(file_text(scene_ / "night.json"), before);
  for (const auto& entry : fs::directory_iterator(fs::path(scene_ / "night.json").parent_path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with("night.json.")) << entry.path();
}

TEST_F(NightsCli, ANightThatIsStoppedReportsIt) {
  arrive(0, "a"), arrive(1, "b"), arrive(2, "c");
  Process service("", 0, "env " + std::regex_replace(night(), std::regex(" --quiet"), ""));
  ASSERT_TRUE(service.read_until("predict 0/3"));
  EXPECT_FALSE(fs::exists(scene_ / "night.json")) << "it is not begun, but moved when it is whole";
  ::kill(-service.pid(), SIGTERM);  // as systemd does, to all processes of the unit
  EXPECT_EQ(service.wait().exit_code, 143);
  EXPECT_TRUE(json::accept(file_text(scene_ / "night.json")));
}

TEST_F(NightsCli, AWatchedInboxIsWorkedThroughUntilTheServiceStops) {
  arrive(0, "a");
  std::string watch = command("voxshard-watch.service", std::regex("ExecStart=/bin/sh -c '(.*)'"));
  watch = std::regex_replace(watch, std::regex("--quiet-for 60"), "--quiet-for 0");
  watch = std::regex_replace(watch, std::regex(" --quiet'$"), "'");  // the test waits for its lines
  Process service("", 0, "env " + watch);
  ASSERT_TRUE(service.read_until("predict 1/1"));
  arrive(1, "b");
  ASSERT_TRUE(service.read_until("predict 2/2"));
  for (int tick = 0; tick < 6000 && fs::exists(inbox() + "/b.nii.gz"); ++tick)  // it is moved behind that
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  service.send(SIGTERM);
  const CommandResult ended = service.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(fs::is_empty(inbox()));
  EXPECT_FALSE(file("a").empty());
  EXPECT_FALSE(file("b").empty());
}

TEST(Nights, ANightWithLessFreeMemoryKeepsWhatTheOneBeforePredicted) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "under AddressSanitizer address space cannot be limited";
#endif
  Folder folder("nights_memory");  // a run whose cores take 450 MiB, far more than its image
  for (const std::string& words :
       {"demo " + (folder / "data") + " --cases 1 --test 1 --size medium",
        "prepare " + (folder / "data") + " -o " + (folder / "work") + " --spacing keep",
        "train " + (folder / "work") + " -o " + (folder / "wide") +
            " --base-filters 16 --depth 3 --norm instance --crop 16x16x16 --steps 1 --fold all"})
    ASSERT_EQ(run_voxshard(words + " --quiet").exit_code, 0) << words;
  const std::string words =
      "predict " + (folder / "wide") + " " + (folder / "data/imagesTs") + " --threads 2 --json -o " + (folder / "out");
  const CommandResult first = run_voxshard(words);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.err, Not(HasSubstr("cores take turns")));
  const CommandResult second = run_voxshard(words, "", "ulimit -d 300000 &&");
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("cores take turns in memory")) << "they are divided otherwise than before";
  EXPECT_EQ(second.json().at("kept"), 1);
}

}  // namespace
}  // namespace voxshard
