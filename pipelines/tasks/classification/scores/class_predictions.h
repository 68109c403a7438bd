// What a classifier says of items, as files: JSON that `evaluate` reads, and CSV for spreadsheets.
//
//   {"task": "classification", "classes": ["0", ...], "predictions": [{"file": "7/a.png", "class": "7",
//   "probabilities": [...]}]} file,class,probability,p(0),p(1),...
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "io/files/output_file.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/tasks/classification/dataset/item_kind.h"
#include "pipelines/tasks/time_lines/time_line_files.h"

namespace voxshard {

struct ClassPrediction {
  std::string file;                   // the item's name
  std::vector<double> probabilities;  // of every class
  ReadTimeLine time_line = {};        // of a video; only read, see time_line_files.h for how it is written
};

struct ClassPredictions {
  std::vector<std::string> classes;
  ItemKind items = ItemKind::kImage;
  std::int64_t clip_length = 16, clip_stride = 1;  // of clips, as in ClassReading
  std::int64_t trained_on = 0;                     // of the rows, what the run was trained on
  std::vector<ClassPrediction> rows;
  std::vector<CaseFailure> failures;  // entries that cannot be used, of a file that was read
};

/// What such JSON begins with, before its predictions.
nlohmann::ordered_json predictions_head(const ClassPredictions& predictions);

/// Whole or not at all. Errors: kOutput.
void write_class_predictions(const std::filesystem::path& json, const ClassPredictions& predictions);
void write_class_table(const std::filesystem::path& csv, const ClassPredictions& predictions);
/// "found.csv" for "found.json".
std::filesystem::path class_table_of(const std::filesystem::path& json);

/// Errors: kInput for a file that is no such JSON, or names fewer than two classes or one twice; what cannot be used of
/// its entries (probabilities that are no numbers from 0 to 1, a name that is there twice, a time line out of order, or
/// not complete: E_STOPPED by the name of its video) is in `failures`. Of clips each row has its time line.
ClassPredictions read_class_predictions(const std::filesystem::path& json);

/// For require_output_file; the first also tells whether a file holds predictions of classes.
OutputKind class_predictions_file();
OutputKind class_table_file();

}  // namespace voxshard
