// Training of classifiers as a user runs it: published values are the defaults, passes over the data count as steps, a
// TPUConfig, stops.
#include <cmath>
#include <sstream>

#include "tests/cli/process.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// 200 generated digits to train, 20 to validate.
class TrainClassesCli : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder("train_classes");
    ASSERT_EQ(run_voxshard("demo " + file("data") + " --task classification --cases 200 --test 20 -q").exit_code, 0);
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string file(const std::string& name) { return *folder_ / name; }
  static std::string words(const std::string& run, const std::string& more) {
    return "train " + file("data") + " -o " + file(run) + " --model digits --precision f32 " + more;
  }
  static CommandResult train(const std::string& run, const std::string& more) {
    const CommandResult r = run_voxshard(words(run, more));
    EXPECT_EQ(r.exit_code, 0) << more << "\n" << r.err;
    return r;
  }
  static json training(const std::string& run) {
    return json::parse(file_text(file(run + "/run.json"))).at("training");
  }
  /// Returns a column of results.csv.
  static std::vector<double> column(const std::string& run, std::size_t index) {
    std::istringstream rows(file_text(file(run + "/results.csv")));
    std::vector<double> values;
    std::string line, cell;
    for (std::getline(rows, line); std::getline(rows, line);) {
      std::istringstream cells(line);
      for (std::size_t i = 0; i <= index; ++i) std::getline(cells, cell, ',');
      values.push_back(std::stod(cell));
    }
    return values;
  }
  static std::vector<double> losses(const std::string& run) { return column(run, 1); }
  static std::vector<double> rates(const std::string& run) { return column(run, 3); }
  inline static Folder* folder_ = nullptr;
};

TEST_F(TrainClassesCli, DigitsAreTrainedAsPublishedUnlessToldOtherwise) {
  const CommandResult r = train("published", "--epochs 1");
  EXPECT_THAT(r.err, HasSubstr("chosen: --batch 64 (as published for the digits CNN)"));
  EXPECT_THAT(r.err, HasSubstr("chosen: --learning-rate 0.01 "));
  EXPECT_THAT(r.err, Not(HasSubstr("chosen: --epochs")));
  EXPECT_EQ(training("published").at("batch"), 64);
  EXPECT_EQ(training("published").at("schedule"), "0.7^floor(step / 4)") << "200 cases are 4 batches";
  EXPECT_THAT(rates("published"), ElementsAre(0.01, 0.01, 0.01, 0.01));
  const CommandResult more = run_voxshard("train --resume " + file("published") + " --epochs 2");
  ASSERT_EQ(more.exit_code, 0) << more.err;
  ASSERT_EQ(rates("published").size(), 8u);
  for (std::size_t step = 4; step < 8; ++step) EXPECT_DOUBLE_EQ(rates("published")[step], 0.007);
  EXPECT_THAT(more.err, Not(HasSubstr("stretched"))) << "the rate of a step does not depend on how many there are";
  const CommandResult steps = run_voxshard("train --resume " + file("published") + " --steps 9");
  ASSERT_EQ(steps.exit_code, 0) << steps.err;
  EXPECT_EQ(rates("published").size(), 9u) << "steps in place of the epochs that the run began with";
  EXPECT_NEAR(rates("published")[8], 0.0049, 1e-12);
}

TEST_F(TrainClassesCli, WhatIsGivenIsNotChosen) {
  const CommandResult r = train("given", "--steps 2 --batch 10 --schedule constant --learning-rate 1e-3");
  EXPECT_THAT(r.err, Not(HasSubstr("chosen:")));
  EXPECT_THAT(rates("given"), ElementsAre(1e-3, 1e-3));
  EXPECT_EQ(training("given").at("batch"), 10);
  EXPECT_THAT(train("sgd", "--steps 1 --optimizer sgd").err,
              HasSubstr("chosen: --learning-rate 0.025 (of sgd, 0.1 at 256 samples a step"));
  expect_refusal(words("both", "--steps 2 --epochs 1"), 2, "usage", "excludes");
  expect_refusal(words("far", "--epochs 1000000000"), 2, "usage", "--epochs is 1e+09");
}

