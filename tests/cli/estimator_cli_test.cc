// TPUEstimator's behaviour on the command line: evaluate RUN DATA, the conditions of evaluation and prediction from
// flags and config files, how samples are fed, and the device that a run reports.
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class EstimatorCli : public TrainedCli {
 protected:
  static std::string evaluate(const std::string& words) { return "evaluate " + run() + " " + work() + " " + words; }
  static std::string predict(const std::string& words) {
    return "predict " + run() + " " + data() + "/imagesTs -o " + (*folder_ / "out") + " " + words;
  }
};

TEST_F(EstimatorCli, EvaluateOfARunGivesWhatTheOriginalReports) {
  const std::string file = *folder_ / "scores.json";
  const CommandResult r = run_voxshard(evaluate("--eval_batch_size 2 --json -o " + file));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  for (const char* key : {"loss", "accuracy", "adaptive_dice32", "categorical_crossentropy"}) {
    EXPECT_TRUE(r.json().at(key).is_number()) << key;
    EXPECT_EQ(nlohmann::json::parse(file_text(file)).at(key), r.json().at(key));
  }
  EXPECT_EQ(r.json().at("eval_batch_size"), 2);
  EXPECT_EQ(r.json().at("eval_steps"), 1);
  EXPECT_EQ(r.json().at("global_step"), 2);
  EXPECT_TRUE(r.json().contains("memory"));
  const CommandResult text = run_voxshard(evaluate("--eval-batch-size 2"));
  EXPECT_THAT(text.out, AllOf(HasSubstr("adaptive_dice32"), HasSubstr("1 batches of 2"), HasSubstr("global step 2")));
  const CommandResult checkpoint =
      run_voxshard("evaluate " + run() + "/checkpoints/last.safetensors " + work() + " --eval_batch_size 2 --json");
  EXPECT_EQ(checkpoint.json().at("loss"), r.json().at("loss"));
}

TEST_F(EstimatorCli, WhatIsOfLabelMapsAndWhatIsOfRunsIsNotMixed) {
  expect_refusal(evaluate("--dataset " + data()), 2, "usage",
                 "--dataset is for label maps, and " + run() + " is a run");
  const CommandResult crop = run_voxshard("evaluate " + data() + "/labelsTs " + data() + "/labelsTs --crop 8x8x8");
  EXPECT_EQ(crop.exit_code, 0);
  EXPECT_THAT(crop.err, HasSubstr("--crop has no effect: it is for a run, and"));
  expect_refusal("evaluate " + run() + " " + data(), 3, "input", "voxshard prepare");
  EXPECT_EQ(run_voxshard("evaluate " + data() + "/labelsTs " + data() + "/labelsTs --quiet").exit_code, 0)
      << "as before";
}

TEST_F(EstimatorCli, TheConditionsOfEvaluationAndPredictionReachThem) {
  Folder folder("conditions");
  folder.write("c.toml",
               "num_cores = 8\neval_batch_size = 1\npredict_batch_size = 3\ntrain_batch_size = 8\n"
               "[tpu_config]\ninput_partition_dims = [1, 4, 1, 1, 1]\n");
  const std::string config = " --config " + (folder / "c.toml");
  expect_refusal(evaluate(config), 5, "config", "eval_batch_size is 1, which 2 replicas cannot share evenly");
  expect_refusal(predict(config), 5, "config", "predict_batch_size is 3, which 2 replicas cannot share evenly");
  expect_refusal(evaluate(config + " --eval_batch_size 2 --num_shards 4"), 5, "config", "set num_shards to 2");
  expect_refusal(predict(config + " --predict_batch_size 2 --num_shards 4"), 5, "config", "set num_shards to 2");
  expect_refusal(predict(config + " --predict_batch_size 8 --cores 32"), 5, "config", "predictions need one host");
  const CommandResult evaluated = run_voxshard(evaluate(config + " --eval_batch_size 2 --json"));
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_EQ(evaluated.json().at("partition"), "1x4x1x1x1");
  EXPECT_EQ(evaluated.json().at("replicas"), 2);
  EXPECT_EQ(run_voxshard(evaluate(config + " --eval_on_tpu false --json")).json().at("replicas"), 1);
  const CommandResult predicted = run_voxshard(predict(config + " --predict_batch_size 2"));
  EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
}

