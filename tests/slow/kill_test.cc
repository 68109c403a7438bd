// A run that is killed, at any moment, and resumed ends with the bytes of an undisturbed one; a run that is asked to
// stop writes its checkpoint first. Slow: real processes, real signals.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// Starts the command without a shell in between, so that signals reach it.
pid_t start(const std::vector<std::string>& words, const std::string& log) {
  const pid_t child = fork();
  if (child != 0) return child;
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(out, 1), dup2(out, 2);
  std::vector<char*> argv;
  std::string binary = VOXSHARD_BINARY;
  argv.push_back(binary.data());
  std::vector<std::string> copy = words;
  for (auto& word : copy) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(binary.c_str(), argv.data());
  _exit(127);
}

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A training that can be killed: its data, and the words that train on them.
class SlowKill : public testing::Test {
 protected:
  std::vector<std::string> train(const std::string& run, int steps, bool resume) const {
    std::vector<std::string> words = {"train", folder_ / data_, "-o", folder_ / run, "--steps", std::to_string(steps)};
    words.insert(words.end(), options_.begin(), options_.end());
    if (resume) words.push_back("--resume");
    return words;
  }
  std::string last(const std::string& run) const { return folder_ / (run + "/checkpoints/last.safetensors"); }
  void expect_the_same_bytes_after_kills(int steps) const;

  Folder folder_{"kill"};
  std::string data_;
  std::vector<std::string> options_;
};

void SlowKill::expect_the_same_bytes_after_kills(int steps) const {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::cout << "seed " << seed << "\n";
  std::mt19937 random(seed);
  const auto began = Clock::now();
  ASSERT_EQ(wait_for(start(train("whole", steps, false), folder_ / "whole.log")), 0)
      << file_text(folder_ / "whole.log");
  const double whole_seconds = Seconds(Clock::now() - began).count();
  int killed = 0;
  for (int kill_number = 0; kill_number < 5; ++kill_number) {
    const pid_t child = start(train("killed", steps, true), folder_ / "killed.log");
    std::this_thread::sleep_for(Seconds(std::uniform_real_distribution<double>(0.02, 0.16)(random) * whole_seconds));
    kill(child, SIGKILL);
    killed += wait_for(child) == 128 + SIGKILL;
  }
  EXPECT_EQ(killed, 5) << "the run ended before its last kill";
  ASSERT_EQ(wait_for(start(train("killed", steps, true), folder_ / "killed.log")), 0)
      << file_text(folder_ / "killed.log");
  EXPECT_TRUE(file_text(last("killed")) == file_text(last("whole")));
  EXPECT_TRUE(file_text(folder_ / "killed/checkpoints/best.safetensors") ==
              file_text(folder_ / "whole/checkpoints/best.safetensors"));
  const std::string rows = file_text(folder_ / "killed/results.csv");
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), steps + 1);
}

class SlowKillOfVolumes : public SlowKill {
 protected:
  SlowKillOfVolumes() {
    data_ = "work";
    options_ = {"--base-filters",   "4",    "--crop", "16x16x16", "--partition",        "1x2x1x1x1",
                "--precision",      "bf16", "--flip", "DHW",      "--checkpoint-every", "3",
                "--validate-every", "20"};
    EXPECT_EQ(run_voxshard("demo " + (folder_ / "data") + " --cases 3 --test 0 -q").exit_code, 0);
    EXPECT_EQ(
        run_voxshard("prepare " + (folder_ / "data") + " -o " + (folder_ / "work") + " --spacing 6,6,6 -q").exit_code,
        0);
  }
};

/// Trainings with dropout, whose masks depend on the step, and with rates that fall with each pass over the data.
class SlowKillOfClasses : public SlowKill {
 protected:
  SlowKillOfClasses() {
    data_ = "digits";
    options_ = {"--model",
                "digits",
                "--batch",
                "16",
                "--partition",
                "1x4x1x1",
                "--precision",
                "f32",
                "--checkpoint-every",
                "3",
                "--validate-every",
                "50"};
    EXPECT_EQ(
        run_voxshard("demo " + (folder_ / "digits") + " --task classification --cases 300 --test 50 -q").exit_code, 0);
  }
};

TEST_F(SlowKillOfVolumes, KilledFiveTimesAndResumedGivesTheSameBytes) { expect_the_same_bytes_after_kills(150); }

TEST_F(SlowKillOfClasses, KilledFiveTimesAndResumedGivesTheSameBytes) { expect_the_same_bytes_after_kills(300); }

TEST_F(SlowKillOfVolumes, TerminatedWritesACheckpointAndExitsWith143) {
  const pid_t child = start(train("stopped", 100000, false), folder_ / "stopped.log");
  const std::string csv = folder_ / "stopped/results.csv";
  for (int i = 0; i < 600; ++i) {  // until 20 steps are done
    const std::string rows = file_text(csv);
    if (std::count(rows.begin(), rows.end(), '\n') > 20) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  kill(child, SIGTERM);
  EXPECT_EQ(wait_for(child), 143) << file_text(folder_ / "stopped.log");
  const std::string rows = file_text(csv);
  const auto checkpoint = nlohmann::json::parse(file_text(folder_ / "stopped/checkpoints/last.json"));
  EXPECT_EQ(checkpoint.at("step"), std::count(rows.begin(), rows.end(), '\n') - 1)
      << "the checkpoint is of the last step";
  EXPECT_TRUE(std::filesystem::exists(last("stopped")));
}

}  // namespace
}  // namespace voxshard
