// What holds for the folds of any task: each item is held out by one fold, which predicts it, and the predictions of
// all folds are scored as one set.
//
//   expect_each_fold_predicts_its_own({.options = options_of_fold, .references = data, .items = 6, .metric =
//   "accuracy"},
//                                     scene.progress);
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "pipelines/commands/run_evaluate.h"
#include "pipelines/training/data_changes.h"
#include "pipelines/training/run_train.h"

namespace voxshard {

struct FoldLaw {
  std::function<TrainOptions(const std::string& fold)> options;  // of a short training on one fold
  std::filesystem::path references;                              // what the predictions are scored against
  std::size_t items = 0;                                         // in all folds
  std::string metric;                                            // one that `spread` has of all classes together
};

inline void expect_each_fold_predicts_its_own(const FoldLaw& law, Progress& progress) {
  std::set<std::string> held;
  EvaluateOptions evaluate{.references = law.references};
  for (const char* fold : {"0", "1", "2", "3", "4"}) {
    TrainOptions o = law.options(fold);
    o.held_out = HeldOutMode::kOn;
    const TrainReport report = run_train(o, progress);
    ASSERT_TRUE(report.held_out.has_value());
    EXPECT_EQ(report.held_out->problem, "");
    EXPECT_EQ(report.held_out->predicted, report.validation_cases);
    if (evaluate.predictions.empty())
      evaluate.predictions = report.held_out->output;
    else
      evaluate.further.push_back(report.held_out->output);
    const auto splits = splits_of_run(o.run);
    ASSERT_EQ(splits.size(), 5u);
    for (const std::string& name : splits.at(fold[0] - '0').val) EXPECT_TRUE(held.insert(name).second) << name;
  }
  EXPECT_EQ(held.size(), law.items);
  const TaskReport scores = run_evaluate(evaluate, progress);
  EXPECT_FALSE(scores.partial) << scores.text;
  EXPECT_TRUE(scores.json.contains("together")) << "the folds share no case";
  std::size_t rows = 0;
  for (const auto& row : scores.json.at("spread")) {
    if (!row.at("class").is_null() || row.at("metric") != law.metric) continue;
    EXPECT_EQ(row.at("n"), 5);
    ++rows;
  }
  EXPECT_EQ(rows, 1u) << law.metric;
}

}  // namespace voxshard