TEST_F(EstimatorCli, PerHostFeedingIsTheSameRunAndIsMeasured) {
  const std::string train = std::string(kModel) +
                            "--crop 16x16x16 --steps 2 --fold all --batch 2 --replicas 2 --partition 1x2x1x1x1 --json "
                            "--per_host_input_for_training PER_HOST_V2 ";
  const auto trained = [&](const std::string& feed) {
    const CommandResult r = run_voxshard("train " + work() + " -o " + (*folder_ / feed) + train + "--feed " + feed);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return r;
  };
  const CommandResult boxes = trained("boxes"), host = trained("per-host");
  EXPECT_THAT(boxes.err, HasSubstr("PER_HOST_V2: here each core reads its own box; --feed per-host"));
  EXPECT_THAT(host.err,
              AllOf(HasSubstr("fed by whole samples on the host of core 0"), Not(HasSubstr("each core reads"))));
  EXPECT_EQ(boxes.json().at("loss"), host.json().at("loss"));
  const std::string last = "/checkpoints/last.safetensors";
  EXPECT_TRUE(file_text((*folder_ / "boxes") + last) == file_text((*folder_ / "per-host") + last)) << "to the byte";
  const auto by_box = boxes.json().at("feed"), whole = host.json().at("feed");
  EXPECT_EQ(by_box.at("mode"), "boxes");
  EXPECT_EQ(whole.at("mode"), "per-host");
  EXPECT_EQ(whole.at("bytes_read"), by_box.at("bytes_read"));
  EXPECT_EQ(whole.at("largest_read_bytes"), 2 * by_box.at("largest_read_bytes").get<int>());
  EXPECT_GT(whole.at("staged_peak_bytes"), by_box.at("staged_peak_bytes"));
  EXPECT_GT(whole.at("seconds"), 0);
}

TEST_F(EstimatorCli, DeviceAutoSaysFirstWhereItRunsAndFallsBack) {
  const std::string verify =
      "verify --size 16x8x8 --base-filters 2 --depth 2 --precision f32 --input_partition_dims '[1, 4, 1, 1, 1]' ";
  const CommandResult slice = run_voxshard(verify + "--batch 2 --device auto:tpu-v3-8");
  ASSERT_EQ(slice.exit_code, 0) << slice.err;
  EXPECT_THAT(
      slice.err,
      StartsWith("Running on tpu-v3-8, emulated on this machine: 8 cores of 1 host; Replicas: 2 (4 cores each)"));
  const CommandResult absent =
      run_voxshard(verify + "--batch 2 --num_shards 2 --device auto:" + (*folder_ / "mine.json"));
  ASSERT_EQ(absent.exit_code, 0) << absent.err;
  EXPECT_THAT(absent.err, AllOf(StartsWith("Running on this machine"), HasSubstr("Replicas: 2 (4 cores each)"),
                                HasSubstr("mine.json is absent, falling back to this machine")));
  EXPECT_EQ(run_voxshard(verify + "--batch 2 --device " + (*folder_ / "mine.json")).exit_code, 5)
      << "by its name it must be there";
  EXPECT_EQ(run_voxshard(verify + "--batch 2 --device automatic").exit_code, 5);
}

TEST_F(EstimatorCli, DeviceAutoWarnsOfABatchThatLeavesReplicasIdle) {
  const std::string verify =
      "verify --size 16x8x8 --base-filters 2 --depth 2 --precision f32 --input_partition_dims '[1, 2, 1, 1, 1]' ";
  const CommandResult r = run_voxshard(verify + "--batch 6 --device auto:tpu-v3-8");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err,
              AllOf(HasSubstr("Replicas: 3"),
                    HasSubstr("the batch 6 is no multiple of 4 replicas: 3 run, 2 cores stand idle; a batch of 8")));
  EXPECT_EQ(run_voxshard(verify + "--batch 6 --device tpu-v3-8").exit_code, 5) << "named, it is the original's refusal";
}

TEST_F(EstimatorCli, TrainWarnsOfSharesTooThinForTheMatrixUnit) {
  const CommandResult r = run_voxshard("train " + work() + " -o " + (*folder_ / "thin") + kModel + kTraining +
                                       "--partition 1x8x1x1x1 --device auto:tpu-v3-8");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, AllOf(HasSubstr("Running on tpu-v3-8"), HasSubstr("too thin for the 128 x 128 matrix unit")));
}

}  // namespace
}  // namespace voxshard
