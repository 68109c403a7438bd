// The recipe as a function: each choice, its reason and the facts that decide it.
#include "pipelines/settings/recipe.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "pipelines/training/train_settings.h"
#include "tests/pipelines/settings/recipe_choices.h"
#include "tests/pipelines/tasks/toy_model.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

RecipeFacts volumes(std::int64_t steps = 110, std::int64_t batch = 1) {
  return {.fields = {"norm", "activation"}, .steps = steps, .batch = batch, .norm_samples = batch};
}
RecipeFacts images(std::int64_t steps, std::int64_t batch = 2) {
  return {
      .data = std::string(kBoxes), .fields = {"norm-momentum"}, .steps = steps, .batch = batch, .norm_samples = batch};
}

TEST(Recipe, EachChoiceHasAReasonAndAnOptionOfTheTable) {
  for (const RecipeFacts& facts : {volumes(), volumes(5000, 32), images(100), images(20000, 64)})
    for (const Choice& choice : recipe(facts)) {
      EXPECT_THAT(recipe_options(), testing::Contains(choice.option));
      EXPECT_THAT(recipe_options(facts.data), testing::Contains(choice.option));
      EXPECT_FALSE(choice.shown().empty()) << choice.option;
      EXPECT_GT(choice.reason.size(), 10u) << choice.option;
    }
}

TEST(Recipe, OptionsOfAKindOfDataAreThoseWithARuleForIt) {
  EXPECT_THAT(recipe_options(kBoxes), testing::AllOf(testing::Contains("ema"), testing::Contains("precision"),
                                                     testing::Not(testing::Contains("augment"))));
  EXPECT_THAT(recipe_options(kVoxelLabels),
              testing::AllOf(testing::Contains("augment"), testing::Not(testing::Contains("ema"))));
}

TEST(Recipe, SmallBatchesOfVolumesHaveInstanceNormLargeOnesInLongRunsTheReferences) {
  EXPECT_EQ(value_of(volumes(110, 1), "norm"), "instance");
  EXPECT_THAT(choice_of(volumes(110, 1), "norm").reason, HasSubstr("1 sample a step"));
  EXPECT_EQ(value_of(volumes(5000, 15), "norm"), "instance");
  EXPECT_EQ(value_of(volumes(999, 16), "norm"), "instance");
  EXPECT_THAT(choice_of(volumes(999, 16), "norm").reason, HasSubstr("more than 999 steps"));
  EXPECT_EQ(value_of(volumes(1000, 16), "norm"), "");
  RecipeFacts parts = volumes(1000, 16);
  parts.norm_samples = 2;  // 8 replicas with norms of their own
  EXPECT_THAT(choice_of(parts, "norm").reason, HasSubstr("2 samples a step"));
}

TEST(Recipe, AnchorsOfADetectorAreFittedAndTheLossOfItsBoxesIsTheReferences) {
  RecipeFacts facts = images(100);
  EXPECT_EQ(value_of(facts, "anchors"), "") << "the model has no such field";
  facts.fields = {"anchors", "box-loss"};
  EXPECT_EQ(value_of(facts, "anchors"), "fitted");
  EXPECT_GT(choice_of(facts, "anchors").reason.size(), 10u);
  EXPECT_EQ(value_of(facts, "box-loss"), "");
}

TEST(Recipe, BoxesOfADetectorVoteAndItsWeightsAreAveragedInRunsThatAreNotShort) {
  RecipeFacts facts = images(1600);
  EXPECT_EQ(value_of(facts, "box-vote"), "") << "the model has no such field";
  facts.fields = {"box-vote"};
  EXPECT_EQ(value_of(facts, "box-vote"), "0.7");
  EXPECT_EQ(value_of(facts, "ema"), "0.99");
  EXPECT_THAT(choice_of(facts, "ema").reason, HasSubstr("over about 100 steps"));
  facts.average_fits = false;
  EXPECT_EQ(value_of(facts, "ema"), "");
  EXPECT_EQ(value_of(images(199), "ema"), "");
  EXPECT_EQ(value_of(images(200), "ema"), "0.9167") << "over 12 steps";
  EXPECT_EQ(value_of(images(1'000'000), "ema"), "0.999");
  EXPECT_EQ(value_of(volumes(1600), "ema"), "") << "of volumes no average is chosen";
}

