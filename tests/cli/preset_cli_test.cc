// The choices of plain `train` are printed with their reasons, kept by the run, and never replace options that are
// given.
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class PresetCli : public TrainedCli {
 protected:
  static constexpr const char* kSmall = " --base-filters 4 --depth 3 --crop 16x16x16 --fold all --steps ";
  static CommandResult train(const std::string& run, const std::string& more, int steps = 20) {
    return run_voxshard("train " + work() + " -o " + run + kSmall + std::to_string(steps) + " " + more);
  }
  static json record(const std::string& run) { return json::parse(file_text(run + "/run.json")); }
  static json model(const std::string& run) { return record(run).at("model"); }
  static json training(const std::string& run) { return record(run).at("training"); }
  static std::string chosen(const json& run, const std::string& option) {
    for (const json& row : run.at("recipe"))
      if (row.at("option") == option) return row.at("value");
    return "";
  }
};

TEST_F(PresetCli, PlainTrainSaysWhatItChoosesAndWhyAndRecordsIt) {
  Folder folder("preset_plain");
  const CommandResult r = train(folder / "run", "");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err,
              HasSubstr("chosen: --norm instance (a batch norm would have the statistics of 1 sample a step)\n"));
  EXPECT_THAT(r.err, HasSubstr("chosen: --precision "));
  EXPECT_EQ(model(folder / "run").at("norm"), "instance");
  EXPECT_EQ(model(folder / "run").at("slope"), 0.01);
  EXPECT_EQ(training(folder / "run").at("warmup_steps"), 2);
  EXPECT_GT(training(folder / "run").at("clip_norm"), 0);
  const json run = record(folder / "run");
  EXPECT_EQ(model(folder / "run").at("loss"), "log_dice_ce");
  EXPECT_EQ(run.at("recipe").size(), 7u);
  EXPECT_EQ(model(folder / "run").at("precision"), chosen(run, "precision"));
  EXPECT_THAT(train(folder / "quiet", "--quiet").err, testing::IsEmpty());
}

TEST_F(PresetCli, TheReferenceIsTheOriginalWithNothingChosen) {
  Folder folder("preset_reference");
  const CommandResult r = train(folder / "run", "--preset reference");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, Not(HasSubstr("chosen:")));
  const json m = model(folder / "run"), t = training(folder / "run");
  EXPECT_EQ(json::array({m.at("norm"), m.at("slope"), m.at("loss"), m.at("precision")}),
            json::array({"batch", 0.0, "dice_ce", "bf16"}));
  EXPECT_EQ(json::array(
                {t.at("optimizer"), t.at("learning_rate"), t.at("schedule"), t.at("warmup_steps"), t.at("clip_norm")}),
            json::array({"adam", 1e-3, "polynomial", 0, 0.0}));
  EXPECT_EQ(record(folder / "run").at("recipe"), json::array());
}

TEST_F(PresetCli, ATimeFixesTheStepsAndTheseStepsGiveTheSameRun) {
  Folder folder("preset_time");
  const std::string small = " --base-filters 4 --depth 3 --crop 16x16x16 --fold all ";
  for (const std::string preset : {"auto", "reference"}) {
    const std::string run = folder / preset, again = folder / ("again_" + preset);
    const CommandResult r = run_voxshard("train " + work() + " -o " + run + small + "--time 2s --preset " + preset);
    ASSERT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.err, HasSubstr("chosen: --steps "));
    EXPECT_THAT(r.err, HasSubstr("and --time is 2 s)"));
    const int steps = std::stoi(chosen(record(run), "steps"));
    EXPECT_GE(steps, 1);
    EXPECT_EQ(chosen(record(run), "precision"), preset == "auto" ? model(run).at("precision").get<std::string>() : "");
    ASSERT_EQ(run_voxshard("train " + work() + " -o " + again + small + "--steps " + std::to_string(steps) +
                           " --preset " + preset)
                  .exit_code,
              0);
    EXPECT_EQ(file_text(run + "/checkpoints/last.safetensors"), file_text(again + "/checkpoints/last.safetensors"));
    const CommandResult more = run_voxshard("train --resume " + run + " --steps " + std::to_string(steps + 1));
    EXPECT_EQ(more.exit_code, 0) << more.err;
  }
}

