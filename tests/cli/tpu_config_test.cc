// TPUConfig on the command line and in config files: the same cut as --partition, the flags in --help, wrong ones
// refused with the exit code of a configuration.
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kVerify =
    "verify --model unet3d --size 16x16x16 --base-filters 2 --depth 2 --precision f32 --json ";

CommandResult verify(const std::string& words) { return run_voxshard(kVerify + words); }

CommandResult verify_config(const std::string& name, const std::string& text, const std::string& words = "") {
  Folder folder("tpu");
  folder.write(name, text);
  return verify("--config " + (folder / name) + " " + words);
}

void expect_same(const CommandResult& a, const CommandResult& b) {
  ASSERT_EQ(a.exit_code, 0) << a.err;
  EXPECT_EQ(a.json(), b.json());
  EXPECT_TRUE(a.json().at("equal"));
}

void expect_config_error(const CommandResult& r, const std::string& piece) {
  EXPECT_EQ(r.exit_code, 5) << r.err;
  EXPECT_EQ(r.error_kind(), "config") << r.out;
  EXPECT_THAT(r.err, HasSubstr(piece));
}

TEST(TpuConfigCli, InputPartitionDimsCutAsPartitionDoes) {
  const CommandResult plain = verify("--partition 1x4x1x1x1");
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  const std::string flags = "--num_cores_per_replica 4 --input_partition_dims ";
  expect_same(verify(flags + "'[[1, 4, 1, 1, 1], [1, 4, 1, 1]]'"), plain);
  expect_same(
      verify("--num-cores-per-replica 4 --input-partition-dims '[{image: (1,4,1,1,1)}, {\"labels\": [1,4,1,1,1]}]'"),
      plain);
  expect_same(verify("--input_partition_dims=[1,4,1,1,1]"), plain);
  expect_same(
      verify_config("c.toml", "num_cores_per_replica = 4\ninput_partition_dims = [[1, 4, 1, 1, 1], [1, 4, 1, 1]]\n"),
      plain);
  expect_same(verify_config("c.toml", "[tpu_config]\ninput_partition_dims = [1, 4, 1, 1, 1]\n"), plain);
  expect_same(
      verify_config("c.json",
                    R"({"verify": {"num_cores_per_replica": 4, "input_partition_dims": "[[1,4,1,1,1],[1,4,1,1]]"}})"),
      plain);
}

TEST(TpuConfigCli, LabelsOnEveryCoreOrOnTheFirstGiveTheSameLoss) {
  const double loss = verify("--partition 1x4x1x1x1").json().at("end_to_end").at("loss_partitioned");
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
           {"c.toml", "num_cores_per_replica = 4\ninput_partition_dims = [[1, 4, 1, 1, 1], \"None\"]\n"},
           {"c.json",
            R"({"tpu_config": {"num_cores_per_replica": 4, "input_partition_dims": [[1, 4, 1, 1, 1], null]}})"},
           {"c.toml",
            "num_cores_per_replica = 4\ninput_partition_dims = [{image = [1, 4, 1, 1, 1]}, {labels = [1]}]\n"}}) {
    const CommandResult r = verify_config(name, text);
    EXPECT_EQ(r.exit_code, 0) << text << r.err;
    EXPECT_EQ(r.json().at("end_to_end").at("loss_partitioned"), loss) << text;
  }
}

TEST(TpuConfigCli, ReplicasAreCoresOverCoresPerReplica) {
  const CommandResult plain = verify("--partition 1x2x1x1x1 --replicas 2 --norm-scope replica --batch 2");
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  const std::string flags = "--input_partition_dims '[1, 2, 1, 1, 1]' --train_batch_size 2 ";
  expect_same(verify(flags + "--cores 4"), plain);
  expect_same(verify(flags + "--num_shards 2"), plain);
  expect_config_error(verify(flags + "--cores 4 --num_shards 4"), "set num_shards to 2");
  expect_config_error(verify(flags + "--cores 8"), "train_batch_size is 2, which 4 replicas cannot share evenly");
  expect_config_error(verify(flags + "--cores 4 --replicas 4"), "leave --replicas out");
  expect_config_error(verify(flags + "--cores 3"), "use a multiple of 2 cores");
  expect_config_error(verify(flags + "--cores 1"), "the system has only 1 cores");
  expect_config_error(verify(flags + "--cores 100000"), "--cores is 100000; expected at most 4096");
}

TEST(TpuConfigCli, ASliceIsTheSystemUnlessCoresAreGiven) {
  const std::string flags = "--input_partition_dims '[1, 4, 1, 1, 1]' --train_batch_size 2 --device tpu-v3-8 ";
  expect_same(verify(flags), verify("--partition 1x4x1x1x1 --replicas 2 --norm-scope replica --batch 2"));
  expect_same(verify(flags + "--cores 4"), verify("--partition 1x4x1x1x1 --batch 2"));
  expect_config_error(verify(flags + "--num_shards 1"), "set num_shards to 2");
}

TEST(TpuConfigCli, TheCommandLineWinsOverTheConfig) {
  const std::string text = "train_batch_size = 2\ninput_partition_dims = [1, 2, 1, 1, 1]\nnum_shards = 2\n";
  expect_same(verify_config("c.toml", text, "--batch 4 --num-shards 4"),
              verify("--partition 1x2x1x1x1 --replicas 4 --norm-scope replica --batch 4"));
  expect_config_error(verify_config("c.toml", text, "--partition 1x2x1x1x1"), "both say how samples are cut");
}

