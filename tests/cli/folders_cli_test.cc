// Folders on the command line: what is refused, with which exit code, and what the message says to do.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using FoldersCli = TrainedCli;

TEST_F(FoldersCli, OutputsInsideInputsExitWithTwo) {
  const std::string before = file_text(data() + "/dataset.json");
  expect_refusal("prepare " + data() + " -o " + data(), 2, "usage", "choose a place of its own with -o");
  expect_refusal("prepare " + data() + " -o " + data() + "/work", 2, "usage", "could overwrite");
  expect_refusal("train " + work() + " -o " + work() + "/run" + kModel + kTraining, 2, "usage", "could overwrite");
  expect_refusal("train " + work() + " -o " + *folder_ / "other" + kModel + kTraining + "--trace " + work() + "/t.json",
                 2, "usage", "could overwrite");
  expect_refusal("predict " + run() + " " + data() + "/imagesTs -o " + data() + "/imagesTs/pred", 2, "usage",
                 "could overwrite");
  expect_refusal("predict " + run() + " " + data() + "/imagesTs -o " + run(), 2, "usage", "could overwrite");
  expect_refusal("evaluate " + data() + "/labelsTr " + data() + "/labelsTr -o " + data() + "/labelsTr/s.json", 2,
                 "usage", "could overwrite");
  EXPECT_EQ(file_text(data() + "/dataset.json"), before);
  EXPECT_FALSE(std::filesystem::exists(*folder_ / "other"));
}

TEST_F(FoldersCli, TrainingOnADataSetThatIsNotPreparedPreparesItBesideTheRunWithoutHarm) {
  const std::string before = file_text(data() + "/dataset.json");
  const CommandResult r = run_voxshard("train " + data() + " -o " + *folder_ / "raw/run" + kModel + kTraining);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, testing::HasSubstr("_prepared"));
  EXPECT_EQ(file_text(data() + "/dataset.json"), before);
}

TEST_F(FoldersCli, TrainingOnAFolderThatCannotBePreparedByDefaultSaysHow) {
  const CommandResult r = run_voxshard("train " + data() + "/imagesTr -o " + *folder_ / "raw_run" + kModel + kTraining);
  EXPECT_EQ(r.exit_code, 3);
  EXPECT_THAT(r.err, testing::HasSubstr(
                         "not a prepared folder (no manifest of `prepare`); run `voxshard prepare DATASET -o WORK`"));
}

TEST_F(FoldersCli, FoldersOfOthersExitWithSix) {
  Folder folder("foreign");
  std::filesystem::create_directories(folder / "run");
  folder.write("run/results.csv", "mine");
  for (const std::string& words : std::vector<std::string>{
           "train " + work() + " -o " + (folder / "run") + kModel + kTraining,
           "prepare " + data() + " -o " + (folder / "run"), "demo " + (folder / "run") + " --cases 1 --test 0",
           "predict " + run() + " " + data() + "/imagesTs -o " + (folder / "run")})
    expect_refusal(words, 6, "output", "holds results.csv");
  expect_refusal("demo " + run() + " --cases 1 --test 0", 6, "output", "made by voxshard train");
  EXPECT_EQ(file_text(folder / "run/results.csv"), "mine");
}

TEST_F(FoldersCli, NamesThatNoFileCanHaveExitWithSixOrThree) {
  const std::string name(300, 'a');
  EXPECT_EQ(run_voxshard("train " + work() + " -o /tmp/" + name + kModel + kTraining).exit_code, 6);
  EXPECT_EQ(run_voxshard("train /tmp/" + name + " -o /tmp/voxshard_never" + kModel + kTraining).exit_code, 3);
}

TEST_F(FoldersCli, ADemoOverALargerDemoExitsWithSix) {
  Folder folder("demo_over");
  ASSERT_EQ(run_voxshard("demo " + (folder / "d") + " --cases 1 --test 1 -q").exit_code, 0);
  expect_refusal("demo " + (folder / "d") + " --cases 1 --test 0", 6, "output", "choose another folder, or move");
  EXPECT_EQ(run_voxshard("demo " + (folder / "d") + " --cases 1 --test 1 -q").exit_code, 0);
}

TEST_F(FoldersCli, EveryCommandThatWritesAFolderTakesItsLock) {
  for (const std::string& words :
       std::vector<std::string>{"demo OUT --cases 1 --test 0", "demo OUT --task detection --cases 1 --test 0",
                                "prepare " + data() + " -o OUT", "train " + work() + " -o OUT" + kModel + kTraining,
                                "predict " + run() + " " + data() + "/imagesTs -o OUT"}) {
    Folder folder("locked");
    const int held = ::open((folder / ".voxshard.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    ASSERT_EQ(::flock(held, LOCK_EX), 0);
    std::string command = words;
    command.replace(command.find("OUT"), 3, folder / "");
    expect_refusal(command, 6, "output", "is in use by another voxshard");
    ::close(held);
    EXPECT_EQ(run_voxshard(command + " -q").exit_code, 0) << "the lock file alone keeps nobody out: " << command;
    EXPECT_TRUE(std::filesystem::exists(folder / ".voxshard.lock")) << command;
    EXPECT_TRUE(std::filesystem::exists(folder / "manifest.jsonl")) << command;
  }
}

}  // namespace
}  // namespace voxshard
