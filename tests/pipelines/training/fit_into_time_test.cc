// The size of a model that {time} chooses: where, within the memory, and the same on all ranks.
#include "pipelines/training/fit_into_time.h"

#include <gmock/gmock.h>

#include "pipelines/settings/model_sizes.h"
#include "pipelines/training/time_budget.h"
#include "pipelines/training/train_memory.h"
#include "tests/pipelines/tasks/detection/images_scene.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

using WordsOfSettings = std::map<std::string, std::string>;

void say_all(TrainSettings& train, const WordsOfSettings& words) {
  for (const auto& [name, word] : words) train.settings.say(Layer::kConfig, name, {word});
}

TEST(FitIntoTime, ChoosesTheSizeOfAModelOfWhichNothingIsSaid) {
  const auto chooses = [](const WordsOfSettings& words, const std::string& option) {
    TrainSettings train;
    say_all(train, words);
    EXPECT_FALSE(train.leaves_to_time("depth"));
    return train.leaves_to_time(option);
  };
  EXPECT_TRUE(chooses({{"time", "1h"}}, "base-filters"));
  EXPECT_TRUE(chooses({{"time", "1h"}}, "crop"));
  EXPECT_FALSE(chooses({{"time", "1h"}, {"model", "retinanet"}}, "crop"));
  EXPECT_FALSE(chooses({{"time", "1h"}, {"crop", "64x64x64"}}, "crop")) << "its default, but given";
  EXPECT_FALSE(chooses({{"steps", "9"}}, "base-filters"));
  EXPECT_FALSE(chooses({{"time", "1h"}, {"base-filters", "32"}}, "base-filters")) << "its default, but given";
  EXPECT_FALSE(chooses({{"time", "1h"}}, "members")) << "several networks predict no better in the same time";
  EXPECT_FALSE(chooses({{"time", "1h"}, {"from", "run"}}, "base-filters"));
  EXPECT_FALSE(chooses({{"time", "1h"}, {"model", "resnet3d18"}}, "base-filters"));
  for (const char* option : {"backbone", "base-filters", "pyramid-filters"}) {
    EXPECT_TRUE(chooses({{"time", "1h"}, {"model", "retinanet"}}, option)) << option;
    EXPECT_FALSE(chooses({{"time", "1h"}, {"model", "retinanet"}, {"backbone", "resnet34"}}, option)) << option;
  }
}

TEST(FitIntoTime, PlansTheGridOfACoreWithABudgetOfWhichNothingIsSaid) {
  const auto plans = [](const WordsOfSettings& words) {
    TrainSettings train;
    say_all(train, words);
    return train.leaves_to_time("partition");
  };
  for (const std::string model : {"unet3d", "retinanet", "resnet3d18"})
    EXPECT_TRUE(plans({{"time", "1h"}, {"memory", "2GiB"}, {"model", model}})) << model;
  EXPECT_TRUE(plans({{"time", "1h"}, {"memory", "2GiB"}, {"base-filters", "8"}, {"batch", "2"}}));
  EXPECT_FALSE(plans({{"time", "1h"}})) << "one core holds what the process may take";
  EXPECT_FALSE(plans({{"steps", "9"}, {"memory", "2GiB"}}));
  for (const auto& [option, value] : WordsOfSettings{{"partition", "1x2x1x1x1"},
                                                     {"cores", "2"},
                                                     {"replicas", "1"},
                                                     {"recompute", "none"},
                                                     {"thinnest-slab", "2"},
                                                     {"num_shards", "1"}})
    EXPECT_FALSE(plans({{"time", "1h"}, {"memory", "2GiB"}, {option, value}})) << option;
}

