// Runs that begin with the weights of another run: what fits, class by class by name, what is said of it, and that it
// never mixes with resuming.
#include "pipelines/training/fine_tuning.h"

#include <cstring>

#include "io/files/config_file.h"
#include "libcore/train/initialise.h"
#include "pipelines/model_runs/checkpoint.h"
#include "pipelines/training/train_settings.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre, testing::HasSubstr;

/// A model with random weights, as if it were trained.
struct Made {
  ModelSpec spec;
  Shape extents;
  nlohmann::json preparation;
  Parameters parameters;

  Made(ModelSpec model, Shape sizes, nlohmann::json prepared, std::uint64_t seed)
      : spec(std::move(model)),
        extents(std::move(sizes)),
        preparation(std::move(prepared)),
        parameters(initialise(build_graph(spec, extents, Phase::kTrain, DType::kF32), seed)) {
    for (auto& [name, tensor] : parameters)  // biases begin as zeros
      for (std::int64_t i = 0; i < tensor.count(); ++i)
        tensor.as<float>()[i] += static_cast<float>(seed) + static_cast<float>(i % 97) / 128;
  }
  TrainedRun run() const {
    return {.file = "other/best.safetensors",
            .spec = spec,
            .step = 7,
            .preparation = preparation,
            .parameters = parameters};
  }
  TakenWeights take(const Made& theirs) { return take_weights(theirs.run(), {spec, extents, preparation}, parameters); }
};

Made unet_of(const std::vector<std::string>& classes, std::uint64_t seed, std::int64_t filters = 4) {
  ModelSpec spec;
  spec.as<UNetConfig>() = {.base_filters = filters, .depth = 2, .classes = std::ssize(classes)};
  return {spec, {1, 8, 8, 8}, {{"class_names", classes}, {"spacing", {1, 1, 1}}}, seed};
}

bool same_values(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())) == 0;
}

float channel(const Tensor& tensor, std::int64_t row, std::int64_t c) {
  return tensor.as<const float>()[row * tensor.shape().back() + c];
}

TEST(TakeWeights, AllOfTheSameModelAndClasses) {
  const Made theirs = unet_of({"background", "liver", "tumour"}, 1);
  Made mine = unet_of({"background", "liver", "tumour"}, 2);
  const TakenWeights taken = mine.take(theirs);
  EXPECT_EQ(taken.tensors, std::ssize(mine.parameters));
  EXPECT_EQ(taken.values, taken.of_values);
  EXPECT_TRUE(taken.anew.empty() && taken.new_classes.empty() && taken.prepared_otherwise.empty());
  for (const auto& [name, tensor] : mine.parameters)
    EXPECT_TRUE(same_values(tensor, theirs.parameters.at(name))) << name;
}

TEST(TakeWeights, NetworksForWhichThereIsNoPlaceAreNamed) {
  Made theirs = unet_of({"background", "liver"}, 1), mine = unet_of({"background", "liver"}, 2);
  theirs.parameters.emplace("member1/head/bias", Tensor(DType::kF32, theirs.parameters.at("head/bias").shape()));
  const TakenWeights taken = mine.take(theirs);
  EXPECT_THAT(taken.without_place, ElementsAre("member1/head/bias"));
  EXPECT_THAT(to_text(taken), HasSubstr("; 1 tensor of it has no place here; in all "));
  EXPECT_EQ(taken.values, taken.of_values);
  EXPECT_TRUE(unet_of({"background", "liver"}, 3).take(mine).without_place.empty());
}

TEST(TakeWeights, ClassesByTheirNamesAndNewOnesBeginAnew) {
  const Made theirs = unet_of({"background", "liver", "tumour"}, 1),
             first = unet_of({"background", "spleen", "tumour", "liver"}, 2);
  Made mine = first;
  const TakenWeights taken = mine.take(theirs);
  EXPECT_EQ(taken.partly, 2);  // kernel and bias of the head
  EXPECT_EQ(taken.tensors, taken.of_tensors - 2);
  EXPECT_THAT(taken.new_classes, ElementsAre("spleen"));
  EXPECT_TRUE(taken.anew.empty());
  const Tensor &head = mine.parameters.at("head/kernel"), &other = theirs.parameters.at("head/kernel");
  const std::int64_t rows = head.count() / 4;
  for (std::int64_t row = 0; row < rows; ++row) {
    EXPECT_EQ(channel(head, row, 0), channel(other, row, 0));
    EXPECT_EQ(channel(head, row, 1), channel(first.parameters.at("head/kernel"), row, 1)) << "begins anew";
    EXPECT_EQ(channel(head, row, 2), channel(other, row, 2));
    EXPECT_EQ(channel(head, row, 3), channel(other, row, 1));
  }
  EXPECT_EQ(taken.of_values - taken.values, rows + 1);
  const std::string text = to_text(taken);
  EXPECT_THAT(text, HasSubstr(" tensors are those of other/best.safetensors, step 7; 2 for the classes that both have; "
                              "1 class begins anew (spleen); in all "));
}

