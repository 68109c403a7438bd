// The sending end of the loop with a PACS, data/examples/pacs/loop.py, with a dcmsend of this test's own on PATH:
// nothing is lost, whatever dcmsend, the PACS or a kill does, and nothing counts as sent that the PACS has not stored.
#include "tests/cli/process.h"

#include <gmock/gmock.h>

#include <cerrno>

#include "tests/io/loop_rules.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class PacsCli : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import tomllib' 2>/dev/null") != 0) GTEST_SKIP() << "no python3 of 3.11 or later";
    fs::create_directories(scene_ / "bin");
    scene_.write("rules.toml", loop_rules({"receive", "keep_days", "7"}));
    put("case_0001-00aa"), put("case_0002-00bb");
  }
  /// Places an item of two objects in the outbox.
  void put(const std::string& item) const {
    fs::create_directories(scene_ / ("outbox/" + item));
    for (const char* name : {"/a.seg.dcm", "/a.sr.dcm"}) scene_.write("outbox/" + item + name, item + name);
  }
  /// Puts a program on PATH. Of dcmsend, $calls counts the calls, and `stored STATUS` reports and notes all objects.
  void program(const std::string& name, const std::string& does) const {
    scene_.write(
        "bin/" + name,
        "#!/bin/sh\ncd " + (scene_ / "") +
            "\necho \"$*\" >>calls\ncalls=$(wc -l <calls)\n"
            "while [ $# -gt 0 ] && [ \"$1\" != +crf ]; do shift; done\nreport=$2\n"
            "stored() {\n  for file; do case $file in *.dcm)\n"
            "    echo \"DIMSE Status  : $STATUS\" >>\"$report\"\n    echo \"$file\" >>stored ;;\n  esac; done\n}\n" +
            does + "\n");
    fs::permissions(scene_ / ("bin/" + name), fs::perms(0755));
  }
  static constexpr const char* kStores = "STATUS='0x0000 (Success)'; stored \"$@\"";
  std::string words() const {
    return "env PATH=" + (scene_ / "bin") + ":$PATH python3 -B " + VOXSHARD_SOURCE_DIR + "/data/examples/pacs/loop.py";
  }
  std::string sending(const std::string& how) const {
    return "send " + (scene_ / "rules.toml") + " " + (scene_ / "outbox") + " " + how;
  }
  CommandResult run(const std::string& arguments) const { return Process(arguments, 0, words()).wait(); }
  CommandResult once() const { return run(sending("--once")); }
  bool waits(const std::string& item) const { return fs::exists(scene_ / ("outbox/" + item)); }
  bool is_sent(const std::string& item) const { return fs::exists(scene_ / ("outbox/sent/" + item + "/receipt.json")); }
  std::size_t lines(const std::string& file) const {
    const std::string text = file_text(scene_ / file);
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
  }

  Folder scene_{"pacs"};
};

TEST_F(PacsCli, TriesAgainUntilAllIsStored) {
  program("dcmsend", "[ $calls -le 2 ] && exit 61\n" + std::string(kStores));
  fs::create_directories(scene_ / "outbox/held/case_0003-00cc");
  fs::create_directories(scene_ / "outbox/.placing.case_0004-00dd");
  Process sender(sending("--every 0.1"), 0, words());
  ASSERT_TRUE(sender.read_until("case_0001-00aa: not sent: dcmsend 61"));
  ASSERT_TRUE(sender.read_until("case_0001-00aa: sent 2"));
  ASSERT_TRUE(sender.read_until("case_0002-00bb: sent 2"));
  EXPECT_EQ(run(sending("--once")).exit_code, 6) << "one sender at a time";
  sender.send(SIGTERM);
  EXPECT_EQ(sender.wait().exit_code, 0);
  for (const char* item : {"case_0001-00aa", "case_0002-00bb"}) EXPECT_TRUE(is_sent(item) && !waits(item)) << item;
  EXPECT_EQ(lines("calls"), 4u);
  EXPECT_EQ(lines("stored"), 4u) << "each object once";
  const auto receipt = nlohmann::json::parse(file_text(scene_ / "outbox/sent/case_0001-00aa/receipt.json"));
  EXPECT_EQ(receipt.at("objects"), 2);
  EXPECT_EQ(receipt.at("sha256").get<std::string>().size(), 64u);
  EXPECT_THAT(file_text(scene_ / "calls"), HasSubstr("-aet VOXSHARD -aec ORTHANC"));
  EXPECT_TRUE(waits(".placing.case_0004-00dd") && waits("held/case_0003-00cc")) << "neither is an item";
}

