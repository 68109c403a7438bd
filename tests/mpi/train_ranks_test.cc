// `voxshard train` over ranks: the checkpoint of one process, whatever the number of ranks, also after a kill, a stop
// or a change of ranks; and no rank waits for one that an error ended.
#include <gmock/gmock.h>

#include <csignal>
#include <sstream>
#include <thread>

#include "tests/cli/process.h"
#include "tests/mpi/launch.h"

namespace voxshard {
namespace {

using test::built, test::by_rank, test::launch, test::Launched, test::mpirun;
using testing::HasSubstr;

/// Small data sets, and trainings of 8 cores on them.
class TrainRanks : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (test::without_mpi()) return;
    folder_ = new ScratchFolder;
    for (const std::string& words : {"demo " + file("volumes") + " --cases 2 --test 1",
                                     "prepare " + file("volumes") + " -o " + file("work") + " --spacing 8,8,8",
                                     "demo " + file("pictures") + " --task detection --cases 3 --test 1",
                                     "demo " + file("digits") + " --task classification --cases 20 --test 4"})
      ASSERT_EQ(run(0, words + " --quiet").exit_code, 0) << words;
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  void SetUp() override {
    if (const auto why = test::without_mpi()) GTEST_SKIP() << *why;
  }

  /// Runs a command under mpirun; 0 ranks: without a launcher.
  static Launched run(int ranks, const std::string& words) {
    return launch((ranks == 0 ? "" : mpirun(ranks)) + built("voxshard") + " " + words);
  }
  static std::string file(const std::string& name) { return *folder_ / name; }
  static std::string last_bytes(const std::string& run) {
    return read_bytes(file(run + "/checkpoints/last.safetensors"));
  }
  static std::string unet(const std::string& run, const std::string& words) {
    return "train " + file("work") + " -o " + file(run) +
           " --base-filters 4 --depth 3 --precision f32 --crop 16x16x16 --partition 1x2x2x2x1 --fold all " + words;
  }
  /// Returns the words of a shell that train on the data set `work` of this folder.
  static std::string train_in(const std::string& folder) {
    return "cd " + file(folder) + " && " + built("voxshard") +
           " train work -o run --base-filters 4 --depth 3 --crop 16x16x16 --partition 1x2x2x2x1 --fold all --steps 2";
  }
  /// Returns the words that start voxshard under an mpirun that a test stops. On SIGTERM, Open MPI's mpirun sends CONT,
  /// waits 5 s, sends TERM, waits as long, and kills.
  static std::string launcher(int ranks) {
    return "env OMPI_MCA_odls_base_sigkill_timeout=5 " + mpirun(ranks) + built("voxshard");
  }

  static constexpr const char* kLong = "--checkpoint-every 1 --steps 24";
  /// Returns the checkpoint of a run of those steps in one process.
  static const std::string& undisturbed() {
    static const std::string bytes = [] {
      EXPECT_EQ(run(0, unet("undisturbed", std::string(kLong) + " --quiet")).exit_code, 0);
      return last_bytes("undisturbed");
    }();
    return bytes;
  }

  inline static ScratchFolder* folder_ = nullptr;
};

constexpr const char* kOpenMpiOnly = "finds ranks among the processes of Open MPI's mpirun and expects its codes";

/// Returns the process that mpirun has started as this rank; 0 when there is none.
pid_t process_of(pid_t launcher, int rank) {
  std::istringstream children(
      read_bytes("/proc/" + std::to_string(launcher) + "/task/" + std::to_string(launcher) + "/children"));
  const std::string mark = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank) + std::string(1, '\0');
  for (pid_t child = 0; children >> child;)
    if (read_bytes("/proc/" + std::to_string(child) + "/environ").find(mark) != std::string::npos) return child;
  return 0;
}