TEST_F(TrainClassesCli, TheBatchIsThatOfEachReplica) {
  const CommandResult two = train("two", "--epochs 1 --replicas 2 --partition 1x2x1x1");
  EXPECT_THAT(two.err, HasSubstr("chosen: --batch 128 (64 for each replica: as published"));
  EXPECT_EQ(rates("two").size(), 2u) << "200 cases in batches of 128";
  const CommandResult shards = train("shards", "--epochs 1 --num_shards 2 --partition 1x2x1x1");
  EXPECT_EQ(training("shards").at("batch"), 128);
  EXPECT_THAT(shards.err, HasSubstr("chosen: --preset reference (num_shards is given"));
  EXPECT_THAT(rates("shards"), ElementsAre(0.01, 0.01)) << "the reference is what was published";
}

TEST_F(TrainClassesCli, InATimeTheRateFallsUntilTheEndAndTheRunGoesOnSo) {
  train("timed", "--time 3s");
  const std::vector<double> before = rates("timed");
  ASSERT_FALSE(before.empty());
  EXPECT_LE(before.back(), before.front() * std::pow(static_cast<double>(before.size()), -0.8))
      << "not by 0.7 after each pass over the data";
  ASSERT_EQ(
      run_voxshard("train " + file("data") + " -o " + file("as_written") + " --config " + file("timed/config.json"))
          .exit_code,
      0);
  EXPECT_EQ(losses("as_written"), losses("timed")) << "its settings give the same run without the time";
  const CommandResult again = train("timed", "--resume");
  EXPECT_THAT(again.err, Not(HasSubstr("chosen: --epochs")));
  EXPECT_EQ(rates("timed"), before) << "it has done its steps";
}

TEST_F(TrainClassesCli, LargerDigitsAreSuggestedAModelOfTheirSize) {
  const CommandResult demo =
      run_voxshard("demo " + file("larger") + " --task classification --size medium --cases 20 --test 4");
  ASSERT_EQ(demo.exit_code, 0) << demo.err;
  for (const std::string& told : {demo.out + demo.err, run_voxshard("info " + file("larger")).out})
    EXPECT_THAT(told, HasSubstr("--size-multiplier 2"));
  const CommandResult r = run_voxshard("train " + file("larger") + " -o " + file("enlarged") +
                                       " --model digits --size-multiplier 2 --batch 4 --steps 1 --precision f32");
  EXPECT_EQ(r.exit_code, 0) << "nothing is left out\n" << r.err;
}

TEST_F(TrainClassesCli, ATpuConfigWithNoneForLabelsTrainsAsThePartitionDoes) {
  train("cut", "--steps 3 --partition 1x4x1x1");
  train("tpu", "--steps 3 --num_cores_per_replica 4 --input_partition_dims '[[1, 4, 1, 1], None]'");
  EXPECT_EQ(losses("tpu"), losses("cut"));
  EXPECT_EQ(rates("tpu"), rates("cut"));
  train("hosts", "--steps 3 --partition 1x4x1x1 --feed per-host --iterations_per_loop 3");
  EXPECT_EQ(losses("hosts"), losses("cut"));
}

TEST_F(TrainClassesCli, TheExampleConfigsTrain) {
  const std::string configs = " --config " VOXSHARD_SOURCE_DIR "/data/configs/";
  train("digits_toml", "--steps 4 --partition 1x4x1x1" + configs + "digits.toml");
  train("plain", "--epochs 1 --partition 1x4x1x1");
  json told = training("digits_toml"), plain = training("plain");
  EXPECT_EQ(told, plain) << "the file says what stands where nothing is said";
  EXPECT_EQ(losses("digits_toml"), losses("plain"));
  const CommandResult r =
      run_voxshard("train " + file("data") + " -o " + file("resnet") + configs +
                   "resnet50.toml --steps 1 --batch 8 --size 32x32 --base-filters 4 --precision f32");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const json t = training("resnet");
  EXPECT_EQ(t.at("schedule"), "times 0.1 at 37530 75060 100080") << "epochs of 1281167 / 1024 steps";
  EXPECT_EQ(json::array({t.at("optimizer"), t.at("learning_rate"), t.at("momentum"), t.at("nesterov"),
                         t.at("weight_decay"), t.at("warmup_steps")}),
            json::array({"sgd", 0.4, 0.9, true, 1e-4, 6255}));
  EXPECT_DOUBLE_EQ(rates("resnet").front(), 0.4 / 6255) << "from 0";
}