TEST_F(PacsCli, WhatThePacsRefusesIsNotSentAlthoughDcmsendExitsWith0) {
  program("dcmsend", "STATUS='0xa700 (Refused: OutOfResources)'; stored \"$@\"");
  const CommandResult refused = once();
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("case_0001-00aa: not sent: stored 0 of 2"));
  EXPECT_TRUE(waits("case_0001-00aa") && waits("case_0002-00bb"));
  program("dcmsend", "STATUS='0xb000 (Warning: CoercionOfDataElements)'; stored \"$@\"");
  EXPECT_EQ(once().exit_code, 0) << "a warning: it is stored";
  EXPECT_TRUE(is_sent("case_0001-00aa") && is_sent("case_0002-00bb"));
}

TEST_F(PacsCli, KilledAfterThePacsStoredItSendsTheSameAgainAndLosesNothing) {
  program("dcmsend", std::string(kStores) + "\nkill -9 $PPID");
  EXPECT_EQ(once().exit_code, 137);
  EXPECT_TRUE(waits("case_0001-00aa"));
  program("dcmsend", kStores);
  EXPECT_EQ(once().exit_code, 0);
  EXPECT_TRUE(is_sent("case_0001-00aa") && is_sent("case_0002-00bb"));
  EXPECT_EQ(lines("stored"), 6u) << "the objects of the first item twice, by the same names";
}

TEST_F(PacsCli, APacsThatCallsWhatIsSentAgainADuplicateHasStoredIt) {
  program("dcmsend", std::string(kStores) + "\nkill -9 $PPID");
  EXPECT_EQ(once().exit_code, 137);
  program("dcmsend",
          "[ $calls -eq 2 ] && STATUS='0x0111 (Unknown Status: 0x111)' || STATUS='0x0000 (Success)'\n"
          "stored \"$@\"");
  const CommandResult again = once();
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_TRUE(is_sent("case_0001-00aa") && is_sent("case_0002-00bb"));
  EXPECT_EQ(lines("calls"), 3u);
}

TEST_F(PacsCli, AReceiptWhoseItemDidNotMoveIsNotSentAgain) {
  program("dcmsend", kStores);
  scene_.write("outbox/case_0001-00aa/receipt.json", "{\"time\": 1, \"objects\": 2}");
  EXPECT_EQ(once().exit_code, 0);
  EXPECT_TRUE(is_sent("case_0001-00aa"));
  EXPECT_EQ(lines("calls"), 1u) << "of the other item";
}

TEST_F(PacsCli, AStopEndsItWhileDcmsendWorksAndTheItemStays) {
  program("dcmsend", "kill -TERM $PPID\nexec tail -f /dev/null");
  EXPECT_EQ(once().exit_code, 0);
  EXPECT_TRUE(waits("case_0001-00aa") && waits("case_0002-00bb"));
}