TEST(FitIntoTime, FiltersThatItWillChooseAreShownAsSuch) {
  for (const std::string preset : {"auto", "reference"}) {
    TrainSettings train;
    say_all(train, {{"time", "1h"}, {"preset", preset}});
    const std::vector<SettingLine> lines = setting_lines(train);
    const auto filters = std::ranges::find(lines, "base-filters", &SettingLine::name);
    ASSERT_NE(filters, lines.end());
    EXPECT_EQ(filters->value, preset == "auto" ? "auto" : "32");
  }
}

TEST(FitIntoTime, AModelOverTheMemoryOfACoreDoesNotFit) {
  TrainingScene scene("fits_memory");
  TrainOptions o = scene.options("run");
  const auto task = volume_task({.work = scene.work(), .fold = "all", .sampling = {.crop = {16, 16, 16}}});
  const auto fits = [&](std::int64_t filters, std::int64_t core_bytes) {
    o.spec.as<UNetConfig>().base_filters = filters;
    task->complete(o.spec);
    const RunContext context(scene.progress, {.threads = 2, .core_budget_bytes = core_bytes});
    return fits_memory(o, *task, task->largest_extents(o.batch), context);
  };
  constexpr std::int64_t k4MiB = 4 << 20;
  EXPECT_TRUE(fits(2, k4MiB));
  EXPECT_FALSE(fits(64, k4MiB)) << "16^3 voxels of 64 channels alone have 1 MiB, and a step keeps many";
  EXPECT_TRUE(fits(64, 0));
}

std::string value_in(const std::vector<Choice>& choices, const std::string& option) {
  const auto found = std::ranges::find(choices, option, &Choice::option);
  return found == choices.end() ? "" : found->shown();
}

TEST(FitIntoTime, VolumesThatAreSmallerThanACropAreNotCropped) {
  const TrainingScene scene("fit_whole");
  const auto chosen = [&](const std::string& run, WordsOfSettings words) {
    TrainSettings train;
    train.options.work = scene.work(), train.options.run = scene.path(run);
    words.merge(WordsOfSettings{{"time", "1s"}, {"depth", "1"}, {"fold", "all"}});
    say_all(train, words);
    NoProgress quiet;
    run_train(train, {.threads = 2}, quiet);
    return train.options.chosen;
  };
  const std::vector<Choice> small = chosen("small", {{"base-filters", "2"}});
  const auto crop = std::ranges::find(small, "crop", &Choice::option);
  ASSERT_NE(crop, small.end());
  EXPECT_EQ(crop->shown(), "whole");
  EXPECT_THAT(crop->reason, testing::MatchesRegex("a volume has 0\\.[0-9]+ times the voxels of a crop of 64x64x64 .*"));
  EXPECT_EQ(read_json(scene.path("small") / "run.json").at("training").at("crop"), "whole");
  EXPECT_EQ(value_in(chosen("given", {{"base-filters", "2"}, {"crop", "16x16x16"}}), "crop"), "");
  const std::vector<Choice> sized = chosen("sized", {});
  EXPECT_EQ(value_in(sized, "crop"), "whole");
  EXPECT_NE(value_in(sized, "base-filters"), "") << "is chosen behind it";
}

/// Four volumes of 64^3 voxels and one of two such, prepared: in the mean 1.2 crops of 64^3.
struct UnequalScene : Scene {
  explicit UnequalScene(const std::string& name) : Scene(name) {
    for (const char* part : {"imagesTr", "labelsTr"}) std::filesystem::create_directories(data() / part);
    Dataset d;
    d.name = "unequal", d.folder = data(), d.channels = {"MR"}, d.file_ending = ending;
    d.label_names = {"background", "organ"};
    for (int i = 0; i < 5; ++i) {
      Volume image{Geometry{.size = {64, 64, i == 0 ? 128 : 64}, .spacing = {1, 1, 1}}, {}}, organ{image.geometry, {}};
      image.voxels = Tensor(DType::kF32, image.geometry.shape()),
      organ.voxels = Tensor(DType::kI32, image.voxels.shape());
      std::fill_n(image.voxels.as<float>(), image.voxels.count(), 0.0F);
      std::fill_n(organ.voxels.as<std::int32_t>(), organ.voxels.count(), 0);
      std::fill_n(image.voxels.as<float>(), 4096, 100.0F), std::fill_n(organ.voxels.as<std::int32_t>(), 4096, 1);
      write_volume(this->image(i), image, DiskType::kI16);
      write_volume(label(i), organ, DiskType::kU8);
      d.training.push_back({id(i), {this->image(i)}, label(i)});
    }
    write_dataset_json(d);
    prepare_dataset({.dataset = data(), .work = work(), .spacing = "keep"}, progress);
  }

