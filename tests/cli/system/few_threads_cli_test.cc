// Systems that refuse threads: a command with a stated number of threads reports how many there were, one without goes
// on with those that it got, and none hangs. The limits come from tests/preload/few_threads.cc and from the system
// itself.
#include <unistd.h>

#include <thread>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// Runs voxshard with at most that many threads beside the first. `timeout` ends a process that hangs, with exit code
/// 124.
CommandResult run_with(int most_threads, const std::string& arguments) {
  // x264 leaks memory when it is refused a thread.
  return run_voxshard(
      arguments, "",
      "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 timeout -k 5 120 env LD_PRELOAD=" VOXSHARD_FEW_THREADS
      " VOXSHARD_MOST_THREADS=" +
          std::to_string(most_threads));
}

class FewThreads : public TrainedCli {
 protected:
  static std::string with_output(std::string text, const std::string& out) {
    for (std::size_t at = 0; (at = text.find("OUT", at)) != std::string::npos; at += out.size())
      text.replace(at, 3, out);
    return text;
  }
  /// Returns every command that starts threads, with OUT for its outputs.
  static std::vector<std::string> commands() {
    return {"demo OUT --cases 1 --test 1",
            "prepare " + data() + " -o OUT --spacing 8,8,8",
            "train " + work() + " -o OUT" + kModel + kTraining,
            "predict " + run() + " " + data() + "/imagesTs -o OUT",
            "evaluate " + data() + "/labelsTr " + data() + "/labelsTr -o OUT.json",
            "info " + data() + "/imagesTr",
            "convert " + data() + " -o OUT",
            "plan --size 32x32x32 --base-filters 4 --cores 2 --device tpu-v3",
            "verify --size 16x16x16 --base-filters 4 --depth 2 --precision f32 --partition 1x2x1x1x1",
            "bench step --size 16x16x16 --base-filters 4 --depth 2 --steps 1 --warmup 0"};
  }
};

TEST_F(FewThreads, ThoseThatWereAskedForAreRefusedWithTheNumberThatCouldBeMade) {
  constexpr int kAsked = 4;
  for (const std::string& command : commands())
    for (int most = 0; most < kAsked - 1; ++most) {
      Folder folder("asked");
      const std::string words =
          with_output(command, folder / "out") + " --threads " + std::to_string(kAsked) + " --json";
      const CommandResult r = run_with(most, words);
      EXPECT_EQ(r.exit_code, 7) << most << ": " << words << "\n" << r.err;
      ASSERT_TRUE(r.json().contains("error")) << most << ": " << words << "\n" << r.out;
      EXPECT_EQ(r.json().at("error").at("code"), "E_THREADS");
      EXPECT_THAT(r.err, HasSubstr("have " + std::to_string(most + 1) + " of 4 threads; give --threads")) << words;
    }
}

TEST_F(FewThreads, OneCommandHasAtMostTheThreadsThatItWasAskedFor) {
  for (const std::string& command : commands()) {
    Folder folder("enough");
    const CommandResult r = run_with(3, with_output(command, folder / "out") + " --threads 4");
    EXPECT_EQ(r.exit_code, 0) << command << "\n" << r.err;
    EXPECT_THAT(r.err, Not(HasSubstr("W_THREADS")));
  }
}

TEST_F(FewThreads, ThoseThatWereNotAskedForAreDoneWithout) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor: no thread is made";
  for (const std::string& command : commands()) {
    Folder folder("default");
    const CommandResult r = run_with(0, with_output(command, folder / "out") + " --quiet");
    EXPECT_EQ(r.exit_code, 0) << command << "\n" << r.err;
    EXPECT_THAT(r.err, HasSubstr("W_THREADS the system let this process have 1 of ")) << command;
  }
}

/// FFmpeg's decoder and the encoder start threads of their own beside the three that were asked for.
TEST_F(FewThreads, OfAVideoOneThreadDecodesAndDraws) {
  Folder f("video");
  ASSERT_EQ(
      run_voxshard("demo " + (f / "set") + " --task classification --kind motion --cases 12 --test 6 -q").exit_code, 0);
  ASSERT_EQ(run_voxshard("train " + (f / "set") + " -o " + (f / "run") +
                         " --model resnet3d18 --base-filters 2 --steps 1 --precision f32 -q")
                .exit_code,
            0);
  std::string expected;
  for (const int most : {100, 2, 3, 4, 5, 6, 7, 8}) {
    const CommandResult r =
        run_with(most, "predict " + (f / "run") + " " + (f / "set/test/up/phantom_016.mp4") + " -o " +
                           (f / "found.json") + " --hop 8 --draw " + (f / "drawn.mp4") + " --threads 3 --quiet");
    EXPECT_EQ(r.exit_code, 0) << most << ": " << r.err;
    if (most == 100) expected = file_text(f / "found.json");
    EXPECT_EQ(file_text(f / "found.json"), expected) << most;
    EXPECT_GT(fs::file_size(f / "drawn.mp4"), 1000u);
    if (most != 100) {
      EXPECT_THAT(r.err, HasSubstr("W_THREADS the system refused")) << most;
    }
  }
}

TEST_F(FewThreads, AThousandInLittleAddressSpaceAreRefused) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "under AddressSanitizer address space cannot be limited";
#endif
  const CommandResult r = run_voxshard("plan --size 32x32x32 --base-filters 4 --threads 1024 --json", "",
                                       "ulimit -v 3000000 && exec timeout -k 5 120");
  EXPECT_EQ(r.exit_code, 7) << r.err;
  EXPECT_THAT(r.err, HasSubstr(" of 1024 threads; give --threads"));
}

/// Root has no limit of processes, so the command runs as another user, who has no processes yet.
TEST_F(FewThreads, BeyondTheProcessesOfAUserTheyAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root: the processes of this user are not known";
  const std::string as_nobody = "prlimit --nproc=3 setpriv --reuid=65534 --regid=65534 --clear-groups timeout -k 5 120";
  if (run_voxshard("--version", "", as_nobody).exit_code != 0)
    GTEST_SKIP() << "nothing can be run as another user here";
  const CommandResult r = run_voxshard("plan --size 32x32x32 --base-filters 4 --threads 8 --json", "", as_nobody);
  EXPECT_EQ(r.exit_code, 7) << r.err;
  EXPECT_THAT(r.err, HasSubstr(" of 8 threads; give --threads"));
}

}  // namespace
}  // namespace voxshard