TEST_F(TrainClassesCli, ARunThatIsStoppedGoesOnToTheSameBits) {
  const std::string options = "--steps 60 --batch 16 --partition 1x4x1x1 --checkpoint-every 1000";
  train("whole", options);
  Process p(words("stopped", options));
  ASSERT_TRUE(p.read_until("train 0/60"));
  while (!std::filesystem::exists(file("stopped/results.csv")))
    ASSERT_FALSE(std::filesystem::exists(file("stopped/no")));
  p.send(SIGTERM);
  const CommandResult stopped = p.wait();
  EXPECT_EQ(stopped.exit_code, 143) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("next: voxshard train --resume " + file("stopped")));
  ASSERT_EQ(run_voxshard("train --resume " + file("stopped")).exit_code, 0);
  for (const char* name : {"last", "best"})
    EXPECT_TRUE(file_text(file(std::string("stopped/checkpoints/") + name + ".safetensors")) ==
                file_text(file(std::string("whole/checkpoints/") + name + ".safetensors")))
        << name;
  EXPECT_EQ(losses("stopped"), losses("whole"));
}

TEST_F(TrainClassesCli, BudgetsAreKeptOrRefused) {
  expect_refusal(words("small", "--steps 1 --memory 1MiB"), 7, "budget", "nothing was allocated");
  expect_refusal(words("small", "--steps 1 --host-memory 20MiB"), 7, "budget", "nothing was allocated");
  EXPECT_FALSE(std::filesystem::exists(file("small/checkpoints")));
  const CommandResult r = train("fits", "--steps 1 --batch 16 --partition auto --cores 4 --device tpu-v3 --json");
  EXPECT_GT(r.json().at("memory").at("planned_bytes"), 0);
  ASSERT_EQ(run_voxshard("predict " + file("fits") + " " + file("data") + " -o " + file("a.json")).exit_code, 0);
  ASSERT_EQ(
      run_voxshard("predict " + file("fits") + " " + file("data") + " -o " + file("b.json") + " --partition 1x2x2x1")
          .exit_code,
      0);
  EXPECT_EQ(file_text(file("a.json")), file_text(file("b.json"))) << "a checkpoint of another grid";
  train("grid", "--steps 1 --batch 16 --partition 1x2x1x1");
  const CommandResult other = run_voxshard("train --resume " + file("grid") + " --partition 1x7x1x1 --steps 2");
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.err, HasSubstr("the run goes on cut otherwise: --partition 1x7x1x1 (before: 1x2x1x1)"));
}

TEST_F(TrainClassesCli, EveryCommandKnowsTheModelAndItsOnlySize) {
  for (const auto& [words, key] : std::vector<std::pair<std::string, std::string>>{
           {"plan --batch 512 --device tpu-v3-8", "time"},
           {"bench step --batch 8 --steps 1 --warmup 0 --partition 1x4x1x1", "step_seconds"},
           {"bench step --batch 8 --steps 1 --size-multiplier 2 --trace " + file("t.json") + " --device tpu-v3",
            "step_seconds"},
           {"explain --batch 64 --num_cores_per_replica 4 --input_partition_dims '[[1, 4, 1, 1], None]' --stage config",
            "text"},
           {"explain --batch 64 --partition 1x4x1x1 --stage passes", "text"},
           {"explain --partition 1x4x1x1 --draw " + file("cut.png"), "tiles"}}) {
    const CommandResult r = run_voxshard(words + " --model digits --json");
    EXPECT_EQ(r.exit_code, 0) << words << "\n" << r.err;
    EXPECT_TRUE(r.json().is_object() && r.json().contains(key)) << words << "\n" << r.out;
  }
  EXPECT_GT(std::filesystem::file_size(file("cut.png")), 1000u);
  EXPECT_TRUE(json::parse(file_text(file("t.json"))).contains("traceEvents"));
  expect_refusal("plan --model digits --size 64x64", 5, "config", "makes images 28x28, got 64x64");
}

}  // namespace
}  // namespace voxshard