/// Waits until another process has written the file; false after two minutes.
bool comes(const std::string& path) {
  for (int looks = 0; looks < 12'000; ++looks) {
    if (std::filesystem::exists(path)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

struct Trained {
  const char *name, *data, *words;
};
class TrainRanksModels : public TrainRanks, public testing::WithParamInterface<Trained> {};

TEST_P(TrainRanksModels, AnyNumberOfRanksWritesTheCheckpointOfOneProcess) {
  const std::string name = GetParam().name;
  const auto train = [&](const std::string& to) {
    return "train " + file(GetParam().data) + " -o " + file(to) + " " + GetParam().words + " --steps 2 --json --quiet";
  };
  const Launched alone = run(0, train(name + "0"));
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const std::string bytes = last_bytes(name + "0");
  ASSERT_GT(bytes.size(), 1000u);
  for (const int ranks : {1, 2, 3, 4}) {
    const std::string to = name + std::to_string(ranks);
    const Launched all = run(ranks, train(to));
    ASSERT_EQ(all.exit_code, 0) << ranks << " ranks: " << all.err;
    EXPECT_TRUE(last_bytes(to) == bytes) << ranks << " ranks";
    const std::string last = "\"name\": \"rank " + std::to_string(ranks - 1) + " on ";
    EXPECT_EQ(all.out.find(last) != std::string::npos, ranks > 1) << "what each rank took; alone nothing is said";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, TrainRanksModels,
    testing::Values(
        Trained{"unet_f32", "work",
                "--base-filters 4 --depth 3 --precision f32 --crop 16x16x16 --partition 1x2x2x2x1 --fold all"},
        Trained{"unet_bf16", "work",
                "--base-filters 4 --depth 3 --precision bf16 --crop 16x16x16 --partition 1x2x2x2x1 --fold 0 --ema 0.9"},
        Trained{"replicas", "work",
                "--base-filters 4 --depth 3 --precision f32 --crop 16x16x16 --batch 2 --fold all --cores 8 "
                "--num_cores_per_replica 4 --input_partition_dims '[[1,2,2,1,1],[1,2,2,1,1]]'"},
        Trained{"retinanet", "pictures",
                "--model retinanet --backbone resnet18 --base-filters 4 --pyramid-filters 16 --precision f32 "
                "--crop 64x64 --partition 1x4x2x1 --fold all"},
        Trained{"classifier", "digits", "--model digits --precision f32 --batch 4 --partition 1x2x2x1 --replicas 2"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(TrainRanks, ARunGoesOnOverOtherRanksToTheSameBytesAndSaysSo) {
  const std::string constant = "--schedule constant --quiet --steps ";
  ASSERT_EQ(run(0, unet("whole", constant + "4")).exit_code, 0);
  ASSERT_EQ(run(3, unet("moved", constant + "2")).exit_code, 0);
  const Launched two = run(2, "train --resume " + file("moved") + " --steps 3");
  ASSERT_EQ(two.exit_code, 0) << two.err;
  EXPECT_THAT(two.err, HasSubstr("goes on over 2 ranks (before: 3), to the same bits"));
  const Launched alone = run(0, "train --resume " + file("moved") + " --steps 4");
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_THAT(alone.err, HasSubstr("goes on over 1 rank (before: 2), to the same bits"));
  const auto tensors = [](const std::string& bytes) { return bytes.substr(bytes.size() / 2); };  // behind the header
  EXPECT_TRUE(tensors(last_bytes("moved")) == tensors(last_bytes("whole")));
}

TEST_F(TrainRanks, AKilledRunIsResumedByOtherRanksToTheSameBytes) {
  if (!test::is_open_mpi()) GTEST_SKIP() << kOpenMpiOnly;
  {
    Process p(unet("killed", kLong), 0, launcher(2));
    ASSERT_TRUE(comes(file("killed/checkpoints/last.safetensors")));
    for (const int rank : {1, 0})
      if (const pid_t process = process_of(p.pid(), rank)) ::kill(process, SIGKILL);
    EXPECT_EQ(p.wait().exit_code, 137) << p.seen();
  }
  const Launched r = run(3, "train --resume " + file("killed"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("resumed at step "));
  EXPECT_TRUE(last_bytes("killed") == undisturbed());
}

TEST_F(TrainRanks, ASigtermOfOneRankStopsAllAtOneStepAndTheRunGoesOnToTheSameBytes) {
  if (!test::is_open_mpi()) GTEST_SKIP() << kOpenMpiOnly;
  Process p(unet("stopped", kLong), 0, launcher(3));
  ASSERT_TRUE(p.read_until("train 0/")) << p.seen();
  const pid_t rank = process_of(p.pid(), 2);
  ASSERT_NE(rank, 0);
  ::kill(rank, SIGTERM);
  const CommandResult stopped = p.wait();
  EXPECT_EQ(stopped.exit_code, 143) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("INCOMPLETE: stopped"));
  const Launched more = run(0, "train --resume " + file("stopped"));
  ASSERT_EQ(more.exit_code, 0) << more.err;
  EXPECT_TRUE(last_bytes("stopped") == undisturbed());
}

TEST_F(TrainRanks, ASigtermOfTheLauncherLeavesACheckpoint) {
  if (!test::is_open_mpi()) GTEST_SKIP() << kOpenMpiOnly;
  // Source: PRRTE 3.0.8, prte_odls_base_default_kill_local_procs(): it sleeps 250 ms, and no option changes that.
  if (!mpi_library().starts_with("Open MPI v4"))
    GTEST_SKIP() << "from 5 on Open MPI's mpirun kills the ranks 0.25 s after SIGTERM and drops what they print";
  Process p(unet("ended", "--checkpoint-every 100000 --steps 100000"), 0, launcher(2));
  ASSERT_TRUE(p.read_until("train 0/")) << p.seen();
  p.send(SIGTERM);
  const CommandResult ended = p.wait();
  EXPECT_NE(ended.exit_code, 0) << "Open MPI's mpirun has a code of its own for it";
  EXPECT_THAT(ended.out, HasSubstr("INCOMPLETE: stopped"));
  EXPECT_TRUE(std::filesystem::exists(file("ended/checkpoints/last.safetensors")));
}

TEST_F(TrainRanks, AnErrorOfOneRankEndsAllWithItsCodeAndItsName) {
  for (const char* side : {"sound", "torn"}) {
    std::filesystem::create_directories(file(side));
    std::filesystem::copy(file("work"), file(std::string(side) + "/work"), std::filesystem::copy_options::recursive);
  }
  for (const auto& image : std::filesystem::directory_iterator(file("torn/work/images")))
    std::filesystem::resize_file(image.path(), 400);
  const Launched r = launch(mpirun(3) + by_rank({train_in("sound"), train_in("sound"), train_in("torn")}));
  EXPECT_EQ(r.exit_code, 3) << r.err;
  EXPECT_THAT(r.err, HasSubstr("voxshard: rank 2 on "));
  EXPECT_THAT(r.err, HasSubstr("cases are missing or not as the last"));
  EXPECT_FALSE(std::filesystem::exists(file("sound/run"))) << "what nobody began is not there";
}

TEST_F(TrainRanks, RanksWithOtherDataAreRefused) {
  for (const char* side : {"these", "those"}) std::filesystem::create_directories(file(side));
  std::filesystem::copy(file("work"), file("these/work"), std::filesystem::copy_options::recursive);
  ASSERT_EQ(run(0, "prepare " + file("volumes") + " -o " + file("those/work") + " --spacing 9,9,9 --quiet").exit_code,
            0);
  const Launched r = launch(mpirun(2) + by_rank({train_in("these"), train_in("those")}));
  EXPECT_EQ(r.exit_code, 5) << r.err;
  EXPECT_THAT(r.err, HasSubstr("there how the data were prepared (a hash) is "));
}

TEST_F(TrainRanks, MoreRanksThanCoresAndAReplicaFedByOneHostButCutOverRanksAreRefused) {
  const Launched many = run(3, "train " + file("work") + " -o " + file("many") + " --fold all --partition 1x2x1x1x1");
  EXPECT_EQ(many.exit_code, 5) << many.err;
  EXPECT_THAT(many.err, HasSubstr("3 ranks cannot share out 2 cores; start at most 2 ranks"));
  const Launched fed = run(2, unet("fed", "--feed per-host"));
  EXPECT_EQ(fed.exit_code, 5) << fed.err;
  EXPECT_THAT(fed.err, HasSubstr("use --feed boxes"));
}

}  // namespace
}  // namespace voxshard