TEST(Recipe, ImagesOfADetectorThatAreSeenOftenAreChanged) {
  RecipeFacts facts = images(1000, 1);
  for (const char* option : {"scale", "brightness", "contrast"}) {
    facts.cases = 126;
    EXPECT_EQ(value_of(facts, option), "") << "7 times";
    facts.cases = 125;
    EXPECT_NE(value_of(facts, option), "");
    EXPECT_THAT(choice_of(facts, option).reason, HasSubstr("each of 125 pictures is seen 8 times"));
  }
  EXPECT_EQ(value_of(facts, "scale"), "0.8,1.25");
}

TEST(Recipe, AModelWithoutTheFieldIsLeftAlone) {
  RecipeFacts facts = volumes();
  facts.fields = {"activation"};
  EXPECT_EQ(value_of(facts, "norm"), "");
  EXPECT_EQ(value_of(facts, "activation"), "leaky_relu");
  EXPECT_EQ(value_of(images(100), "norm"), "");
}

TEST(Recipe, ClassesThatSomeCasesLackAreMergedAndSeenAsOftenAsTheOthers) {
  RecipeFacts facts = volumes();
  facts.fields.emplace_back("unannotated");
  facts.cases = 40, facts.rarest_class = "larynx", facts.cases_with_rarest = 40;
  EXPECT_EQ(value_of(facts, "unannotated"), "");
  EXPECT_EQ(value_of(facts, "crops"), "");
  facts.partly_annotated = 24, facts.cases_with_rarest = 16;
  EXPECT_EQ(value_of(facts, "unannotated"), "merge");
  EXPECT_THAT(choice_of(facts, "unannotated").reason, HasSubstr("in 24 of 40 cases"));
  EXPECT_EQ(value_of(facts, "crops"), "set");
  EXPECT_THAT(choice_of(facts, "crops").reason, HasSubstr("larynx is in 16 of 40 cases"));
  facts.fields = {"norm"};
  EXPECT_EQ(value_of(facts, "unannotated"), "") << "a model without the field";
}

TEST(Recipe, ClassesThatDifferInTheirSideAloneAreJoined) {
  RecipeFacts facts = volumes();
  EXPECT_EQ(value_of(facts, "sides"), "");
  facts.sided_classes = "kidney_left and kidney_right";
  EXPECT_EQ(value_of(facts, "sides"), "auto");
  EXPECT_THAT(choice_of(facts, "sides").reason, HasSubstr("kidney_left and kidney_right differ in their side alone"));
}

TEST(Recipe, CasesThatAreSeenOftenAreTurnedAndScaled) {
  RecipeFacts facts = volumes(1000);
  EXPECT_EQ(value_of(facts, "augment"), "") << "no cases are known";
  facts.cases = 40;
  EXPECT_EQ(value_of(facts, "augment"), "space");
  EXPECT_THAT(choice_of(facts, "augment").reason, HasSubstr("each of 40 cases is seen 25 times"));
  facts.cases = 41;
  EXPECT_EQ(value_of(facts, "augment"), "");
  facts.batch = 2;
  EXPECT_EQ(value_of(facts, "augment"), "space") << "48 times";
  RecipeFacts pictures = images(10000);
  pictures.cases = 10;
  EXPECT_EQ(value_of(pictures, "augment"), "");
}

TEST(Recipe, TheLastTenthOfTheStepsIsOnWholeVolumesWhereTheyAreHardlyLargerThanCrops) {
  RecipeFacts facts = volumes(200);
  EXPECT_EQ(value_of(facts, "whole-steps"), "") << "they are not cropped";
  facts.whole_crops = 1.8;
  EXPECT_EQ(value_of(facts, "whole-steps"), "20");
  EXPECT_THAT(choice_of(facts, "whole-steps").reason, HasSubstr("volumes of 1.8 crops"));
  facts.whole_fits = false;
  EXPECT_EQ(value_of(facts, "whole-steps"), "") << "whole volumes are over the memory";
  facts.whole_fits = true, facts.whole_crops = 4.1;
  EXPECT_EQ(value_of(facts, "whole-steps"), "") << "they would take more than a third of the time";
  facts.whole_crops = 0.7, facts.steps = 199;
  EXPECT_EQ(value_of(facts, "whole-steps"), "");
}

TEST(Recipe, TheWarmUpIsATenthOfTheStepsAtMostAHundred) {
  EXPECT_EQ(value_of(volumes(110), "warmup-steps"), "11");
  EXPECT_EQ(value_of(volumes(9), "warmup-steps"), "");
  EXPECT_EQ(value_of(images(400), "warmup-steps"), "40");
  EXPECT_EQ(value_of(volumes(100000), "warmup-steps"), "100");
}