TEST_F(PresetCli, TheConfigOfATimedAndPlannedRunGivesTheSameBytes) {
  Folder folder("preset_config");
  const std::string run = folder / "run", again = folder / "again";
  const CommandResult r =
      run_voxshard("train " + work() + " -o " + run +
                   " --base-filters 4 --depth 3 --crop 16x16x16 --fold all --time 2s --partition auto "
                   "--cores 2 --device tpu-v3 --quiet");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const json config = json::parse(file_text(run + "/config.json")).at("train");
  EXPECT_EQ(config.at("steps"), std::stoi(chosen(record(run), "steps")));
  EXPECT_EQ(config.at("precision"), model(run).at("precision"));
  EXPECT_NE(config.at("partition"), "auto");
  const CommandResult same = run_voxshard("train " + work() + " -o " + again + " --config " + run + "/config.json");
  ASSERT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.err, Not(HasSubstr("chosen:")));
  EXPECT_EQ(file_text(run + "/checkpoints/last.safetensors"), file_text(again + "/checkpoints/last.safetensors"));
}

TEST_F(PresetCli, ATimeChoosesTheFiltersThatNothingSaysAndTheConfigGivesTheSameRun) {
  Folder folder("preset_filters");
  const std::string run = folder / "run", again = folder / "again", reference = folder / "reference";
  const std::string small = " --depth 3 --crop 16x16x16 --fold all --time 1s --threads 1 ";
  const CommandResult r = run_voxshard("train " + work() + " -o " + run + small);
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("chosen: --base-filters 8 ("));
  EXPECT_THAT(r.err, HasSubstr("fit into --time, at least "));
  EXPECT_EQ(chosen(record(run), "base-filters"), "8");
  EXPECT_EQ(record(run).at("layers").at("base-filters"), "recipe");
  EXPECT_EQ(model(run).at("base_filters"), 8);

  const CommandResult same = run_voxshard("train " + work() + " -o " + again + " --config " + run + "/config.json");
  ASSERT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.err, Not(HasSubstr("chosen:")));
  EXPECT_EQ(file_text(run + "/checkpoints/last.safetensors"), file_text(again + "/checkpoints/last.safetensors"));

  const std::string more = std::to_string(std::stoi(chosen(record(run), "steps")) + 1);
  const CommandResult resumed = run_voxshard("train --resume " + run + " --steps " + more);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(model(run).at("base_filters"), 8);
  EXPECT_EQ(chosen(record(run), "base-filters"), "8");

  const CommandResult original = run_voxshard("train " + work() + " -o " + reference + small + "--preset reference");
  ASSERT_EQ(original.exit_code, 0) << original.err;
  EXPECT_EQ(model(reference).at("base_filters"), 32);
}

TEST_F(PresetCli, ATimeGoesWithNothingElseThatSaysTheSteps) {
  Folder folder("preset_time_refused");
  const std::string train = "train " + work() + " -o " + (folder / "run");
  expect_refusal(train + " --time soon", 2, "usage", "--time is \"soon\"; expected a whole number with s, m or h");
  expect_refusal(train + " --time 5", 2, "usage", "--time is \"5\"");
  expect_refusal(train + " --time 1m --steps 4", 2, "usage", "--time");
}