TEST(TpuConfigCli, TheDocumentedExampleIsShownMended) {
  const std::string better = "[[1, 4, 1, 1], None]";
  expect_config_error(verify("--num_cores_per_replica 4 --input_partition_dims '[[1, 4, 1, 1], None]]'"),
                      "write input_partition_dims=" + better);
  const std::string line = "input_partition_dims=[[1, 4, 1, 1], None]]\n";
  expect_config_error(verify_config("c.toml", line), R"(c.toml:1)");
  expect_config_error(verify_config("c.toml", line), R"(write input_partition_dims = [[1, 4, 1, 1], "None"])");
  expect_config_error(verify_config("c.json", R"({"input_partition_dims": [[1, 4, 1, 1], None]]})"),
                      R"(write "input_partition_dims": [[1, 4, 1, 1], null])");
}

TEST(TpuConfigCli, WrongOnesExitWithTheConfigCodeOnEveryCommand) {
  Folder folder("tpu_refused");
  folder.write("c.toml", "num_cores_per_replica = 6\n");
  for (const std::string command :
       {"verify --size 8x8x8", "bench step --size 8x8x8", "explain --size 8x8x8", "train w -o r"})
    for (const auto& [words, piece] : std::vector<std::pair<std::string, std::string>>{
             {"--input_partition_dims '[[1, 4, 1, 1, 1], None]'", "num_cores_per_replica is not"},
             {"--num_cores_per_replica 4 --input_partition_dims '[[1, 4, 1, 1, 1]]' --per_host_input_for_training 2",
              "set it to PER_HOST_V2"},
             {"--num_cores_per_replica 4 --input_partition_dims '[[1, 2, 1, 1, 1]]'", "product is 2"},
             {"--num_cores_per_replica 4 --input_partition_dims '[[1, 4, 1, 1]]'", "has 4 entries"},
             {"--num_cores_per_replica 4", "say how with input_partition_dims"},
             {"--iterations_per_loop 0", "iterations_per_loop is \"0\""},
             {"--num-shards two", "num_shards is \"two\""},
             {"--config " + (folder / "c.toml"), "num_cores_per_replica is 6"}})
      expect_refusal(command + " " + words, 5, "config", piece);
}

TEST(TpuConfigCli, UnknownKeysNameTheNearest) {
  expect_config_error(verify_config("c.toml", "[tpu_config]\nnum_core_per_replica = 4\n"),
                      "did you mean num_cores_per_replica?");
  expect_config_error(verify_config("c.toml", "iterations_per_loops = 4\n"), "did you mean iterations_per_loop?");
  expect_config_error(verify_config("c.toml", "num_base_filter = 4\n"), "did you mean num_base_filters?");
}

TEST(TpuConfigCli, TheKeysOfTheReferenceModelsAreOptions) {
  const CommandResult r =
      run_voxshard("verify --json --config " + std::string(VOXSHARD_SOURCE_DIR) +
                   "/data/configs/v3-8_128x128x128_ce.toml --size 16x8x8 --base-filters 2 --depth 2 --batch 2");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("end_to_end").at("loss_uncut"),
            run_voxshard("verify --json --loss cross_entropy --partition 1x8x1x1x1 "
                         "--size 16x8x8 --base-filters 2 --depth 2 --batch 2")
                .json()
                .at("end_to_end")
                .at("loss_uncut"));
  Folder folder("reference");
  folder.write("c.toml", "dropout_rate = 0.5\n");
  const std::string small = "explain --size 8x8x8 --base-filters 2 --depth 2 --config " + (folder / "c.toml");
  EXPECT_THAT(run_voxshard(small).err, HasSubstr("dropout_rate has no effect"));
  EXPECT_THAT(run_voxshard(small + " --quiet").err, IsEmpty());
}

TEST(TpuConfigCli, HelpHasTheOriginalNamesInAGroup) {
  for (const char* command : {"train", "verify", "bench", "explain"}) {
    const std::string help = run_voxshard(std::string(command) + " --help-all").out;
    for (const char* piece :
         {"TPUConfig (original names)", "--num_cores_per_replica", "--input_partition_dims", "--iterations_per_loop",
          "--per_host_input_for_training", "--train_batch_size", "--num_shards", "--num-cores-per-replica"})
      EXPECT_THAT(help, HasSubstr(piece)) << command;
  }
}

TEST_F(TrainedCli, TrainLooksOncePerLoopAndKeepsHowInputsLie) {
  Folder folder("loop");
  folder.write("c.toml",
               "train_batch_size = 2\niterations_per_loop = \"60m\"\ninit_learning_rate = 1e-3\nlr_decay_steps = 2\n"
               "[tpu_config]\nnum_cores_per_replica = 2\ninput_partition_dims = [[1, 2, 1, 1, 1], \"None\"]\n");
  const CommandResult r = run_voxshard("train " + work() + " -o " + (folder / "run") + kModel + kTraining +
                                       "--config " + (folder / "c.toml"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("train 2/2"));
  EXPECT_THAT(r.err, Not(HasSubstr("train 1/2")));
  const auto run_json = nlohmann::json::parse(file_text(folder / "run/run.json"));
  EXPECT_EQ(run_json.at("model").at("partition"), "1x2x1x1x1");
  EXPECT_EQ(run_json.at("model").at("inputs"), nlohmann::json({{"labels", "replicated"}}));
  EXPECT_EQ(run_json.at("training").at("batch"), 2);
  EXPECT_EQ(run_json.at("training").at("schedule"), "0.5^(step / 2)");
  const CommandResult predicted =
      run_voxshard("predict " + (folder / "run") + " " + data() + "/imagesTs -o " + (folder / "out"));
  EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
}

}  // namespace
}  // namespace voxshard
