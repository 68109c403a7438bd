// What the recipe chooses for classifiers, and for optimizers of any kind.
#include <gmock/gmock.h>

#include "tests/pipelines/settings/recipe_choices.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

RecipeFacts classes(std::int64_t steps = 500) {
  return {.data = std::string(kClassLabels), .fields = {"base-filters"}, .steps = steps, .batch = 64};
}

TEST(RecipeOfClasses, TheyHaveAWarmUpAndTheirRateOfSgd) {
  RecipeFacts facts = classes();
  EXPECT_EQ(value_of(facts, "warmup-steps"), "50");
  facts.optimizer = OptimizerKind::kSgd;
  EXPECT_EQ(value_of(facts, "learning-rate"), "0.025");
  EXPECT_THAT(choice_of(facts, "learning-rate").reason, HasSubstr("0.1 at 256 samples"));
}

TEST(RecipeOfClasses, AdamHasAHigherRateInShortRuns) {
  EXPECT_EQ(value_of(classes(300), "learning-rate"), "0.01");
  EXPECT_EQ(value_of(classes(301), "learning-rate"), "0.004");
  EXPECT_EQ(value_of(classes(1000), "learning-rate"), "0.004");
  EXPECT_THAT(choice_of(classes(999), "learning-rate").reason, HasSubstr("999 steps"));
  EXPECT_EQ(value_of(classes(1001), "learning-rate"), "");
}

TEST(RecipeOfClasses, DigitsAreTrainedAsPublished) {
  RecipeFacts facts = classes();
  facts.fields = {"size-multiplier"};
  EXPECT_EQ(value_of(facts, "warmup-steps"), "");
  EXPECT_EQ(value_of(facts, "learning-rate"), "");
}

TEST(RecipeOfOptimizers, OthersThanAdamAndSgdKeepTheRateOfTheReference) {
  for (const std::string_view data : {kVoxelLabels, kBoxes, kClassLabels})
    for (const OptimizerKind kind : {OptimizerKind::kAdadelta, OptimizerKind::kAdagrad, OptimizerKind::kRmsprop}) {
      RecipeFacts facts = classes();
      facts.data = data, facts.optimizer = kind;
      EXPECT_EQ(value_of(facts, "learning-rate"), "") << data;
    }
}

}  // namespace
}  // namespace voxshard