  nlohmann::json record(const std::string& run) const { return read_json(path(run) / "run.json"); }
  std::int64_t core_bytes(const std::string& run) const {
    return record(run).at("memory").at("bytes_per_core").at(0).get<std::int64_t>();
  }
  /// Trains with these settings too within a budget of a core, and returns what was chosen.
  std::vector<Choice> train(const std::string& run, std::int64_t core_bytes, const WordsOfSettings& words,
                            Progress& to) const {
    TrainSettings train;
    train.options.work = work(), train.options.run = path(run);
    say_all(train, words);
    say_all(train, {{"depth", "2"}, {"base-filters", "2"}, {"fold", "all"}, {"precision", "f32"}});
    train.model.core_budget_bytes = core_bytes;
    run_train(train, {.threads = 2}, to);
    return train.options.chosen;
  }
  /// Goes on for a step more, as `train --resume RUN`.
  void resume(const std::string& run) const {
    TrainSettings again;
    again.options.work = path(run), again.options.resume = true;
    const int steps = record(run).at("training").at("steps").get<int>();
    again.settings.say(Layer::kCommandLine, "steps", {std::to_string(steps + 1)});
    NoProgress quiet;
    EXPECT_FALSE(run_train(again, {.threads = 2}, quiet).interrupted);
  }
};

TEST(FitIntoTime, WholeVolumesThatAreOverTheMemoryAreCroppedWhichIsSaid) {
  const UnequalScene scene("fit_unequal");
  RecordingProgress quiet, said;
  scene.train("crop", 0, {{"steps", "1"}, {"crop", "64x64x64"}}, quiet);
  const std::int64_t bytes = scene.core_bytes("crop");
  scene.train("tight", bytes + bytes / 4, {{"time", "1s"}, {"partition", "1x1x1x1x1"}}, said);
  EXPECT_THAT(said.lines, testing::Contains("not chosen: {crop} whole (a step on a whole volume is over the memory)"));
  EXPECT_EQ(scene.record("tight").at("training").at("crop"), "64x64x64");
  scene.train("ample", 0, {{"time", "1s"}}, quiet);
  EXPECT_EQ(scene.record("ample").at("training").at("crop"), "whole");
  scene.resume("tight");
  EXPECT_EQ(scene.record("tight").at("training").at("crop"), "64x64x64");
}

TEST(FitIntoTime, WholeVolumesThatAreOverTheMemoryOfACoreAreCutOverSeveral) {
  const UnequalScene scene("fit_cut");
  NoProgress quiet;
  scene.train("crop", 0, {{"steps", "1"}, {"crop", "64x64x64"}}, quiet);
  const std::int64_t bytes = scene.core_bytes("crop");
  const std::vector<Choice> chosen = scene.train("cut", bytes, {{"time", "1s"}}, quiet);
  EXPECT_EQ(value_in(chosen, "partition"), "auto");
  EXPECT_EQ(value_in(chosen, "prefer"), "fewest");
  EXPECT_EQ(value_in(chosen, "crop"), "whole");
  const auto cores = [&] {
    return scene.record("cut").at("memory").at("bytes_per_core").get<std::vector<std::int64_t>>();
  };
  EXPECT_EQ(cores().size(), 2) << "a whole volume of 128x64x64 has twice the voxels of a crop";
  for (const std::int64_t core : cores()) EXPECT_LE(core, bytes);
  scene.resume("cut");
  EXPECT_EQ(cores().size(), 2) << "it goes on with its grid";
}

