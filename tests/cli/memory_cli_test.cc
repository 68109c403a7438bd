// A memory plan covers the whole process, so each test starts one: its plan by part is compared with the peak that it
// reached, and a plan that exceeds its budget is refused before it starts.
#include <regex>
#include <utility>

#include "tests/base/sanitizer.h"
#include "tests/cli/large_volume.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;
using namespace nlohmann::literals;
namespace fs = std::filesystem;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

class MemoryCli : public TrainedCli {
 protected:
  void SetUp() override {
    if (test::kShadowed) GTEST_SKIP() << "the sanitizer's shadow is part of the peak, and of no plan";
  }
  /// Writes an image that memory holds easily, and one of 32 million voxels.
  static void write_two_images(const Folder& folder) {
    fs::create_directories(folder / "in");
    fs::copy(data() + "/imagesTs/phantom_002_0000.nii.gz", folder / "in");
    write_bomb(folder / "in/large_0000.nii.gz", 400, 400, 200);
  }
  /// Returns a folder with CTs of twice the extents in `data`, prepared at their own spacing in `work`; made once.
  static const Folder& medium() {
    static const Folder folder("memory_medium");
    static bool made = false;
    if (std::exchange(made, true)) return folder;
    for (const std::string& words : {"demo " + (folder / "data") + " --cases 1 --test 1 --size medium",
                                     "prepare " + (folder / "data") + " -o " + (folder / "work") + " --spacing keep"})
      EXPECT_EQ(run_voxshard(words + " --quiet").exit_code, 0) << words;
    return folder;
  }
};

/// The tolerance of a plan in either direction: code that libraries page in when they run, pages that are full in part,
/// the heap's gaps.
constexpr std::int64_t kTolerance = 16 * kMiB;

/// Expects plan and peak to agree, with nothing subtracted; a plan far above its peak would refuse runs that fit.
void expect_within_plan(const CommandResult& r, const std::string& words) {
  ASSERT_EQ(r.exit_code, 0) << words << "\n" << r.err;
  const auto memory = r.json().at("memory");
  const auto planned = memory.at("planned_bytes").get<std::int64_t>();
  const auto peak = memory.at("peak_resident_bytes").get<std::int64_t>();
  EXPECT_LE(peak, planned + kTolerance) << words << memory;
  EXPECT_LE(planned, peak + kTolerance) << words << memory;
  EXPECT_FALSE(memory.contains("warning")) << words << memory;
  std::int64_t sum = 0;
  for (const auto& part : memory.at("planned")) sum += part.get<std::int64_t>();
  EXPECT_EQ(sum, planned) << words;
  EXPECT_GT(memory.at("planned").at("base"), 0) << words;
  EXPECT_GT(memory.at("budget_bytes"), planned) << words;
}

TEST_F(MemoryCli, PredictTellsThePeakOfItsProcessForAVolumeMuchLargerThanItsArena) {
  Folder folder("memory_predict");
  write_two_images(folder);
  const std::string words =
      "predict " + run() + " " + (folder / "in") + " -o " + (folder / "out") + " --memory 64MiB --json";
  const CommandResult r = run_voxshard(words);
  expect_within_plan(r, words);
  const auto memory = r.json().at("memory");
  EXPECT_GT(memory.at("peak_resident_bytes"), 4 * 32'000'000) << "the volume itself";
  EXPECT_GE(memory.at("planned_bytes"), 4 * 32'000'000);
  EXPECT_LT(r.json().at("bytes_per_core"), 64 * kMiB);
  EXPECT_THAT(run_voxshard("predict " + run() + " " + (folder / "in") + " -o " + (folder / "again")).out,
              HasSubstr(" resident at the peak"));
}