TEST(Recipe, TheRateIsThatOfTheOptimizer) {
  RecipeFacts sgd = images(400, 2);
  sgd.optimizer = OptimizerKind::kSgd;
  EXPECT_EQ(value_of(sgd, "learning-rate"), "0.0025") << "0.08 at 64 pictures";
  sgd.batch = 64;
  EXPECT_EQ(value_of(sgd, "learning-rate"), "0.08");
  RecipeFacts of_volumes = volumes();
  EXPECT_EQ(value_of(of_volumes, "learning-rate"), "0.01");
  EXPECT_THAT(choice_of(of_volumes, "learning-rate").reason, HasSubstr("only 110 steps"));
  EXPECT_EQ(value_of(volumes(300), "learning-rate"), "0.004");
  EXPECT_EQ(value_of(volumes(999), "learning-rate"), "0.004");
  EXPECT_EQ(value_of(volumes(1000), "learning-rate"), "0.001");
  EXPECT_THAT(choice_of(volumes(1000), "learning-rate").reason, HasSubstr("in 1000 steps"));
  of_volumes.optimizer = OptimizerKind::kSgd;
  EXPECT_EQ(value_of(of_volumes, "learning-rate"), "0.01");
  EXPECT_THAT(choice_of(of_volumes, "learning-rate").reason, HasSubstr("{momentum} 0.99")) << "which is not chosen";
}

TEST(Recipe, RunningStatisticsForgetWithinATenthOfTheRun) {
  EXPECT_EQ(value_of(images(100), "norm-momentum"), "0.900");
  EXPECT_EQ(value_of(images(400), "norm-momentum"), "0.950");
  EXPECT_EQ(value_of(images(22500), "norm-momentum"), "") << "the reference's 0.997 is right for its steps";
}

TEST(Recipe, F32WhereBf16IsOnlySlowerAndItFits) {
  RecipeFacts facts = volumes();
  EXPECT_EQ(value_of(facts, "precision"), "") << "not asked";
  facts.precision = PrecisionFacts{.multiplies_bf16 = true, .instructions = "avx512_core_amx"};
  EXPECT_EQ(value_of(facts, "precision"), "bf16");
  facts.precision = PrecisionFacts{.multiplies_bf16 = false, .instructions = "avx2"};
  EXPECT_EQ(value_of(facts, "precision"), "f32");
  EXPECT_THAT(choice_of(facts, "precision").reason, HasSubstr("avx2"));
  facts.precision->f32_fits = false, facts.precision->f32_refusal = "it needs 9 GiB of the 8 GiB that are free";
  EXPECT_EQ(value_of(facts, "precision"), "bf16");
  EXPECT_THAT(choice_of(facts, "precision").reason, HasSubstr("9 GiB of the 8 GiB"));
}

TEST(Recipe, AMeasurementOfTheMachineDecidesAgainstItsInstructions) {
  RecipeFacts facts = volumes();
  facts.precision =
      PrecisionFacts{.multiplies_bf16 = true, .instructions = "avx512_core_amx", .bf16_step_s = 0.3, .f32_step_s = 0.2};
  EXPECT_EQ(value_of(facts, "precision"), "f32");
  EXPECT_THAT(choice_of(facts, "precision").reason, HasSubstr("in bf16 takes 1.50 of one in f32"));
  facts.precision =
      PrecisionFacts{.multiplies_bf16 = false, .instructions = "avx2", .bf16_step_s = 0.1, .f32_step_s = 0.2};
  EXPECT_EQ(value_of(facts, "precision"), "bf16");
}

TEST(UsualTraining, IsThatOfThePublishedDigitsAndABatchForNorms) {
  const auto value = [](const char* model, const std::string& option, std::int64_t replicas) -> std::string {
    for (const Choice& choice : usual_training(*model_named(model_table(), model), replicas))
      if (choice.option == option) return choice.shown();
    return "";
  };
  EXPECT_EQ(value("digits", "batch", 1), "64");
  EXPECT_EQ(value("digits", "batch", 8), "512") << "64 x replicas";
  EXPECT_EQ(value("digits", "epochs", 8), "10");
  EXPECT_EQ(value("digits", "learning-rate", 8), "0.01");
  EXPECT_EQ(value("digits", "lr-decay-rate", 8), "0.7");
  EXPECT_EQ(value("resnet50", "batch", 2), "16");
  EXPECT_EQ(value("resnet50", "epochs", 2), "");
  EXPECT_TRUE(usual_training(*model_named(model_table(), "unet3d"), 1).empty());
  for (const auto& model : model_table())
    EXPECT_EQ(usual_training(*model, 1).empty(), model->data != kClassLabels) << model->name;
}

