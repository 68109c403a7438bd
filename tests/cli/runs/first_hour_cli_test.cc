// What a first hour meets: what a run holds, failures that are seen though it is quiet, refusals that name a value that
// would do, a training without a validation that says so.
#include <filesystem>
#include <regex>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class FirstHourCli : public TrainedCli {
 protected:
  static std::string train(const std::string& run, const std::string& words) {
    return "train " + work() + " -o " + run + kModel + "--crop 16x16x16 --steps 2 " + words;
  }
};

TEST_F(FirstHourCli, InfoDescribesARun) {
  const CommandResult text = run_voxshard("info " + run());
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("a run of voxshard train, finished: 2 of 2 steps"), HasSubstr("model: unet3d, "),
                    HasSubstr("classes: lungs, liver, lesion, spine"), HasSubstr("2 cases are trained on"),
                    HasSubstr("spacing_mm 8 8 8"), HasSubstr("--base-filters 4"),
                    HasSubstr("last.safetensors (step 2, "), Not(HasSubstr("base_filters 4, channels 2"))));
  const auto json = run_voxshard("info " + run() + " --json").json().at("runs").at(0);
  EXPECT_EQ(json.at("status").at("state"), "finished");
  EXPECT_EQ(json.at("classes").size(), 4u);
  EXPECT_EQ(json.at("model").at("base_filters"), 4);
  EXPECT_EQ(json.at("checkpoints").at(0).at("step"), 2);
  EXPECT_EQ(json.at("checkpoints").at(0).at("bytes"), fs::file_size(run() + "/checkpoints/last.safetensors"));

  Folder folder("info_run");
  fs::copy(run(), folder / "run", fs::copy_options::recursive);
  std::ofstream(folder / "run/run.json") << "{";
  expect_refusal("info " + (folder / "run"), 3, "input", "run.json");
}

TEST_F(FirstHourCli, QuietKeepsFailuresOnStandardError) {
  Folder folder("quiet");
  fs::copy(data(), folder / "data", fs::copy_options::recursive);
  const std::string damaged = folder / "data/imagesTr/phantom_001_0000.nii.gz";
  fs::resize_file(damaged, 300);
  const CommandResult prepared =
      run_voxshard("prepare " + (folder / "data") + " -o " + (folder / "work") + " --spacing 8,8,8 -q");
  EXPECT_EQ(prepared.exit_code, 8);
  EXPECT_THAT(prepared.err, AllOf(HasSubstr("case phantom_001: E_"), Not(HasSubstr("fingerprint"))));
  const CommandResult predicted =
      run_voxshard("predict " + run() + " " + (folder / "data/imagesTr") + " -o " + (folder / "pred") + " -q");
  EXPECT_EQ(predicted.exit_code, 8);
  EXPECT_THAT(predicted.err, AllOf(HasSubstr("phantom_001: "), Not(HasSubstr("planned:"))));
}

TEST_F(FirstHourCli, MemoryIsOneLineAndByPartOnlyWhenAskedFor) {
  Folder folder("verbose");
  const std::string prepare = "prepare " + data() + " -o " + (folder / "work") + " --spacing 8,8,8 -q";
  const CommandResult plain = run_voxshard(prepare), verbose = run_voxshard(prepare + " --resume --verbose");
  EXPECT_THAT(plain.out, testing::ContainsRegex("\nmemory: [0-9.]+ MiB planned, [0-9.]+ MiB resident at the peak\n"));
  EXPECT_THAT(plain.out, Not(HasSubstr("by part")));
  EXPECT_THAT(verbose.out, testing::ContainsRegex("\nmemory by part: base [0-9.]+ MiB"));
}

TEST_F(FirstHourCli, ATrainingWithoutAValidationSaysSo) {
  Folder folder("one_case");
  const CommandResult all = run_voxshard(train(folder / "all", "--fold all"));
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.err, HasSubstr("nothing validates: no case is held out"));
  EXPECT_THAT(all.out, HasSubstr(", nothing validated; run folder"));
  ASSERT_EQ(run_voxshard("demo " + (folder / "one") + " --cases 1 --test 0 -q").exit_code, 0);
  ASSERT_EQ(run_voxshard("prepare " + (folder / "one") + " -o " + (folder / "work") + " --spacing 8,8,8 -q").exit_code,
            0);
  const CommandResult one =
      run_voxshard("train " + (folder / "work") + " -o " + (folder / "run") + kModel + "--crop 16x16x16 --steps 2");
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_THAT(one.err, HasSubstr("nothing validates: no case is held out"));
  const CommandResult held = run_voxshard(train(folder / "held", "--fold 0"));
  EXPECT_THAT(held.err, Not(HasSubstr("nothing validates")));
  EXPECT_THAT(held.out, Not(HasSubstr("nothing validated")));
}

TEST_F(FirstHourCli, ABudgetThatIsTooSmallIsRefusedWithAnOptionAndAValueThatWouldDo) {
  Folder folder("budget");
  const CommandResult small = run_voxshard(train(folder / "run", "--host-memory 95MiB --json"));
  EXPECT_EQ(small.exit_code, 7) << small.err;
  std::smatch value;
  ASSERT_TRUE(std::regex_search(small.err, value, std::regex("raise --host-memory to ([0-9]+)MiB"))) << small.err;
  const std::int64_t mib = std::stoll(value[1].str()) + 4;  // what the libraries hold differs a little from run to run
  EXPECT_EQ(run_voxshard(train(folder / "run", "--host-memory " + std::to_string(mib) + "MiB")).exit_code, 0);
  for (const std::string& words :
       {train(folder / "none", "--host-memory 20MiB"), "check " + data() + " --host-memory 20MiB",
        "prepare " + data() + " -o " + (folder / "work") + " --host-memory 20MiB",
        "predict " + run() + " " + data() + "/imagesTs -o " + (folder / "pred") + " --host-memory 20MiB"})
    expect_refusal(words, 7, "budget", "nothing was allocated. Raise --host-memory above ");
  expect_refusal(train(folder / "none", "--memory 1MiB"), 7, "budget", "give --memory ");
}

}  // namespace
}  // namespace voxshard