/// A U-Net that learned left and right as one class, in front of an organ without a side.
Made unet_of_joined_kidneys(std::uint64_t seed) {
  Made made = unet_of({"background", "kidney_left + kidney_right", "liver"}, seed);
  made.preparation["class_names"] = {"background", "kidney_right", "kidney_left", "liver"};
  made.preparation["trained_classes"] = {{{"name", "background"}},
                                         {{"name", "kidney_left + kidney_right"}, {"left", 2}, {"right", 1}},
                                         {{"name", "liver"}}};
  return made;
}

TEST(TakeWeights, AJoinedClassTakesTheMeanOfLeftAndRight) {
  const Made theirs = unet_of({"background", "kidney_right", "kidney_left", "liver"}, 1);
  Made mine = unet_of_joined_kidneys(2);
  const TakenWeights taken = mine.take(theirs);
  EXPECT_THAT(taken.joined_classes, ElementsAre("kidney_left + kidney_right"));
  EXPECT_TRUE(taken.new_classes.empty() && taken.split_classes.empty() && taken.anew.empty());
  EXPECT_EQ(taken.values, taken.of_values);
  for (const char* name : {"head/kernel", "head/bias"}) {
    const Tensor &head = mine.parameters.at(name), &other = theirs.parameters.at(name);
    for (std::int64_t row = 0; row < head.count() / 3; ++row) {
      EXPECT_EQ(channel(head, row, 0), channel(other, row, 0));
      EXPECT_EQ(channel(head, row, 1), (channel(other, row, 1) + channel(other, row, 2)) / 2);
      EXPECT_EQ(channel(head, row, 2), channel(other, row, 3));
    }
  }
  EXPECT_THAT(to_text(taken),
              HasSubstr("; 1 class takes the mean of left and right (kidney_left + kidney_right); in all "));
  const Made right_alone = unet_of({"background", "kidney_right", "liver"}, 1);
  EXPECT_THAT(unet_of_joined_kidneys(2).take(right_alone).new_classes, ElementsAre("kidney_left + kidney_right"));
}

TEST(TakeWeights, LeftAndRightTakeTheWeightsOfTheirJoinedClass) {
  const Made theirs = unet_of_joined_kidneys(1);
  Made mine = unet_of({"background", "liver", "kidney_left", "kidney_right"}, 2);
  const TakenWeights taken = mine.take(theirs);
  EXPECT_THAT(taken.split_classes, ElementsAre("kidney_left", "kidney_right"));
  EXPECT_TRUE(taken.new_classes.empty() && taken.joined_classes.empty() && taken.anew.empty());
  const Tensor &head = mine.parameters.at("head/kernel"), &other = theirs.parameters.at("head/kernel");
  for (std::int64_t row = 0; row < head.count() / 4; ++row) {
    EXPECT_EQ(channel(head, row, 1), channel(other, row, 2));
    for (const int side : {2, 3}) EXPECT_EQ(channel(head, row, side), channel(other, row, 1));
  }
  EXPECT_EQ(to_json(taken, "other", "00").at("split_classes"), nlohmann::ordered_json({"kidney_left", "kidney_right"}));
  Made same = unet_of_joined_kidneys(3);
  const TakenWeights again = same.take(theirs);
  EXPECT_TRUE(again.split_classes.empty() && again.joined_classes.empty() && again.new_classes.empty());
}

TEST(TakeWeights, EqualNumbersOfOtherClassesAreNotTheSame) {
  const Made theirs = unet_of({"background", "liver", "tumour"}, 1),
             first = unet_of({"background", "lung", "heart"}, 2);
  Made mine = first;
  const TakenWeights taken = mine.take(theirs);
  EXPECT_THAT(taken.new_classes, ElementsAre("lung", "heart"));
  EXPECT_EQ(channel(mine.parameters.at("head/bias"), 0, 1), channel(first.parameters.at("head/bias"), 0, 1));
  EXPECT_EQ(channel(mine.parameters.at("head/bias"), 0, 0), channel(theirs.parameters.at("head/bias"), 0, 0));
}

