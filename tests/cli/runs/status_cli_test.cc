// `voxshard status`: what a training is doing, from its folder alone, while it runs, after it was stopped or killed,
// and where its lock cannot be seen.
#include <algorithm>
#include <chrono>
#include <csignal>

#include "tests/cli/process.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class StatusCli : public TrainedCli {
 protected:
  static std::string train(const std::string& run, const std::string& words) {
    return "train " + work() + " -o " + run + kModel + "--crop 16x16x16 --fold 0 " + words;
  }
  static json status(const std::string& run) {
    const CommandResult r = run_voxshard("status " + run + " --json");
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return r.json();
  }
  /// Waits until the run has done so many steps. False when it ended before.
  static bool wait_for_steps(Process& p, const std::string& run, int steps) {
    if (!p.read_until("train 0/")) return false;
    while (std::ranges::count(file_text(run + "/metrics.jsonl"), '\n') < steps)
      if (::kill(p.pid(), 0) != 0) return false;
    return true;
  }
};

TEST_F(StatusCli, OfARunThatRunsAndIsKilledAndGoesOnToItsEnd) {
  Folder folder("status");
  const std::string run = folder / "run";
  Process p(train(run, "--steps 100000 --checkpoint-every 4 --validate-every 4"));
  ASSERT_TRUE(wait_for_steps(p, run, 20));
  const json running = status(run);
  EXPECT_EQ(running.at("state"), "running");
  EXPECT_EQ(running.at("judged_by"), "lock");
  EXPECT_EQ(running.at("writer").at("process"), p.pid());
  EXPECT_EQ(running.at("writer").at("command"), "train");
  EXPECT_EQ(running.at("rank"), 0);
  EXPECT_EQ(running.at("ranks"), 1);
  EXPECT_GE(running.at("step"), 4);
  EXPECT_EQ(running.at("steps"), 100000);
  EXPECT_GT(running.at("seconds_per_step"), 0);
  EXPECT_GT(running.at("remaining_seconds"), 0);
  EXPECT_EQ(running.at("validation").at("validation"), "dice");
  EXPECT_GE(running.at("validation").at("step"), 4);
  EXPECT_THAT(run_voxshard("status " + run).out,
              AllOf(HasSubstr(": running\n"), HasSubstr(" a step, "), HasSubstr(" left; "), HasSubstr("rank 0 of 1"),
                    Not(HasSubstr("next:"))));

  p.send(SIGKILL);
  p.wait();
  std::string lines = file_text(run + "/metrics.jsonl");
  lines.resize(lines.rfind('\n'));
  const std::size_t whole = lines.rfind('\n'), before = lines.rfind('\n', whole - 1);
  const json last = json::parse(lines.substr(before + 1, whole - before - 1));
  lines.resize(whole + 9);  // the last line is torn after {"step":
  std::ofstream(run + "/metrics.jsonl") << lines;
  const json dead = status(run);
  EXPECT_EQ(dead.at("state"), "dead");
  EXPECT_EQ(dead.at("judged_by"), "lock");
  EXPECT_EQ(dead.at("torn_line"), true);
  EXPECT_EQ(dead.at("damaged_lines"), 0);
  EXPECT_EQ(dead.at("step"), last.at("step"));
  EXPECT_GE(dead.at("checkpoint_step"), 4);
  const std::string text = run_voxshard("status " + run).out;
  EXPECT_THAT(text, AllOf(HasSubstr("dead: it was killed"), HasSubstr("goes on from the checkpoint of step"),
                          HasSubstr("next: voxshard train --resume " + run + "\n")));
}

TEST_F(StatusCli, WhereTheLockCannotBeSeenTheAgeOfTheLastLineIsSaid) {
  Folder folder("status_age");
  const std::string copy = folder / "run";
  fs::copy(run(), copy, fs::copy_options::recursive);
  json record = json::parse(file_text(copy + "/run.json"));
  record.erase("report");
  std::ofstream(copy + "/run.json") << record.dump();
  std::ofstream(copy + "/.voxshard.lock") << "1234 train another.host";
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(copy + "/metrics.jsonl", now);
  const json young = status(copy);
  EXPECT_EQ(young.at("state"), "running");
  EXPECT_EQ(young.at("judged_by"), "age");
  EXPECT_EQ(young.at("writer").at("host"), "another.host");
  fs::last_write_time(copy + "/metrics.jsonl", now - std::chrono::hours(2));
  const json old = status(copy);
  EXPECT_EQ(old.at("state"), "silent");
  EXPECT_GE(old.at("last_line_seconds_ago"), 7200);
  EXPECT_THAT(run_voxshard("status " + copy).out,
              AllOf(HasSubstr("silent, judged by the age of its last line alone"), HasSubstr("2 h 00 min old"),
                    HasSubstr("written by process 1234 on another.host, train"), Not(HasSubstr("next:"))));
  std::ofstream(copy + "/.voxshard.lock") << "";
  EXPECT_EQ(status(copy).at("state"), "dead") << "the writer took its note away, and left no results";
}

TEST_F(StatusCli, OfARunThatEndedOrWasStopped) {
  const json finished = status(run());
  EXPECT_EQ(finished.at("state"), "finished");
  EXPECT_EQ(finished.at("judged_by"), "report");
  EXPECT_EQ(finished.at("step"), 2);
  EXPECT_EQ(finished.at("steps"), 2);
  EXPECT_EQ(finished.at("validation"), nullptr);
  EXPECT_FALSE(finished.contains("writer"));

  Folder folder("status_stopped");
  Process p(train(folder / "run", "--steps 100000"));
  ASSERT_TRUE(wait_for_steps(p, folder / "run", 2));
  p.send(SIGTERM);
  EXPECT_EQ(p.wait().exit_code, 143);
  const json stopped = status(folder / "run");
  EXPECT_EQ(stopped.at("state"), "stopped");
  EXPECT_EQ(stopped.at("checkpoint_step"), stopped.at("step"));
}

TEST_F(StatusCli, OtherFoldersAreRefused) {
  expect_refusal("status " + work(), 10, "checkpoint", "run.json");
  expect_refusal("status " + data(), 3, "input", "holds no run");
  expect_refusal("status /nowhere", 3, "input", "holds no run");
}

}  // namespace
}  // namespace voxshard