TEST_F(MemoryCli, EveryCommandStaysWithinItsPlan) {
  Folder folder("memory_all");
  for (const std::string& words : {"prepare " + data() + " -o " + (folder / "work") + " --spacing 4,4,4 --threads 4",
                                   "train " + work() + " -o " + (folder / "run") + kModel + " --crop whole --steps 3",
                                   "train --resume " + (folder / "run") + " --steps 4",
                                   "predict " + run() + " " + data() + "/imagesTr -o " + (folder / "out"),
                                   "evaluate " + (folder / "out") + " " + data() + "/labelsTr",
                                   "evaluate " + (folder / "out") + " " + data() + "/labelsTr --dataset " + data() +
                                       " --baseline threshold --png " + (folder / "sheet.png") + " --threads 4"})
    expect_within_plan(run_voxshard(words + " --json"), words);
}

TEST_F(MemoryCli, EveryTaskStaysWithinItsPlan) {
  Folder folder("memory_tasks");
  struct Scene {
    std::string demo, data, model;
  };
  for (const auto& [demo, name, model] :
       {Scene{"--task detection --cases 4 --test 2", "pictures",
              "--model retinanet --backbone resnet18 --base-filters 8 --pyramid-filters 16 --batch 2 --crop 128x128"},
        Scene{"--task classification --cases 300 --test 100", "digits", "--model digits"},
        Scene{"--task classification --kind motion --cases 12 --test 6", "motions",
              "--model r2plus1d18 --base-filters 4 --batch 2"}}) {
    const std::string data = folder / name, run = data + "_run", found = data + ".json",
                      held_out = name == "pictures" ? data + "/annotations/instances_val.json" : data;
    ASSERT_EQ(run_voxshard("demo " + data + " " + demo + " --quiet").exit_code, 0);
    for (const std::string& words :
         {"train " + data + " -o " + run + " --precision f32 --steps 2 " + model,
          "predict " + run + " " + held_out + " -o " + found, "evaluate " + found + " " + held_out})
      expect_within_plan(run_voxshard(words + " --json"), words);
  }
}

TEST_F(MemoryCli, AnImageOverTheHostMemoryCostsItselfAndSaysWhatWouldFit) {
  Folder folder("memory_case");
  write_two_images(folder);
  const CommandResult free =
      run_voxshard("predict " + run() + " " + data() + "/imagesTs -o " + (folder / "free") + " --json");
  const std::int64_t base = free.json().at("memory").at("planned").at("base"), mib = base / kMiB + 102;
  const std::string words = "predict " + run() + " " + (folder / "in") + " --host-memory ";
  const CommandResult r = run_voxshard(words + std::to_string(mib) + "MiB --json -o " + (folder / "out"));
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_EQ(r.json().at("cases").size(), 1u);
  EXPECT_LT(r.json().at("memory").at("peak_resident_bytes"), mib * kMiB) << "it was not read";
  const auto failure = r.json().at("failures").at(0);
  EXPECT_EQ(failure.at("code"), "E_BUDGET");
  EXPECT_THAT(failure.at("message").get<std::string>(), HasSubstr("would fit"));
  fs::remove(folder / "in/phantom_002_0000.nii.gz");
  expect_refusal(words + std::to_string(base / kMiB + 60) + "MiB -o " + (folder / "none"), 7, "budget",
                 "none of 1 images");
}

