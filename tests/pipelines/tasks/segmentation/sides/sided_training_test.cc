// Training with left and right as one class, and label maps that tell them apart again.
#include <gmock/gmock.h>

#include "io/files/safetensors.h"
#include "libcore/metrics/dice.h"
#include "pipelines/commands/run_evaluate.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/segmentation/evaluate_run.h"
#include "pipelines/tasks/segmentation/scores/predict_volume.h"
#include "pipelines/tasks/segmentation/scores/volume_validation.h"
#include "pipelines/tasks/segmentation/sides/side_split.h"
#include "pipelines/tasks/segmentation/training_sides.h"
#include "pipelines/training/train_settings.h"
#include "tests/pipelines/rank_sessions.h"
#include "tests/pipelines/tasks/segmentation/sides/sided_scene.h"

namespace voxshard {
namespace {

using testing::Contains, testing::HasSubstr, testing::Not;

std::int64_t trained_classes_of(const Scene& scene, const std::string& run) {
  return load_trained_run({.run = scene.path(run)}).spec.as<UNetConfig>().classes;
}

PredictOptions for_new_images(const Scene& scene, const std::string& run, const std::string& output) {
  return {.run = scene.path(run), .input = scene.data() / "imagesTs", .output = scene.path(output)};
}

TEST(SidedTraining, LearnsOneClassAndItsLabelMapsHaveLeftAndRight) {
  SidedScene scene("sided_run", {.cases = 5, .test_cases = 2});
  TrainOptions o = scene.options("run", Sides::kAuto);
  o.spec.as<UNetConfig>().norm = NormKind::kInstance;
  o.steps = 150, o.optimizer.learning_rate = 0.01, volumes(o).sampling.flip = {false, false, true};
  run_train(o, scene.progress);
  EXPECT_EQ(trained_classes_of(scene, "run"), 3);
  EXPECT_THAT(scene.progress.lines,
              Contains(HasSubstr("sides: kidney_left and kidney_right are trained as one class")));
  EXPECT_THAT(scene.progress.lines, Not(Contains(HasSubstr("W_MIRROR"))));
  scene.progress = {};
  const PredictReport report = run_predict(for_new_images(scene, "run", "seen"), scene.progress);
  EXPECT_THAT(scene.progress.lines,
              Contains(HasSubstr("were trained as one class; label maps tell them apart by a plane "
                                 "across x (LPS) that is placed by the centre of spine")));
  ASSERT_EQ(report.cases.size(), 2u);
  for (const PredictedCase& one : report.cases) {
    const Volume found = read_label(one.file), truth = read_label(scene.data() / "labelsTs" / one.file.filename());
    const auto counts = count_classes(found.voxels.view(), truth.voxels.view(), 4);
    for (const int organ : {kSpine, kRightKidney, kLeftKidney})
      EXPECT_GT(dice(counts[organ]), 0.7) << one.id << " " << organ;
    for (std::int64_t i = 0; i < truth.voxels.count(); ++i) {
      const std::int32_t label = found.voxels.as<std::int32_t>()[i];
      ASSERT_NE(label, i % 24 < 8 ? kLeftKidney : i % 24 > 15 ? kRightKidney : -1) << "x grows to the left";
    }
  }
}

TEST(SidedTraining, KeepsTwoClassesUnlessItIsAskedToJoin) {
  SidedScene scene("sided_keep");
  run_train(scene.options("run", Sides::kKeep), scene.progress);
  EXPECT_EQ(trained_classes_of(scene, "run"), 4);
  EXPECT_FALSE(scene.record("run").at("training").contains("sides")) << "runs of before are resumed";
  EXPECT_FALSE(read_json(scene.path("run") / "plans.json").at("prepare").contains(kTrainedClasses));
  EXPECT_THAT(scene.progress.lines, Not(Contains(HasSubstr("sides: "))));
}

TEST(SidedTraining, MirroringFromLeftToRightIsOffUnlessAllPairsAreJoined) {
  const auto flip_of = [](SidedScene& scene, const std::string& run, Sides sides) {
    TrainOptions o = scene.options(run, sides);
    o.steps = 1, volumes(o).sampling.flip = {true, false, true};
    scene.progress = {};
    run_train(o, scene.progress);
    return scene.record(run).at("training").at("flip").get<std::vector<bool>>();
  };
  SidedScene agreed("sided_flip"), torn("sided_flip_torn", {.cases = 4, .turned = 2});
  EXPECT_EQ(flip_of(agreed, "auto", Sides::kAuto), (std::vector{true, false, true}));
  EXPECT_THAT(agreed.progress.lines, Not(Contains(HasSubstr("W_MIRROR"))));
  EXPECT_EQ(flip_of(agreed, "keep", Sides::kKeep), (std::vector{true, false, true})) << "as it was given";
  EXPECT_THAT(agreed.progress.lines, Contains(HasSubstr("W_MIRROR {flip} swaps left and right")));
  EXPECT_EQ(flip_of(torn, "auto", Sides::kAuto), (std::vector{true, false, false}));
  EXPECT_THAT(torn.progress.lines,
              Contains(HasSubstr("kidney_left and kidney_right stay two classes: they lie the other "
                                 "way round in 1 of the 4 training cases")));
  EXPECT_THAT(torn.progress.lines, Contains(HasSubstr("W_MIRROR {flip} is off along the axis from left to right")));
  EXPECT_EQ(trained_classes_of(torn, "auto"), 4);
  EXPECT_EQ(flip_of(torn, "join", Sides::kJoin), (std::vector{true, false, true}));
  EXPECT_EQ(trained_classes_of(torn, "join"), 3);
}

TEST(SidedTraining, AClassOfOneSideIsWarnedOfWhereItWouldBeMirrored) {
  PreparePlan plan;
  plan.class_names = {"background", "kidney_left", "liver"};
  for (const Sides sides : {Sides::kKeep, Sides::kAuto}) {
    TrainingSides training(plan);
    training.settle(sides, 0, nullptr);
    EXPECT_THAT(training.warnings({false, false, true}),
                testing::ElementsAre(HasSubstr("\"kidney_left\" is a class of one side")));
    EXPECT_TRUE(training.warnings({true, true, false}).empty());
  }
}

TEST(SidedTraining, TheRecipeJoinsAndThePresetOfTheReferenceDoesNot) {
  SidedScene scene("sided_recipe");
  for (const std::string preset : {"auto", "reference"}) {
    TrainSettings train;
    Settings& settings = train.settings;
    for (const auto& [name, value] : std::map<std::string, std::string>{{"steps", "1"},
                                                                        {"fold", "all"},
                                                                        {"crop", "8x8x8"},
                                                                        {"base-filters", "4"},
                                                                        {"depth", "2"},
                                                                        {"preset", preset}})
      settings.say(Layer::kCommandLine, name, {value});
    train.options.work = scene.work(), train.options.run = scene.path(preset);
    scene.progress = {};
    run_train(train, {.threads = 2}, scene.progress);
    EXPECT_EQ(trained_classes_of(scene, preset), preset == "auto" ? 3 : 4);
    if (preset == "auto") {
      EXPECT_THAT(scene.progress.lines,
                  Contains(HasSubstr("chosen: {sides} auto (kidney_left and kidney_right differ in their side alone")));
      EXPECT_EQ(scene.record("auto").at("options").at("sides"), nlohmann::json({"auto"}));
    }
  }
}

TEST(SidedTraining, OneAndThreeProcessesTrainValidateAndPredictTheSameBytes) {
  SidedScene scene("sided_ranks", {.cases = 5});
  TrainOptions o = scene.options("one", Sides::kAuto);
  volumes(o).fold = "0", volumes(o).sampling.flip = {false, false, true};
  o.steps = 4, o.validate_every = 2, o.spec.cut.mesh.partition = Dims{1, 3, 1, 1, 1};
  const TrainReport alone = run_train(o, scene.progress);
  ASSERT_TRUE(alone.validation);
  EXPECT_EQ(alone.validation->by_class.size(), 3u) << "the classes of the data are scored";
  o.run = scene.path("three");
  test::Mailbox mailbox(3);
  test::run_valid_ranks(mailbox, [&](Transport& transport) {
    TrainOptions mine = o;
    mine.resources.threads = 1, mine.resources.transport = &transport;
    NoProgress quiet;
    const TrainReport report = run_train(mine, quiet);
    EXPECT_EQ(report.validation->by_class, alone.validation->by_class);
  });
  EXPECT_EQ(scene.last_bytes("one"), scene.last_bytes("three"));
  const PredictReport seen = run_predict(for_new_images(scene, "one", "seen_one"), scene.progress);
  ASSERT_EQ(seen.cases.size(), 1u);
  test::Mailbox other(3);
  test::run_valid_ranks(other, [&](Transport& transport) {
    NoProgress quiet;
    run_predict(for_new_images(scene, "one", "seen_three"), {quiet, {.transport = &transport}});
  });
  EXPECT_TRUE(Scene::bytes_of(seen.cases[0].file) ==
              Scene::bytes_of(scene.path("seen_three") / seen.cases[0].file.filename()));
}

TEST(SidedTraining, ValidationScoresWhatASplitOfTheWholeLabelMapWould) {
  SidedScene scene("sided_validation", {.cases = 5});
  const PreparedDataset dataset = read_prepared(scene.work());
  const SampleSource source(dataset, {0, 1, 2, 3, 4}, {.crop = {8, 8, 8}});
  std::vector<CaseSides> places;
  const std::vector<SidePair> pairs = side_pairs(dataset.plan.class_names);
  for (std::size_t i = 0; i < 5; ++i)
    places.push_back(case_sides(source.grid(i), source.foreground(i).by_class, dataset.cases[i].class_voxels, pairs));
  const SideRule rule = fit_sides(places, pairs, Sides::kAuto).rule;
  ASSERT_FALSE(rule.empty());
  ModelSpec spec = test::small_unet({1, 2, 2, 1, 1});
  spec.set("classes", std::int64_t{3});
  test::over_ranks(2, spec, [&](Session& session) {
    NoProgress quiet;
    const auto pass = validate_volumes(dataset, {0}, overlap_metrics().front(), spec.multiple(), rule);
    const Validation validation = run_validation(
        session, *pass, [](const CaseFailure&) { FAIL(); }, quiet);
    Volume labels;
    NoProgress none;
    coordinate(session, volume_work(), {}, [&] {
      const MappedVolume image = MappedVolume::open(dataset.cases[0].images.front());
      labels.geometry = image.geometry();
      labels.voxels =
          predict_volume(session,
                         {.shape = image.shape(),
                          .air = air_values(dataset.plan),
                          .read = [&](std::size_t, const TensorView& box) { image.read_box(box.box, box); }},
                         spec.multiple());
      split_sides(rule, labels);
      const Volume truth = read_label(dataset.cases[0].label);
      const auto counts = count_classes(labels.voxels.view(), truth.voxels.view(), 4);
      for (std::size_t c = 1; c < 4; ++c) EXPECT_EQ(validation.by_class[c - 1], dice(counts[c])) << c;
      EXPECT_GT(counts[kLeftKidney].tp + counts[kLeftKidney].fp + counts[kRightKidney].tp + counts[kRightKidney].fp, 0);
    });
  });
}

TEST(SidedTraining, AResumedRunHasTheBytesOfAnUndisturbedOneAndAnotherSettingIsRefused) {
  SidedScene scene("sided_resume");
  TrainOptions whole = scene.options("whole", Sides::kAuto), half = scene.options("half", Sides::kAuto);
  whole.steps = 4, half.steps = 2;
  whole.optimizer.schedule = half.optimizer.schedule = ScheduleKind::kConstant;
  run_train(whole, scene.progress);
  run_train(half, scene.progress);
  half.steps = 4, half.resume = true;
  run_train(half, scene.progress);
  EXPECT_EQ(scene.last_bytes("whole"), scene.last_bytes("half"));
  volumes(half).sides = Sides::kKeep;
  expect_error(ErrorKind::kCheckpoint, "{sides} is not set now, and auto there",
               [&] { run_train(half, scene.progress); });
}

TEST(SidedTraining, WeightsAreTakenByTheNamesOfTheTrainedClasses) {
  SidedScene scene("sided_from");
  run_train(scene.options("first", Sides::kAuto), scene.progress);
  for (const Sides sides : {Sides::kAuto, Sides::kKeep}) {
    TrainOptions o = scene.options(sides == Sides::kAuto ? "joined" : "kept", sides);
    o.from = scene.path("first"), o.steps = 1;
    scene.progress = {};
    run_train(o, scene.progress);
    if (sides == Sides::kAuto)
      EXPECT_THAT(scene.progress.lines, Not(Contains(HasSubstr("begins anew"))));
    else
      EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("2 classes take the weights of left and right as one class "
                                                           "(kidney_right, kidney_left)")));
    EXPECT_EQ(scene.record(o.run.filename().string()).at("from").at("new_classes"), nlohmann::json::array());
    EXPECT_THAT(scene.progress.lines, Not(Contains(HasSubstr("were prepared otherwise"))));
  }
}