TEST_F(PresetCli, WhatIsGivenOrInAConfigIsNotChosen) {
  Folder folder("preset_given");
  folder.write("c.toml", "clip-norm = 7\nnorm = \"batch\"\n");
  const CommandResult r =
      train(folder / "run", "--learning-rate 2e-3 --precision bf16 --config " + (folder / "c.toml"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  for (const char* option : {"--learning-rate", "--precision", "--clip-norm", "--norm "})
    EXPECT_THAT(r.err, Not(HasSubstr(std::string("chosen: ") + option))) << option;
  const json m = model(folder / "run"), t = training(folder / "run");
  EXPECT_EQ(json::array({m.at("norm"), m.at("precision"), m.at("slope"), t.at("learning_rate"), t.at("clip_norm")}),
            json::array({"batch", "bf16", 0.01, 2e-3, 7.0}));
}

TEST_F(PresetCli, ATpuConfigAndTheOriginalsKeysTrainAsPublished) {
  Folder folder("preset_tpu");
  const CommandResult r = train(folder / "shards", "--num_shards 1");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("chosen: --preset reference (num_shards is given"));
  EXPECT_EQ(model(folder / "shards").at("norm"), "batch");
  folder.write("c.toml", "init_learning_rate = 5e-4\n");
  ASSERT_EQ(train(folder / "keys", "--config " + (folder / "c.toml")).exit_code, 0);
  EXPECT_EQ(model(folder / "keys").at("norm"), "batch");
  EXPECT_EQ(training(folder / "keys").at("learning_rate"), 5e-4);
  EXPECT_EQ(training(folder / "keys").at("clip_norm"), 0.0);
  ASSERT_EQ(train(folder / "told", "--preset auto --config " + (folder / "c.toml")).exit_code, 0);
  EXPECT_EQ(model(folder / "told").at("norm"), "instance");
  EXPECT_EQ(training(folder / "told").at("learning_rate"), 5e-4);
}

TEST_F(PresetCli, ARunGoesOnWithWhatWasChosenWhenItBegan) {
  Folder folder("preset_resume");
  ASSERT_EQ(train(folder / "run", "").exit_code, 0);
  const json before = record(folder / "run");
  const CommandResult grown = run_voxshard("train --resume " + (folder / "run") + " --steps 40");
  ASSERT_EQ(grown.exit_code, 0) << grown.err;
  EXPECT_THAT(grown.err, Not(HasSubstr("chosen:")));
  EXPECT_EQ(training(folder / "run").at("warmup_steps"), 2) << "not a tenth of 40";
  EXPECT_EQ(record(folder / "run").at("recipe"), before.at("recipe"));
  const CommandResult said = train(folder / "run", "--resume", 42);
  EXPECT_EQ(said.exit_code, 0) << said.err;
  EXPECT_EQ(training(folder / "run").at("warmup_steps"), 2);
  expect_refusal("train --resume " + (folder / "run") + " --preset reference", 5, "config", "leave --preset out");
  expect_refusal("train --resume " + (folder / "run") + " --norm batch --steps 44", 5, "config",
                 "--norm is batch now, and instance there");
}

TEST_F(PresetCli, ARunOfTheReferenceKeepsIt) {
  Folder folder("preset_kept");
  ASSERT_EQ(train(folder / "run", "--preset reference").exit_code, 0);
  const CommandResult named = run_voxshard("train --resume " + (folder / "run") + " --steps 21");
  EXPECT_EQ(named.exit_code, 0) << named.err;
  const CommandResult said = train(folder / "run", "--resume", 22);
  EXPECT_EQ(said.exit_code, 0) << said.err;
  EXPECT_EQ(model(folder / "run").at("norm"), "batch");
}

TEST_F(PresetCli, MoreStepsThatStretchTheScheduleAreSaid) {
  Folder folder("preset_steps");
  ASSERT_EQ(train(folder / "run", "--warmup-steps 0 --learning-rate 1e-3").exit_code, 0);
  const CommandResult grown = run_voxshard("train --resume " + (folder / "run") + " --steps 40");
  EXPECT_THAT(
      grown.err,
      HasSubstr("--steps grew from 20 to 40, and the polynomial schedule is stretched over them: the learning rate "
                "goes on at 0.000536 instead of 0;"));
  EXPECT_THAT(run_voxshard("train --resume " + (folder / "run")).err, Not(HasSubstr("stretched")));
  ASSERT_EQ(train(folder / "constant", "--schedule constant").exit_code, 0);
  EXPECT_THAT(run_voxshard("train --resume " + (folder / "constant") + " --steps 21").err, Not(HasSubstr("stretched")));
}

TEST(PresetHelp, SaysWhatIsChosenAndWhatTheReferenceHas) {
  const std::string help = run_voxshard("train --help-all").out;
  for (const char* piece :
       {"--preset TEXT:{auto,reference}=auto", "--norm TEXT=auto (reference: batch)",
        "--learning-rate FLOAT:0 to 1e+38=auto (reference: 0.001)", "--clip-norm FLOAT:0 to 1e+38=auto (reference: 0)",
        "--precision TEXT=auto (reference: bf16)"})
    EXPECT_THAT(help, HasSubstr(piece));
  EXPECT_THAT(run_voxshard("verify --help-all").out, HasSubstr("--norm TEXT=batch"));
}

}  // namespace
}  // namespace voxshard
