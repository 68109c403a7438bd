// What the page of a run shows, read from the files of the run folder and nothing else: results.csv, validations.csv,
// last_validation.json, best_validation.json, run.json and plans.json. A run that is still going on is read as far as
// its rows are whole.
//
//   RunData run = read_run_data("run");
//   run.best()->score;                     // of the validation that the best checkpoint is of
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace voxshard {

/// A row of results.csv.
struct StepData {
  std::int64_t step = 0;
  double loss = 0, gradient_norm = 0, learning_rate = 0, seconds = 0;
};

struct CaseData {
  std::string name;
  std::vector<double> by_class;  // in the order of RunData::classes; NaN where the case has no score of the class

  /// The mean over the classes that have a score; NaN when none has.
  double mean() const;
};

struct ValidationData {
  std::int64_t step = 0;
  std::string weights;  // kLastWeights or kAveragedWeights
  double score = 0;
  std::vector<double> by_class;
  std::vector<CaseData> cases;  // kept of the best validation and of those of the last step; empty where there are none
};

struct RunData {
  std::string name;              // of the folder, without where it lies
  std::string metric = "score";  // "dice"
  bool higher_is_better = true;
  std::vector<std::string> classes;
  std::vector<StepData> steps;  // every `every`th row of results.csv, and the last one
  std::int64_t every = 1, rows = 0;
  double step_seconds = 0;                  // of all rows
  std::vector<ValidationData> validations;  // in order; thinned out like the steps, but for the best and the last
  std::ptrdiff_t best_at = -1;              // index of the best validation; -1: there is none
  nlohmann::ordered_json facts;             // page_facts()
  nlohmann::ordered_json slices = {};       // read_slices(); null: the page shows none
  // read_detail() of the last and the best validation; null: there is none
  nlohmann::ordered_json last_detail = {}, best_detail = {};

  const ValidationData* best() const { return best_at < 0 ? nullptr : &validations[best_at]; }
  /// The last validation of the weights that train, not of their average.
  const ValidationData* last() const;
  /// That one or that of the averaged weights at the same step, whose score is better; the averaged ones where equal.
  const ValidationData* better_of_last() const;
};

/// The most rows of results.csv and the most validations in a page; more are thinned out.
inline constexpr std::size_t kMostPoints = 1000, kMostValidations = 200;

/// Reads a run. Errors: kInput for a folder that holds no run of `train` or a file that cannot be read; kCheckpoint for
/// a run.json of another format.   Cost: results.csv and validations.csv are read once, row by row.
RunData read_run_data(const std::filesystem::path& run);

/// Returns the data of a page as its script and tests read them: the numbers as they stand in the files, NaN as null.
/// The JPEGs of drawn images are left out, which the page holds once already.
nlohmann::ordered_json to_json(const RunData& run);

}  // namespace voxshard