TEST_F(MemoryCli, AnAverageHoldsOneNetworkAtATimeBesideItsSumsWithinItsBudget) {
  Folder folder("memory_average");
  const std::string one = folder / "one", two = folder / "two", images = medium() / "data/imagesTs";
  const std::string train =
      "train " + (medium() / "work") + " --norm instance --crop 16x16x16 --steps 1 --fold all -o ";
  for (const std::string& words :
       {train + one + " --base-filters 8 --depth 3", train + two + " --base-filters 8 --depth 2"})
    ASSERT_EQ(run_voxshard(words + " --quiet").exit_code, 0) << words;
  const auto predict = [&](const std::string& runs, const std::string& out, const std::string& more = "") {
    const std::string words = "predict " + runs + " " + images + " -o " + (folder / out) + " --threads 2 --json" + more;
    const CommandResult r = run_voxshard(words);
    if (more.find("host-memory") == std::string::npos) expect_within_plan(r, words);
    return r;
  };
  const auto memory = [](const CommandResult& r) { return r.json().at("memory"); };
  const auto alone = memory(predict(one, "alone")), other = memory(predict(two, "other"));
  const CommandResult both = predict(one + " " + two, "both"),
                      halves = predict(one + " " + two, "halves", " --probabilities");
  const auto of_both = memory(both);
  EXPECT_EQ(of_both.at("planned").at("arenas"),
            std::max(alone.at("planned").at("arenas"), other.at("planned").at("arenas")));
  EXPECT_EQ(
      of_both.at("planned").at("weights").get<std::int64_t>(),
      alone.at("planned").at("weights").get<std::int64_t>() + other.at("planned").at("weights").get<std::int64_t>());
  EXPECT_GT(of_both.at("planned_bytes"), alone.at("planned_bytes")) << "the sums";
  ASSERT_EQ(halves.exit_code, 0) << halves.err;
  const std::string name = fs::path(both.json().at("cases").at(0).at("file").get<std::string>()).filename().string();
  EXPECT_EQ(file_text(folder / "halves/" + name), file_text(folder / "both/" + name));
  EXPECT_TRUE(fs::exists(folder / "halves/" + name.substr(0, name.find('.')) + ".npz"));

  const std::int64_t arenas = of_both.at("planned").at("arenas"), all = of_both.at("planned_bytes");
  const std::string budget = " --host-memory " + std::to_string(all - arenas / 2);
  const CommandResult refused = predict(one + " " + two, "none", budget + " --scratch none");
  EXPECT_EQ(refused.exit_code, 7) << refused.err;
  EXPECT_FALSE(fs::exists(folder / "none/" + name));
  const CommandResult turns = predict(one + " " + two, "turns", budget);
  ASSERT_EQ(turns.exit_code, 0) << turns.err;
  EXPECT_THAT(turns.err, HasSubstr("cores take turns in memory"));
  EXPECT_EQ(file_text(folder / "turns/" + name), file_text(folder / "both/" + name));
  EXPECT_LE(memory(turns).at("peak_resident_bytes").get<std::int64_t>(),
            memory(turns).at("planned_bytes").get<std::int64_t>() + kTolerance);
  EXPECT_LE(memory(turns).at("planned_bytes").get<std::int64_t>(), all - arenas / 2);
}

TEST_F(MemoryCli, AVolumeWhoseCoresDoNotFitIsPredictedInTurnsWithinTheBudgetToTheSameBytes) {
  Folder folder("memory_turns");
  const std::string wide = folder / "wide";  // a run whose cores take far more than its images
  const std::string train = "train " + (medium() / "work") + " -o " + wide +
                            " --base-filters 16 --depth 3 --norm instance --crop 16x16x16 --steps 1 --fold all";
  ASSERT_EQ(run_voxshard(train + " --quiet").exit_code, 0) << train;
  const std::string words = "predict " + wide + " " + (medium() / "data/imagesTs") + " --json --threads 2 -o ";
  const CommandResult whole = run_voxshard(words + (folder / "whole"));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_EQ(whole.json().at("scratch_bytes"), 0);
  const auto memory = whole.json().at("memory");
  const std::int64_t arenas = memory.at("planned").at("arenas");
  const std::int64_t others = memory.at("planned_bytes").get<std::int64_t>() - arenas;
  for (const std::int64_t share : {95, 70, 40}) {  // within the first the cores would fit, but not the rest
    const std::string budget = " --host-memory " + std::to_string(others + arenas * share / 100);
    const std::string out = folder / ("turns" + std::to_string(share));
    const CommandResult turns = run_voxshard(words + out + budget);
    ASSERT_EQ(turns.exit_code, 0) << turns.err;
    EXPECT_THAT(turns.err, HasSubstr("cores take turns in memory"));
    EXPECT_GE(turns.json().at("scratch_bytes").get<std::int64_t>(), arenas / 2);
    const auto taken = turns.json().at("memory");
    const std::int64_t planned = taken.at("planned_bytes"), peak = taken.at("peak_resident_bytes");
    const std::int64_t at_work = taken.at("planned").at("arenas");
    EXPECT_LT(at_work, arenas * share / 100);
    EXPECT_LE(peak, planned + kTolerance) << taken;
    EXPECT_LE(planned, peak + at_work / 2 + kTolerance) << "the widest moments of two cores need not meet" << taken;
    EXPECT_FALSE(taken.contains("warning")) << taken;
    EXPECT_EQ(file_text(out + "/phantom_001.nii.gz"), file_text(folder / "whole/phantom_001.nii.gz")) << budget;
    EXPECT_EQ(run_voxshard(words + out + "_none" + budget + " --scratch none").exit_code, 7);
  }
  for (const std::string& how : {std::string(), std::string(" --scratch none")}) {  // a budget that is named does
    const std::string out = folder / (how.empty() ? "named" : "named_uncut");
    const CommandResult tight =
        run_voxshard(words + out + how + " --host-memory " +
                     std::to_string(memory.at("planned").at("base").get<std::int64_t>() + 4 * kMiB));
    ASSERT_EQ(tight.exit_code, 7) << tight.err;
    EXPECT_EQ(tight.err.find("raise --host-memory"), tight.err.rfind("raise --host-memory")) << "it is told once";
    std::smatch value;
    ASSERT_TRUE(std::regex_search(tight.err, value, std::regex("raise --host-memory to ([0-9]+MiB)"))) << tight.err;
    const CommandResult named = run_voxshard(words + out + how + " --host-memory " + value[1].str());
    EXPECT_EQ(named.exit_code, 0) << value[1] << named.err;
  }
  const std::string half = " --host-memory " + std::to_string(others + arenas / 2);
  EXPECT_THAT(run_voxshard(words + (folder / "proc") + half + " --scratch /proc").err,
              HasSubstr("[scratch] no file can be made in /proc"));
}