TEST(FitIntoTime, WholeVolumesAtTheEndThatAreOverTheMemoryAreLeftOutWhichIsSaid) {
  const TrainingScene scene("fit_whole_steps");
  StoppingProgress stops(1, false);  // behind the first step
  const auto train_in = [&](const std::string& run, std::int64_t core_bytes, WordsOfSettings words) {
    TrainSettings train;
    train.options.work = scene.work(), train.options.run = scene.path(run);
    words.merge(WordsOfSettings{{"steps", "200"},
                                {"depth", "3"},
                                {"base-filters", "16"},
                                {"crop", "20x20x20"},
                                {"fold", "all"},
                                {"precision", "f32"}});
    say_all(train, words);
    stops.stop = false;
    train.model.core_budget_bytes = core_bytes;
    run_train(train, {.threads = 2}, stops);
    return value_in(train.options.chosen, "whole-steps");
  };
  EXPECT_EQ(train_in("given", 0, {{"whole-steps", "0"}}), "");
  EXPECT_EQ(train_in("whole", 0, {}), "20");
  const auto bytes = read_json(scene.path("given") / "run.json").at("memory").at("bytes_per_core").at(0);
  EXPECT_EQ(train_in("within", bytes.get<std::int64_t>(), {}), "") << "crops fit";
  EXPECT_EQ(std::ranges::count_if(
                stops.lines, [](const std::string& line) { return line.starts_with("not chosen: {whole-steps}"); }),
            1);
}

TEST(FitIntoTime, ADetectorTakesAllFieldsOfTheSizeThatFits) {
  const ImagesScene scene("fit_detector");
  TrainSettings train;
  train.options.work = scene.annotations(), train.options.run = scene.path("run");
  say_all(train, {{"model", "retinanet"}, {"time", "1s"}, {"fold", "all"}});
  NoProgress quiet;
  run_train(train, {.threads = 1}, quiet);
  const std::vector<Choice>& chosen = train.options.chosen;
  const auto is_chosen = [&](const ModelSize& size) {
    return std::ranges::all_of(
        size.options, [&](const auto& option) { return value_in(chosen, option.first) == to_text(option.second); });
  };
  EXPECT_EQ(std::ranges::count_if(sizes_of(*train.options.spec.model).sizes, is_chosen), 1);
  const auto filters = std::ranges::find(chosen, "base-filters", &Choice::option);
  ASSERT_NE(filters, chosen.end());
  EXPECT_EQ(filters->reason, "goes with {backbone} " + value_in(chosen, "backbone"));
  EXPECT_EQ(std::to_string(train.options.spec.as<RetinaNetConfig>().pyramid_filters),
            value_in(chosen, "pyramid-filters"));
}

TEST(FitIntoTime, AllRanksTrainWhatRank0Measures) {
  const TrainingScene scene("filters_of_ranks");
  test::Mailbox mailbox(2);
  std::array<std::pair<std::int64_t, std::int64_t>, 2> chosen;
  test::run_valid_ranks(mailbox, [&](Transport& transport) {
    TrainSettings train;
    train.options.work = scene.work(), train.options.run = scene.path("run");
    say_all(train, {{"time", "1s"}, {"depth", "2"}, {"crop", "16x16x16"}, {"fold", "all"}, {"partition", "1x2x1x1x1"}});
    NoProgress quiet;
    run_train(train, {.threads = 1, .transport = &transport}, quiet);
    chosen.at(transport.rank()) = {train.options.spec.as<UNetConfig>().base_filters, train.options.steps};
  });
  EXPECT_EQ(chosen[0].first, 8) << "a second has no 500 steps of more, whatever the machine";
  EXPECT_EQ(chosen[0], chosen[1]);
}

}  // namespace
}  // namespace voxshard