TEST(SidedTraining, ScoresOfARunAreOfTheClassesThatItLearned) {
  SidedScene scene("sided_scores");
  run_train(scene.options("run", Sides::kAuto), scene.progress);
  EvaluateOptions o{.predictions = scene.path("run"), .references = scene.work(), .batch = 2};
  o.task.of<EvaluateRunOptions>().fold = "all";
  scene.progress = {};
  const nlohmann::json json = run_evaluate(o, scene.progress).json;
  EXPECT_TRUE(std::isfinite(json.at("loss").get<double>()));
  EXPECT_THAT(scene.progress.lines, Not(Contains(HasSubstr("prepared otherwise"))));
  EXPECT_THAT(json.dump(), HasSubstr("left and right are one class where the run was trained so"));
}

TEST(SidedTraining, CropsSeeTheJoinedClassAsOftenAsAnotherAndBothOfItsSides) {
  SidedScene scene("sided_crops");
  const JoinedClasses joined(4, {{.left = kLeftKidney, .right = kRightKidney}});
  constexpr std::int64_t kSamples = 1200;
  for (const CropsOn rule : {CropsOn::kCase, CropsOn::kSet}) {
    const SampleSource source(read_prepared(scene.work()), {0, 1, 2, 3},
                              {.crop = {4, 4, 4}, .foreground = 1, .crops = rule, .joined = joined});
    const std::vector<std::int64_t> drawn = source.drawn_on(kSamples);
    const auto share = [&](int organ) { return static_cast<double>(drawn.at(organ)) / kSamples; };
    EXPECT_NEAR(share(kSpine), 0.5, 0.07);  // five standard deviations
    EXPECT_NEAR(share(kLeftKidney), 0.25, 0.07);
    EXPECT_NEAR(share(kRightKidney), 0.25, 0.07);
  }
}

