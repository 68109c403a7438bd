// The rows of a run's validations.csv: every validation with its scores by class and by case, from which the page of a
// run (report_page) draws its curves and tables.
//
//   step,weights,case,class,dice
//   400,last,,,0.71              the score that chooses the best checkpoint
//   400,last,,liver,0.93         a class over all cases
//   400,last,liver_03,liver,0.9  a class in a case
#pragma once

#include "io/files/csv.h"
#include "pipelines/engine/validation.h"

namespace voxshard {

/// Returns the column names; the last is that of the metric.
std::vector<std::string> validation_columns(const std::string& metric);

/// Returns the rows of one validation, in the order of the example.
///   weights  kLastWeights or kAveragedWeights
std::vector<std::vector<CsvField>> validation_rows(std::int64_t step, const std::string& weights,
                                                   const Validation& validation);

}  // namespace voxshard
