// The predictions of a classifier as files: JSON that `evaluate` reads, and CSV for spreadsheets.
//
//   {"task": "classification", "classes": ["0", ...], "predictions": [{"file": "7/a.png", "class": "7",
//   "probabilities": [...]}]} file,class,probability,p(0),p(1),...
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "io/output/output_file.h"
#include "pipelines/model_runs/averaged_runs.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/tasks/classification/dataset/item_kind.h"
#include "pipelines/tasks/time_lines/time_line_files.h"

namespace voxshard {

struct ClassPrediction {
  std::string file;                   // the item's name
  std::vector<double> probabilities;  // of every class
  ReadTimeLine time_line = {};        // for a video; set only by reading, time_line_files.h writes it
};

struct ClassPredictions {
  std::vector<std::string> classes;
  ItemKind items = ItemKind::kImage;
  std::int64_t clip_length = 16, clip_stride = 1;  // for clips, as in ClassReading
  std::int64_t trained_on = 0;                     // number of rows that the run was trained on
  std::vector<AveragedRun> averaged = {};          // the runs, where several were averaged; not set by reading
  std::vector<ClassPrediction> rows;
  std::vector<CaseFailure> failures;  // entries of the file that cannot be used; set by reading
};

/// Returns the entries of the JSON before its predictions.
nlohmann::ordered_json predictions_head(const ClassPredictions& predictions);

/// Write the files, each whole or not at all. Errors: kOutput.
void write_class_predictions(const std::filesystem::path& json, const ClassPredictions& predictions);
void write_class_table(const std::filesystem::path& csv, const ClassPredictions& predictions);
/// Returns "found.csv" for "found.json".
std::filesystem::path class_table_of(const std::filesystem::path& json);

/// Returns the first of the videos that a report has, as a table: [{"file", "class", "probability", "windows",
/// "intervals"}].
std::string videos_text(const nlohmann::ordered_json& videos);

/// Reads predictions; for clips, each row has its time line. Errors: kInput for a file that is no such JSON, or names
/// fewer than two classes or one class twice. Entries that cannot be used are in `failures`: probabilities that are no
/// numbers from 0 to 1, a name that occurs twice, a time line out of order, or an incomplete one (E_STOPPED with its
/// video's name).
ClassPredictions read_class_predictions(const std::filesystem::path& json);

/// Return the file kinds for require_output_file; the first also recognises files with predictions of classes.
OutputKind class_predictions_file();
OutputKind class_table_file();

}  // namespace voxshard