TEST(TakeWeights, EachAnchorOfADetectorHasItsClasses) {
  const auto detector = [](const std::vector<std::string>& names, std::uint64_t seed) {
    nlohmann::json classes = nlohmann::json::array();
    for (const std::string& name : names) classes.push_back({{"name", name}, {"id", classes.size() + 1}});
    return Made(retinanet_spec({.backbone = Backbone::kResNet18,
                                .classes = 1 + std::ssize(names),  // class 0 is the background
                                .filters = 4,
                                .pyramid_filters = 8}),
                {1, 64, 64}, {{"classes", classes}}, seed);
  };
  const Made theirs = detector({"cell", "platelet"}, 1), first = detector({"platelet", "nucleus", "cell"}, 2);
  Made mine = first;
  const TakenWeights taken = mine.take(theirs);
  EXPECT_THAT(taken.new_classes, ElementsAre("nucleus"));
  const char* name = "class_head/predict/bias";
  const Tensor& bias = mine.parameters.at(name);
  const std::int64_t anchors = bias.count() / 4;
  EXPECT_GT(anchors, 1);
  for (std::int64_t a = 0; a < anchors; ++a) {
    const auto their = [&](std::int64_t c) { return channel(theirs.parameters.at(name), 0, a * 3 + c); };
    EXPECT_EQ(channel(bias, 0, a * 4), their(0));
    EXPECT_EQ(channel(bias, 0, a * 4 + 1), their(2)) << "platelet";
    EXPECT_EQ(channel(bias, 0, a * 4 + 2), channel(first.parameters.at(name), 0, a * 4 + 2)) << "nucleus";
    EXPECT_EQ(channel(bias, 0, a * 4 + 3), their(1)) << "cell";
  }
  EXPECT_TRUE(same_values(mine.parameters.at("box_head/predict/bias"), theirs.parameters.at("box_head/predict/bias")));
}

TEST(TakeWeights, OtherShapesBeginAnewAndAreNamed) {
  const std::vector<std::string> classes = {"background", "liver"};
  const Made theirs = unet_of(classes, 1);
  ModelSpec two = theirs.spec;
  two.set("channels", std::int64_t{2});
  Made mine(two, theirs.extents, {{"class_names", classes}, {"spacing", {2, 2, 2}}}, 2);
  const TakenWeights taken = mine.take(theirs);
  EXPECT_THAT(taken.anew, ElementsAre("encoder0/conv0/kernel"));
  EXPECT_THAT(taken.prepared_otherwise, ElementsAre("spacing"));
  Made wider = unet_of(classes, 2, 8);
  expect_error(ErrorKind::kConfig, "no kernel of other/best.safetensors fits", [&] { wider.take(theirs); });
}

/// Two runs on the same data: "first", and one that begins with its weights.
struct TunedScene : TrainingScene {
  explicit TunedScene(const std::string& name) : TrainingScene(name) {
    TrainOptions o = options("first");
    o.steps = 2, o.spec.as<UNetConfig>().norm = NormKind::kInstance;
    run_train(o, progress);
    progress = {};
  }
  TrainOptions tuned(const std::string& run) const {
    TrainOptions o = options(run);
    o.spec.as<UNetConfig>().norm = NormKind::kInstance;
    o.from = path("first"), o.seed = 5, o.steps = 4;
    return o;
  }
};

TEST(FineTuning, BeginsWithTheWeightsAndSaysSo) {
  TunedScene scene("tuned_begins");
  TrainOptions o = scene.tuned("run");
  o.steps = 1, o.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0};
  run_train(o, scene.progress);
  EXPECT_THAT(scene.progress.lines, testing::Contains(HasSubstr(" tensors are those of ")));
  const Checkpoint first = load_checkpoint(scene.last("first")), last = load_checkpoint(scene.last("run"));
  for (const auto& [name, tensor] : last.parameters)
    EXPECT_TRUE(same_values(tensor, first.parameters.at(name))) << name;
  const nlohmann::json from = read_json(o.run / "run.json").at("from");
  EXPECT_EQ(from.at("run"), scene.path("first").string());
  EXPECT_EQ(from.at("values"), from.at("values_of_model"));
  EXPECT_EQ(last.state.from, from);
}

