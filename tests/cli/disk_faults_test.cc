// Runs on a disk that fails, and after kill -9 at any moment, leave only whole files, and once resumed they have the
// bytes of an undisturbed run. The faults come from tests/preload/disk_faults.cc.
#include <csignal>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Sets an environment variable for the commands that run during its lifetime.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

/// Runs commands with a disk that fails as `name` says. ASAN_OPTIONS allows the library to be loaded before the
/// sanitizer.
struct FailingDisk {
  FailingDisk(const char* name, const std::string& value) : fault(name, value) {}
  Environment fault, preload{"LD_PRELOAD", VOXSHARD_DISK_FAULTS}, asan{"ASAN_OPTIONS", "verify_asan_link_order=0"};
};

TEST_F(TrainedCli, AFolderOfSettingsThatMayNotBeLookedIntoCostsTheMeasurementOnly) {
  const Folder folder("no_config");
  fs::create_symlink(folder / "config", folder / "config");  // a link to itself: no user can follow it, not even root
  const Environment config("XDG_CONFIG_HOME", folder / "config");
  const CommandResult r = run_voxshard("train " + work() + " -o " + (folder / "run") +
                                       " --base-filters 4 --depth 3 --crop 16x16x16 --steps 1 --fold all");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, testing::HasSubstr("cannot be looked for"));
  const CommandResult planned =
      run_voxshard("train " + work() + " -o " + (folder / "planned") + " --partition auto --cores 2" +
                   " --base-filters 4 --depth 3 --crop 16x16x16 --steps 1 --fold all --precision f32");
  EXPECT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_THAT(planned.err, testing::HasSubstr("cannot be looked for"));
}

int temporaries_in(const fs::path& folder) {
  int count = 0;
  if (!fs::exists(folder)) return count;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    count += entry.path().filename().string().starts_with(".tmp.");
  return count;
}

class DiskFaults : public TrainedCli {
 protected:
  static std::string train(const std::string& run, const std::string& more) {
    return "train " + work() + " -o " + run + kModel + "--crop 16x16x16 --flip DHW --fold 0 --quiet " + more;
  }
};

TEST_F(DiskFaults, AFailingSyncCostsExitSixAndLeavesNoFile) {
  Folder folder("fsync");
  for (const char* what : {"file", "folder"}) {
    const FailingDisk disk("VOXSHARD_FSYNC_FAILS", what);
    expect_refusal(train(folder / what, "--steps 2"), 6, "output", "cannot be synced to the disk: Input/output error");
    EXPECT_FALSE(fs::exists(folder / (std::string(what) + "/checkpoints/last.safetensors")));
    EXPECT_EQ(temporaries_in(folder / what), 0);
  }
}

TEST_F(DiskFaults, KilledWhileItWritesAndResumedEndsWithTheBytesOfAnUndisturbedRun) {
  Folder folder("killed");
  const std::string schedule = "--steps 12 --checkpoint-every 2 --validate-every 6 --keep-every 6";
  ASSERT_EQ(run_voxshard(train(folder / "whole", schedule)).exit_code, 0);
  struct Kill {
    int sync, temporaries;
  };
  std::string command = train(folder / "killed", schedule);
  for (const Kill& at :
       {Kill{27, 1}, Kill{28, 0}, Kill{15, 1}}) {  // step 6 written, not yet renamed; 8 renamed; 10 as 6
    const FailingDisk disk("VOXSHARD_KILL_AT_FSYNC", std::to_string(at.sync));
    const CommandResult r = run_voxshard(command);
    EXPECT_EQ(r.exit_code, 128 + SIGKILL) << r.err;
    EXPECT_EQ(temporaries_in(folder / "killed"), at.temporaries) << at.sync;
    command = "train --quiet --resume " + (folder / "killed");
  }
  const CommandResult resumed = run_voxshard("train --quiet --resume " + (folder / "killed"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  for (const char* name :
       {"last.safetensors", "best.safetensors", "step-000006.safetensors", "step-000010.safetensors"})
    EXPECT_TRUE(file_text(folder / ("killed/checkpoints/" + std::string(name))) ==
                file_text(folder / ("whole/checkpoints/" + std::string(name))))
        << name;
  EXPECT_EQ(temporaries_in(folder / "killed"), 0) << "what the killed runs left";
  const std::string rows = file_text(folder / "killed/results.csv");
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 13);
}

/// Flips 64 bits in the last quarter of a file, where its numbers are.
void damage(const std::string& path) {
  std::string bytes = file_text(path);
  for (std::size_t i = 0; i < 64; ++i) bytes[bytes.size() * 3 / 4 + 7 * i] ^= 0x10;
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST_F(DiskFaults, FlippedBytesAreNamedAndTheCheckpointBeforeIsUsed) {
  Folder folder("flipped");
  ASSERT_EQ(run_voxshard(train(folder / "run", "--steps 4 --checkpoint-every 2")).exit_code, 0);
  const std::string last = folder / "run/checkpoints/last.safetensors";
  damage(last);
  fs::remove(folder / "run/checkpoints/best.safetensors");
  const std::string predict = " " + data() + "/imagesTs -o " + (folder / "pred") + " --json --quiet";
  const CommandResult predicted = run_voxshard("predict " + (folder / "run") + predict);
  EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_THAT(predicted.err, testing::HasSubstr("last.safetensors: tensor"));
  EXPECT_THAT(predicted.json().at("checkpoint").get<std::string>(), testing::HasSubstr("step-000002.safetensors"));
  expect_refusal("predict " + last + " " + data() + "/imagesTs -o " + (folder / "pred"), 10, "checkpoint",
                 "its hash differs");

  EXPECT_THAT(predicted.err, testing::Not(testing::HasSubstr("planned"))) << "a warning is shown, the log is not";
  const CommandResult resumed = run_voxshard("train --quiet --json --resume " + (folder / "run"));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, testing::AllOf(testing::HasSubstr("its hash differs"),
                                          testing::HasSubstr("step-000002.safetensors is used, of step 2"),
                                          testing::Not(testing::HasSubstr("resumed at step"))));
  EXPECT_EQ(run_voxshard("predict " + last + predict).exit_code, 0) << "the resumed run wrote it anew";

  damage(last);
  damage(folder / "run/checkpoints/step-000002.safetensors");
  expect_refusal("train --resume " + (folder / "run"), 10, "checkpoint", "nor can an older one be used");
}

TEST_F(DiskFaults, AFileSystemWithoutLocksIsReadFromButNotWrittenTo) {
  Folder folder("no_locks");
  ASSERT_EQ(run_voxshard("predict " + run() + " " + data() + "/imagesTr -o " + (folder / "pred")).exit_code, 0);
  const FailingDisk disk("VOXSHARD_FLOCK_FAILS", "1");
  const CommandResult scores = run_voxshard("evaluate " + (folder / "pred") + " " + data() + "/labelsTr");
  EXPECT_EQ(scores.exit_code, 0) << scores.err;
  expect_refusal("prepare " + data() + " -o " + (folder / "work"), 6, "output",
                 "choose a folder on a file system with locks");
}

}  // namespace
}  // namespace voxshard
