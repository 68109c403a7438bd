// `prepare` over a tree of DICOM studies, in folders, zip and tar files, killed at 20 moments and resumed, ends with
// the bytes of an undisturbed one, and leaves nothing of the archives behind.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "tests/cli/run_voxshard.h"
#include "tests/io/archive_files.h"
#include "tests/io/study_files.h"
#include "tests/pipelines/prepared_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

class SlowKillOfPrepare : public testing::Test {
 protected:
  SlowKillOfPrepare() {
    for (int i = 0; i < 12; ++i) {
      const std::string uid = "1.2.840.99." + std::to_string(i);
      const StudySeries ct{
          .study = uid, .series = uid + ".4", .frame = uid + ".9", .side = 64, .slices = 24 + i, .step_mm = 2};
      const fs::path study = fs::path(folder_ / "studies") / ("patient" + std::to_string(i));
      write_series(study / "ct", ct);
      write_structure_set(study / "rs", ct, {{1, "liver", 10, 40, 4, 20}, {2, "spleen", 44, 60, 2, 12}});
      if (i % 3 > 0) pack(study, i % 3 == 1 ? "zip" : "tar.gz");
    }
    fs::create_directories(folder_ / "tmp");
    folder_.write("map.toml", "[[class]]\nname = \"liver\"\n[[class]]\nname = \"spleen\"\n");
  }
  /// Puts an archive in the place of a study.
  static void pack(const fs::path& study, const std::string& kind) {
    std::map<std::string, std::string> files;
    for (const auto& file : fs::recursive_directory_iterator(study))
      if (file.is_regular_file()) files[fs::relative(file.path(), study).string()] = file_text(file.path());
    std::vector<PackedEntry> entries;
    for (auto& [name, bytes] : files) entries.push_back({name, std::move(bytes)});
    fs::remove_all(study);
    std::ofstream(study.string() + "." + kind, std::ios::binary) << archive_bytes(kind, entries);
  }
  pid_t start(const std::string& work, bool resume) const {
    std::vector<std::string> words = {VOXSHARD_BINARY, "prepare",   folder_ / "studies",  "-o",
                                      folder_ / work,  "--classes", folder_ / "map.toml", "--spacing",
                                      "1.5,1.5,1.5"};
    if (resume) words.push_back("--resume");
    const std::string log = folder_ / (work + ".log");
    const pid_t child = fork();
    if (child != 0) return child;
    setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(out, 1), dup2(out, 2);
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  /// Returns the files without the report, which counts what an earlier call finished.
  std::map<std::string, std::string> contents(const std::string& work) const {
    auto files = test::files_of(folder_ / work);
    files.erase("run.json");
    return files;
  }
  Folder folder_{"kill_prepare"};
};

TEST_F(SlowKillOfPrepare, KilledTwentyTimesAndResumedGivesTheSameBytes) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::cout << "seed " << seed << "\n";
  std::mt19937 random(seed);
  const auto began = Clock::now();
  ASSERT_EQ(wait_for(start("whole", false)), 0) << file_text(folder_ / "whole.log");
  const double whole_seconds = Seconds(Clock::now() - began).count();
  const auto expected = contents("whole");
  ASSERT_GE(expected.size(), 12u * 4 + 4);
  int killed = 0;
  for (int moment = 0; moment < 20; ++moment) {  // each in its own twentieth of the time
    fs::remove_all(folder_ / "killed");
    const double part = (moment + std::uniform_real_distribution<double>(0, 1)(random)) / 20;
    const pid_t child = start("killed", false);
    std::this_thread::sleep_for(Seconds(part * whole_seconds));
    kill(child, SIGKILL);
    const int code = wait_for(child);
    ASSERT_TRUE(code == 0 || code == 128 + SIGKILL) << code << "\n" << file_text(folder_ / "killed.log");
    killed += code != 0;
    ASSERT_EQ(wait_for(start("killed", true)), 0) << file_text(folder_ / "killed.log");
    EXPECT_TRUE(fs::is_empty(folder_ / "tmp")) << "unpacked files stay behind";
    const auto found = contents("killed");
    for (const auto& [name, bytes] : expected) {
      ASSERT_TRUE(found.contains(name)) << name << " at " << part;
      EXPECT_TRUE(found.at(name) == bytes) << name << " at " << part;
    }
    EXPECT_EQ(found.size(), expected.size()) << part;
  }
  std::cout << killed << " of 20 were killed before their end\n";
  EXPECT_GE(killed, 10);
}

}  // namespace
}  // namespace voxshard
