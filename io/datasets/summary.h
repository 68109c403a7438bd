// nnU-Net's summary.json: scores per case and class, their mean over cases (NaN left out) and the mean over the
// foreground classes (NaN kept, as nnU-Net does); regions have tuples of labels as their keys, as there. Keys sorted,
// four spaces, NaN written as NaN like Python's json.
//
//   write_summary("summary.json", {{"pred/a.nii.gz", "ref/a.nii.gz", {{1, {.scores = {{"Dice", 0.9}}, .tp = 9
//   ...}}}}});
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/output/output_file.h"

namespace voxshard {

struct ClassScores {
  std::map<std::string, double> scores;  // by the name of the metric; NaN where it is undefined
  std::int64_t tp = 0, fp = 0, fn = 0, tn = 0;
  bool annotated = true;  // false: nothing is known of it in this case; all its numbers are NaN
};

/// How a class stands in the file.
struct SummaryClass {
  std::string key;      // "1"; of a region the labels, as Python writes a tuple: "(1, 2)"
  bool in_mean = true;  // it counts in foreground_mean
};
/// By the key in CaseScores::classes; a class that is missing here has its number as its key and counts in the mean.
using SummaryClasses = std::map<int, SummaryClass>;

struct CaseScores {
  std::filesystem::path prediction_file, reference_file;
  std::map<int, ClassScores> classes;  // foreground classes and regions, each under a number of its own; the same ones,
                                       // with the same metrics, in every case
};

/// Returns the text of the file. Errors: kInternal when cases differ in their classes or metrics.
std::string summary_text(const std::vector<CaseScores>& cases, const SummaryClasses& classes = {});
/// Writes it atomically. Errors: kOutput.
void write_summary(const std::filesystem::path& path, const std::vector<CaseScores>& cases,
                   const SummaryClasses& classes = {});
/// Describes such files for require_output_file.
OutputKind summary_file();

}  // namespace voxshard