TEST(UsualTraining, IsARowOfTheModel) {
  Model toy = *test::toy_model();
  toy.usual = {.batch = 3,
               .reason = "toys come in threes",
               .others = {{"learning-rate", 0.25, "as played"}, {"epochs", std::int64_t{2}, "as played"}}};
  TrainSettings train(ModelTable{std::make_shared<const Model>(toy)});
  train.settings.say(Layer::kCommandLine, "replicas", {"2"});
  train.settings.say(Layer::kConfig, "epochs", {"5"});
  EXPECT_EQ(train.say_usual().size(), 2u);
  EXPECT_EQ(train.options.batch, 6);
  EXPECT_EQ(train.options.optimizer.learning_rate, 0.25);
  EXPECT_EQ(train.options.epochs, 5);
  EXPECT_EQ(train.settings.layer("batch"), Layer::kModel);
  EXPECT_EQ(train.settings.find("batch")->reason, "3 for each replica: toys come in threes");
}

/// Settings over a small data set, for which the recipe is asked as often as the steps change.
struct AskedAgain : TrainingScene {
  explicit AskedAgain(const std::string& name) : TrainingScene(name) {
    train.options.work = work(), train.options.run = path("run");
    for (const auto& [setting, word] :
         std::map<std::string, std::string>{{"schedule", "steps"}, {"fold", "all"}, {"crop", "16x16x16"}})
      train.settings.say(Layer::kCommandLine, setting, {word});
  }
  std::vector<Choice> choices(std::int64_t steps) {
    train.settings.say(Layer::kRecipe, {"steps", steps, "they fit into the time"});
    train.settle();
    task->complete(train.options.spec);
    std::vector<Choice> chosen = train.say_recipe(*task, context);
    train.settle();
    return chosen;
  }

  TrainSettings train;
  std::unique_ptr<TrainingTask> task = volume_task({.work = work(), .fold = "all", .sampling = {.crop = {16, 16, 16}}});
  RunContext context{progress, {.threads = 2}};
};

TEST(Recipe, WhatItChoseForOtherStepsIsTakenBackWhereItHasNoRuleForThese) {
  AskedAgain asked("recipe_other_steps");
  const OptimizerOptions& optimizer = asked.train.options.optimizer;
  asked.choices(1000);
  EXPECT_EQ(optimizer.warmup_steps, 100);
  EXPECT_EQ(optimizer.decay_at, (std::vector<std::int64_t>{666, 888}));
  asked.choices(9);
  EXPECT_EQ(optimizer.warmup_steps, 0);
  EXPECT_FALSE(asked.train.settings.is_said("warmup-steps"));
  EXPECT_EQ(optimizer.decay_at, (std::vector<std::int64_t>{6, 8})) << "the rate falls by the steps that are done";
  asked.train.settings.say(Layer::kCommandLine, "lr-steps", {"3"});
  asked.choices(90);
  EXPECT_EQ(optimizer.decay_at, std::vector<std::int64_t>{3}) << "what was given stays";
  EXPECT_EQ(optimizer.warmup_steps, 9);
}

TEST(Recipe, ThePrecisionInWhichStepsWereMeasuredStaysAndIsAmongTheChoices) {
  AskedAgain asked("recipe_precision_again");
  const auto precision = [](const std::vector<Choice>& choices) {
    const auto found = std::ranges::find(choices, "precision", &Choice::option);
    return found == choices.end() ? std::pair<std::string, std::string>() : std::pair(found->shown(), found->reason);
  };
  const auto before = precision(asked.choices(1000)), after = precision(asked.choices(200));
  EXPECT_FALSE(before.first.empty());
  EXPECT_EQ(after, before) << "a run keeps it, for when it goes on";
  EXPECT_EQ(precision(asked.train.options.chosen), before);
}

TEST(Recipe, ComesBackFromTheRecord) {
  const std::vector<Choice> choices = recipe(volumes());
  const std::vector<Choice> back = choices_from_json(to_json(choices));
  ASSERT_EQ(back.size(), choices.size());
  EXPECT_EQ(back[0].option, choices[0].option);
  EXPECT_EQ(to_json(back), to_json(choices));
  expect_error(ErrorKind::kCheckpoint, "recipe is broken", [] { choices_from_json({{"option", "norm"}}); });
  expect_error(ErrorKind::kCheckpoint, "recipe is broken", [] { choices_from_json(nlohmann::json::array({1})); });
}

}  // namespace
}  // namespace voxshard