TEST(SidedTraining, ASideThatWasAnnotatedAloneTeachesNothingWrong) {
  SidedScene scene("sided_annotated", {.cases = 4, .one_side = {"case_1"}});
  const PreparedDataset dataset = read_prepared(scene.work());
  const JoinedClasses joined(4, {{.left = kLeftKidney, .right = kRightKidney}});
  for (const bool merged : {true, false}) {
    const SampleSource source(dataset, {1}, {.crop = {12, 12, 24}, .merge = merged, .joined = joined});
    const std::vector<Sample> batch = source.batch(0, 1);
    Tensor labels(DType::kI32, {1, 12, 12, 24, 1}), known(DType::kI32, {1, 3});
    source.fill(batch, input::Labels{.classes = 3, .ignored = -7, .merged = merged ? 1 : 0}, labels.view());
    source.fill(batch, input::Known{}, known.view());
    EXPECT_THAT(std::vector(known.as<std::int32_t>(), known.as<std::int32_t>() + 3), testing::ElementsAre(1, 1, 0));
    const Volume truth = read_label(dataset.cases[1].label);
    for (std::int64_t i = 0; i < labels.count(); ++i) {
      const std::int32_t organ = truth.voxels.as<std::int32_t>()[i];
      if (organ == kLeftKidney) continue;  // not annotated
      const std::int32_t wanted = organ == 0 ? (merged ? 0 : -7) : organ == kSpine ? 1 : merged ? -7 : 2;
      ASSERT_EQ(labels.as<std::int32_t>()[i], wanted) << merged << " " << i;
    }
    for (const Sample& one : source.batch(3, 8)) EXPECT_TRUE(one.drawn_on != kRightKidney || !merged);
  }
}

}  // namespace
}  // namespace voxshard