TEST_F(PacsCli, ObjectsThatWereSentAreRemovedAfterTheirDaysAndTheirReceiptsStay) {
  program("dcmsend", kStores);
  ASSERT_EQ(once().exit_code, 0);
  EXPECT_TRUE(fs::exists(scene_ / "outbox/sent/case_0001-00aa/a.seg.dcm"));
  scene_.write("outbox/sent/case_0001-00aa/receipt.json", "{\"time\": 1, \"objects\": 2}");
  scene_.write("outbox/sent/case_0002-00bb/receipt.json", "no json");
  const CommandResult later = once();
  EXPECT_EQ(later.exit_code, 0);
  EXPECT_FALSE(fs::exists(scene_ / "outbox/sent/case_0001-00aa/a.seg.dcm"));
  EXPECT_TRUE(is_sent("case_0001-00aa"));
  EXPECT_TRUE(fs::exists(scene_ / "outbox/sent/case_0002-00bb/a.seg.dcm")) << "nobody knows when it was sent";
  EXPECT_THAT(later.err, HasSubstr("case_0002-00bb"));
}

TEST_F(PacsCli, RulesThatCannotBeAreRefused) {
  program("dcmsend", kStores);
  const auto expect_refused = [&](const std::string& text, const std::string& piece) {
    scene_.write("rules.toml", text);
    const CommandResult r = once();
    EXPECT_EQ(r.exit_code, 2) << text;
    EXPECT_THAT(r.err, HasSubstr(piece)) << text;
  };
  for (const LoopRule& rule : refused_loop_rules())
    expect_refused(loop_rules(rule), "[" + rule.table + "] " + rule.key + " ");
  expect_refused("[send", "the rules cannot be read");
  expect_refused("# \xff", "the rules cannot be read");
  expect_refused("[receive]\n", "the rules lack [send]");
  expect_refused("[recieve]\nport = 104\n", "the unknown table or key 'recieve'");
  EXPECT_EQ(lines("calls"), 0u);
}

TEST_F(PacsCli, RulesThatVoxshardTakesAreTaken) {
  program("dcmsend", kStores);
  for (const LoopRule& rule : allowed_loop_rules()) {
    scene_.write("rules.toml", loop_rules(rule));
    EXPECT_EQ(once().exit_code, 0) << rule.key << " = " << rule.value;
  }
  scene_.write("rules.toml", "[studies]\nmodality = [\"CT\"]\n" + loop_rules({"receive", "keep_days", "7"}));
  EXPECT_EQ(once().exit_code, 0) << "[studies] is read by voxshard alone";
}

TEST_F(PacsCli, ReceivingBecomesStorescp) {
  program("storescp", "");
  EXPECT_EQ(run("receive " + (scene_ / "rules.toml") + " " + (scene_ / "inbox")).exit_code, 0);
  EXPECT_TRUE(fs::is_directory(scene_ / "inbox"));
  const std::string call = file_text(scene_ / "calls");
  EXPECT_THAT(call, HasSubstr("-aet VOXSHARD +xa -od " + (scene_ / "inbox") + " --sort-on-study-uid study"));
  EXPECT_THAT(call, HasSubstr("--fork ")) << "one process for all remembers a study whose folder has moved away";
  EXPECT_THAT(call, HasSubstr(" -tos 20 ")) << "and so does one whose sender pauses";
  EXPECT_TRUE(call.ends_with(" 11112\n")) << call;
  scene_.write("rules.toml", "");
  EXPECT_EQ(run("receive " + (scene_ / "rules.toml") + " " + (scene_ / "inbox")).exit_code, 0)
      << "all of [receive] has a default, and it sends nothing";
}

TEST_F(PacsCli, AnInboxThatCannotBeMadeIsSaid) {
  program("storescp", "");
  scene_.write("file", "");
  const CommandResult r = run("receive " + (scene_ / "rules.toml") + " " + (scene_ / "file/inbox"));
  EXPECT_EQ(r.exit_code, 6);
  EXPECT_EQ(r.err, "loop.py: the inbox cannot be made: errno " + std::to_string(ENOTDIR) + "\n");
}

TEST_F(PacsCli, WhatItSaysHoldsNoPathOfTheOutbox) {
  program("dcmsend", "echo Planted >&2; exit 1");
  const CommandResult r = once();
  EXPECT_THAT(r.err, Not(HasSubstr("Planted")));
  EXPECT_THAT(r.err, Not(HasSubstr(scene_ / "")));
}

}  // namespace
}  // namespace voxshard