TEST(FineTuning, AKillBeforeTheFirstCheckpointBeginsWithThemAgain) {
  TunedScene scene("tuned_killed");
  const TrainOptions whole = scene.tuned("whole");
  run_train(whole, scene.progress);
  TrainOptions o = scene.tuned("killed");
  StoppingProgress dying(2, true);
  EXPECT_THROW(run_train(o, dying), std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(scene.last("killed")));
  o.resume = true, o.from.clear();
  run_train(o, scene.progress);
  EXPECT_TRUE(scene.last_bytes("killed") == scene.last_bytes("whole"));
}

TEST(FineTuning, ARunThatGoesOnNeedsTheOtherNoMore) {
  TunedScene scene("tuned_goes_on");
  TrainOptions o = scene.tuned("whole");
  run_train(o, scene.progress);
  o = scene.tuned("run"), o.checkpoint_every = 2;
  StoppingProgress stopping(2, false);
  EXPECT_TRUE(run_train(o, stopping).interrupted);
  std::filesystem::remove_all(scene.path("first"));
  o.resume = true;
  run_train(o, scene.progress);
  EXPECT_TRUE(scene.last_bytes("run") == scene.last_bytes("whole"));
}

TEST(FineTuning, DoesNotMixWithResuming) {
  TunedScene scene("tuned_mixed");
  TrainOptions o = scene.tuned("run");
  o.steps = 1;
  run_train(o, scene.progress);
  o.resume = true, o.from = scene.path("second"), o.steps = 2;
  expect_error(ErrorKind::kUsage, "which began with " + scene.path("first").string(),
               [&] { run_train(o, scene.progress); });
  TrainOptions plain = scene.tuned("first");
  plain.seed = 0, plain.resume = true;
  expect_error(ErrorKind::kUsage, "{from} begins a run, {resume} goes on with one; give one of them",
               [&] { run_train(plain, scene.progress); });
}

TEST(FineTuning, WeightsThatChangedBetweenAKillAndItsResumeAreRefused) {
  TunedScene scene("tuned_changed");
  TrainOptions o = scene.tuned("run");
  StoppingProgress dying(2, true);
  EXPECT_THROW(run_train(o, dying), std::runtime_error);
  TrainOptions more = scene.tuned("first");
  more.from.clear(), more.seed = 0, more.resume = true, more.steps = 3;
  run_train(more, scene.progress);
  o.resume = true;
  expect_error(ErrorKind::kCheckpoint, "has changed since", [&] { run_train(o, scene.progress); });
}

TEST(FineTuning, KeepsWhatTheOtherWasTrainedOn) {
  TunedScene scene("tuned_seen");
  TrainOptions o = scene.tuned("run");
  volumes(o).fold = "0", o.steps = 1;  // trains on one of the two cases; the other run was trained on both
  run_train(o, scene.progress);
  const auto count = [&](const char* run) { return load_checkpoint(scene.last(run)).state.trained_on.at("count"); };
  EXPECT_EQ(count("run"), count("first"));
}

TEST(FineTuning, TakesTheModelOfTheOtherWhereNoOptionSaysOtherwise) {
  TunedScene scene("tuned_model");
  const auto tune = [&](const std::string& run, const std::map<std::string, std::string>& more) {
    TrainSettings train;
    train.options.work = scene.work(), train.options.run = scene.path(run);
    std::map<std::string, std::string> said = {
        {"from", scene.path("first").string()}, {"steps", "1"}, {"fold", "all"}, {"crop", "16x16x16"}, {"batch", "1"}};
    for (const auto& [name, value] : more) said[name] = value;
    for (const auto& [name, value] : said) train.settings.say(Layer::kCommandLine, name, {value});
    scene.progress = {};
    run_train(train, {.threads = 2}, scene.progress);
    return read_json(scene.path(run) / "run.json");
  };
  const nlohmann::json same = tune("same", {});
  EXPECT_EQ(same.at("model").at("base_filters"), 4);
  EXPECT_EQ(same.at("model").at("depth"), 3);
  for (const char* key : {"tensors_anew", "tensors_without_place"})
    EXPECT_EQ(same.at("from").at(key), nlohmann::json::array()) << key;
  EXPECT_THAT(scene.progress.lines, testing::Contains(HasSubstr("chosen: {base-filters} 4 (as in {from} ")));
  const nlohmann::json deeper = tune("deeper", {{"depth", "4"}});
  EXPECT_EQ(deeper.at("model").at("depth"), 4);
  EXPECT_GT(deeper.at("from").at("tensors_anew").size(), 0u);
  EXPECT_GT(deeper.at("from").at("tensors"), 0);
}

}  // namespace
}  // namespace voxshard