TEST_F(MemoryCli, EvaluateLeavesOutWhatTheHostMemoryDoesNotHold) {
  Folder folder("memory_evaluate");
  fs::copy(data() + "/labelsTr", folder / "labels", fs::copy_options::recursive);
  write_bomb(folder / "labels/large.nii.gz", 400, 400, 200);
  const std::string words = "evaluate " + (folder / "labels") + " " + (folder / "labels") + " --json";
  const CommandResult r = run_voxshard(words + " --host-memory 192MiB");
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_EQ(r.json().at("cases").size(), 2u);
  EXPECT_EQ(r.json().at("failures").at(0).at("case"), "large");
  EXPECT_EQ(r.json().at("failures").at(0).at("code"), "E_BUDGET");
  EXPECT_LT(r.json().at("memory").at("peak_resident_bytes"), 192 * kMiB);
  expect_within_plan(run_voxshard(words), words);
}

/// Expects exit code 0 within the budget, or above it with the warning W_PEAK; otherwise a refusal.
void expect_no_silence(const std::string& words, std::int64_t budget_mib) {
  const CommandResult r = run_voxshard(words + " --json --quiet --host-memory " + std::to_string(budget_mib) + "MiB");
  if (r.exit_code != 0) {
    EXPECT_THAT(r.err,
                testing::AnyOf(HasSubstr("this process may take"), HasSubstr("the budget is"), HasSubstr("W_PEAK")))
        << words;
    return;
  }
  const auto memory = r.json().at("memory");
  const bool over = memory.at("peak_resident_bytes") > budget_mib * kMiB;
  EXPECT_EQ(r.err.find("W_PEAK") != std::string::npos, over) << words << r.err;
  EXPECT_EQ(memory.value("/warning/code"_json_pointer, ""), over ? "W_PEAK" : "") << words;
}

TEST_F(MemoryCli, NoCommandTakesMoreThanItsBudgetInSilence) {
  Folder folder("memory_silence");
  for (const std::string& words :
       {"prepare " + data() + " --spacing 4,4,4", "train " + work() + kModel + " --crop 16x16x16 --steps 1 --fold all",
        "predict " + run() + " " + data() + "/imagesTr", "evaluate " + data() + "/labelsTr " + data() + "/labelsTr"}) {
    const auto to = [&](const std::string& name) { return words + " -o " + (folder / (words.substr(0, 4) + name)); };
    const CommandResult free = run_voxshard(to("free.json") + " --json");
    ASSERT_EQ(free.exit_code, 0) << free.err;
    const std::int64_t planned = free.json().at("memory").at("planned_bytes");
    for (const std::int64_t mib : {std::int64_t{80}, planned / kMiB + 1, planned / kMiB + 2})
      expect_no_silence(to(std::to_string(mib) + ".json"), mib);
  }
}

