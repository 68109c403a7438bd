// What a first hour meets: what a run holds, failures that are seen though it is quiet, refusals that name a value that
// would do, a training without a validation that says so, a first training of two minutes, classes that are missed.
#include <filesystem>
#include <regex>
#include <sstream>

#include "tests/base/sanitizer.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Returns the words behind "next: voxshard ".
std::string suggested_by(const CommandResult& r) {
  const std::string mark = "next: voxshard ";
  const auto at = r.out.rfind(mark);
  return at == std::string::npos ? "" : r.out.substr(at + mark.size(), r.out.size() - at - mark.size() - 1);
}

/// Returns the rest of each line that begins with "missed: ".
std::vector<std::string> missed_in(const std::string& out) {
  std::vector<std::string> missed;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("missed: ")) missed.push_back(line.substr(8));
  return missed;
}

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
  EXPECT_THAT(held.out, HasSubstr("\ncurves, slices and scores: " + (folder / "held/report.html")));
  EXPECT_THAT(held.err, Not(HasSubstr("nothing validates")));
  EXPECT_THAT(held.out, Not(HasSubstr("nothing validated")));
}

TEST_F(FirstHourCli, ABudgetThatIsTooSmallIsRefusedWithAnOptionAndAValueThatWouldDo) {
  if (test::kShadowed) GTEST_SKIP() << "the sanitizer's shadow is part of the peak, and of no plan";
  Folder folder("budget");
  const std::int64_t base = run_voxshard(train(folder / "free", "--json")).json().at("memory").at("planned").at("base");
  // The one value that is named does, also where more memory would be planned as another grid or precision.
  int count = 0, refused = 0;
  for (const std::string& how : {std::string(), std::string("--partition auto --cores 4 --device tpu-v3 ")})
    for (const std::int64_t mib : {8, 18}) {  // above what every process takes
      const std::string budget = std::to_string((base >> 20) + mib) + "MiB";
      const std::string name = folder / ("run" + std::to_string(count++));
      const CommandResult small = run_voxshard(train(name, how + "--json --host-memory " + budget));
      if (small.exit_code == 0) continue;
      EXPECT_EQ(small.exit_code, 7) << small.err;
      ++refused;
      std::smatch value;
      ASSERT_TRUE(std::regex_search(small.err, value, std::regex("raise --host-memory to ([0-9]+MiB)"))) << small.err;
      EXPECT_FALSE(std::regex_search(value.suffix().str(), std::regex("raise --host-memory"))) << small.err;
      const CommandResult enough = run_voxshard(train(name, how + "--host-memory " + value[1].str()));
      EXPECT_EQ(enough.exit_code, 0) << how << value[1] << enough.err;
    }
  EXPECT_GE(refused, 2) << "budgets that are refused are what this is about";
  for (const std::string& words :
       {train(folder / "none", "--host-memory 20MiB"), "check " + data() + " --host-memory 20MiB",
        "prepare " + data() + " -o " + (folder / "work") + " --host-memory 20MiB",
        "predict " + run() + " " + data() + "/imagesTs -o " + (folder / "pred") + " --host-memory 20MiB"})
    expect_refusal(words, 7, "budget", "nothing was allocated. Raise --host-memory above ");
  expect_refusal(train(folder / "none", "--memory 1MiB"), 7, "budget", "give --memory ");
}

TEST_F(FirstHourCli, TheTrainingThatPrepareAndDemoSuggestIsSmallAndSaysWhatItLeavesOut) {
  Folder folder("suggested");
  const std::string work = folder / "work";
  const CommandResult prepared = run_voxshard("prepare " + data() + " -o " + work + " --spacing 8,8,8 -q");
  std::string words = suggested_by(prepared);
  EXPECT_EQ(words, "train " + work + " -o run --time 2m");
  EXPECT_THAT(prepared.out, HasSubstr("a first training of about 2 min; leave out --time for the whole model\n"));
  words = std::regex_replace(words, std::regex("-o run (.*)2m"), "-o " + (folder / "run") + " $1 1s");
  const CommandResult trained = run_voxshard(words);
  EXPECT_EQ(trained.exit_code, 0) << words << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("and --time is 1 s)"));

  const CommandResult pictures =
      run_voxshard("demo " + (folder / "pictures") + " --task detection --cases 2 --test 1 -q");
  EXPECT_THAT(suggested_by(pictures), testing::EndsWith(" --model retinanet --batch 2 --time 2m"));
  EXPECT_THAT(pictures.out,
              HasSubstr("a first training of about 2 min; leave out --batch and --time for the whole model\n"));
  const CommandResult clips =
      run_voxshard("demo " + (folder / "clips") + " --task classification --kind motion --cases 4 --test 0 -q");
  EXPECT_THAT(suggested_by(clips), AllOf(testing::EndsWith(" --time 2m"), Not(HasSubstr("--steps"))));
  EXPECT_THAT(clips.out, HasSubstr("a first training of about 2 min; leave out --base-filters and --time"));
}

/// Twelve steps by dice_ce find no lesion, which is a few voxels at 8 mm.
TEST_F(FirstHourCli, ClassesThatWereMissedAreNamedAfterTrainAndEvaluate) {
  Folder folder("missed");
  const std::string run = folder / "run";
  const CommandResult trained =
      run_voxshard("train " + work() + " -o " + run + kModel + "--loss dice_ce --crop 16x16x16 --steps 12 --fold 0");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  std::vector<std::string> expected;
  std::istringstream rows(file_text(run + "/validations.csv"));
  for (std::string row; std::getline(rows, row);) {
    std::smatch part;  // of the one case that validates
    if (std::regex_match(row, part, std::regex("12,last,phantom_[0-9]+,([a-z]+),([0-9.e-]+)")) &&
        std::stod(part[2].str()) < 0.0005)
      expected.push_back(part[1].str() + ": dice 0.000 in 1 of 1 case");
  }
  EXPECT_THAT(expected, testing::Contains("lesion: dice 0.000 in 1 of 1 case"));
  EXPECT_EQ(missed_in(trained.out), expected) << trained.out;
  EXPECT_THAT(trained.out, testing::ContainsRegex("\ndice by class: lungs [0-9.]+, liver [0-9.]+, lesion 0.000, "
                                                  "spine [0-9.]+\n"));

  const CommandResult scored = run_voxshard("evaluate " + run + "/held_out " + data() + "/labelsTr --dataset " +
                                            data() + " -o " + (folder / "scores.json"));
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  const auto means = nlohmann::json::parse(file_text(folder / "scores.json")).at("mean");
  std::vector<std::string> scored_zero;
  const std::vector<std::string> classes = {"lungs", "liver", "lesion", "spine"};
  for (std::size_t c = 0; c < classes.size(); ++c)
    if (means.at(std::to_string(c + 1)).at("Dice") < 0.0005)
      scored_zero.push_back(classes[c] + ": dice 0.000 in 1 of 1 case");
  EXPECT_THAT(scored_zero, testing::Contains("lesion: dice 0.000 in 1 of 1 case"));
  EXPECT_EQ(missed_in(scored.out), scored_zero) << scored.out;
  EXPECT_THAT(missed_in(run_voxshard("evaluate " + data() + "/labelsTs " + data() + "/labelsTs").out),
              testing::IsEmpty());
}

}  // namespace
}  // namespace voxshard
