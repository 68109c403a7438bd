// The scores of several evaluations or runs beside one another, with mean and spread: by class and over the classes,
// for people, as JSON and as CSV. `evaluate` fills it from its reports, `report` and its page from the validations of
// runs.
//
//   const ScoreSpread spread({"seed_0", "seed_1"}, {scores_of_one, scores_of_other});
//   text += spread.to_text();        // class  metric  n  mean  deviation  least  largest  seed_0  seed_1
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libcore/metrics/spread.h"
#include "pipelines/model_runs/class_score.h"

namespace voxshard {

/// The first columns of the CSV; a column for each input follows.
inline constexpr const char* kSpreadCsvHead = "class,metric,n,mean,deviation,least,largest";

class ScoreSpread {
 public:
  struct Row {
    std::string scored, metric;
    int digits = 3;
    std::vector<double> values;  // by input; NaN: it has no such score
    Spread spread() const { return spread_of(values); }
  };

  /// Joins scores by class and metric, in the order in which they first occur; where one has no such score it is NaN.
  ///   names   of the inputs
  ///   scores  of each input
  ScoreSpread(std::vector<std::string> names, const std::vector<std::vector<ClassScore>>& scores);

  bool empty() const { return rows_.empty(); }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<Row>& rows() const { return rows_; }
  std::string to_text() const;
  /// [{"class", "metric", "n", "mean", "deviation", "least", "largest", "values"}]; the class of scores over all
  /// classes is null, as a number that does not exist; an infinite one is "inf".
  nlohmann::ordered_json to_json() const;
  std::string to_csv() const;

 private:
  std::vector<std::string> names_;
  std::vector<Row> rows_;
};

}  // namespace voxshard