TEST_F(MemoryCli, WhatAVerificationKeepsBesideItsStepIsSaidWhereItExceedsTheBudget) {
  const std::string words = "verify --size 32x32x32 --base-filters 8 --partition 1x2x1x1x1 --threads 1 --host-memory ";
  CommandResult r{.exit_code = 7};
  for (int mib = 64; mib < 400 && r.exit_code == 7; mib += 8) r = run_voxshard(words + std::to_string(mib) + "MiB");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("W_PEAK")) << "the step alone fits";
}

/// Runs the command with files in `folder` as the description of its control group; where these cannot be mounted it
/// prints "no namespace".
CommandResult run_confined(const Folder& folder, const std::string& arguments) {
  folder.write("confined.sh", "mount --bind " + (folder / "cgroup") + " /proc/$$/cgroup && mount --bind " +
                                  (folder / "mountinfo") +
                                  " /proc/$$/mountinfo || { echo no namespace >&2; exit 99; }\n" + "exec " +
                                  VOXSHARD_BINARY + " " + arguments + "\n");
  const std::string out = folder / "confined.out", err = folder / "confined.err";
  const int status = std::system(("unshare -m sh " + (folder / "confined.sh") + " >" + out + " 2>" + err).c_str());
  return {.exit_code = WEXITSTATUS(status), .out = file_text(out), .err = file_text(err)};
}

TEST_F(MemoryCli, TheFreeMemoryOfAJobIsThatOfTheTightestControlGroupAbove) {
  Folder folder("memory_groups");
  const auto group = [&](const std::string& path, const std::string& most, std::int64_t used_mib,
                         std::int64_t cached_mib) {
    fs::create_directories(folder / ("cg" + path));
    folder.write("cg" + path + "/memory.max", most);
    folder.write("cg" + path + "/memory.current", std::to_string(used_mib * kMiB));
    folder.write("cg" + path + "/memory.stat", "inactive_file " + std::to_string(cached_mib * kMiB) + "\n");
  };
  group("/job_7/step_0", "max", 10, 0);
  group("/job_7", std::to_string(2000 * kMiB), 1700, 100);
  folder.write("cgroup", "0::/job_7/step_0\n");
  folder.write("mountinfo", "29 23 0:26 / " + (folder / "cg") + " rw - cgroup2 cgroup2 rw\n");
  const std::string words = "evaluate " + data() + "/labelsTr " + data() + "/labelsTr --json";
  const CommandResult r = run_confined(folder, words);
  if (r.exit_code == 99 || r.err.find("unshare") != std::string::npos) GTEST_SKIP() << r.err;
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto memory = r.json().at("memory");
  const std::int64_t base = memory.at("planned").at("base"), budget = memory.at("budget_bytes");
  EXPECT_EQ(budget, base + 400 * kMiB / 10 * 9) << "what it has, and nine tenths of what the job has left";
  folder.write("cg/job_7/memory.stat", "inactive_file 0\n");
  folder.write("cg/job_7/memory.current", std::to_string(2000 * kMiB));
  const CommandResult full = run_confined(folder, words);
  EXPECT_NE(full.exit_code, 0);
  EXPECT_THAT(full.err, HasSubstr("E_BUDGET"));
}

TEST_F(MemoryCli, ATrainingOverTheHostMemoryIsRefusedWholeWithASizeThatFits) {
  Folder folder("memory_train");
  const std::string words =
      "train " + work() + " -o " + (folder / "run") + " --base-filters 16 --crop 128x128x128 --fold all --steps 1";
  expect_refusal(words + " --host-memory 400MiB", 7, "budget", "would fit");
  EXPECT_FALSE(fs::exists(folder / "run/results.csv"));
}

}  // namespace
}  // namespace voxshard
