// Lists of files with a class each: CSV of two columns, "file,class", or of four, "file,start,end,class": the class
// that a video shows from `start` to `end`, in seconds. The heading line is optional; fields may be quoted.
//
//   for (const ClassRow& row : read_class_list("train.csv").rows) open(named_path(folder, row.file));
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace voxshard {

/// A part of a video, in seconds after its first frame; the end is excluded. 0 <= start_s < end_s <= 1e7.
struct ClassInterval {
  double start_s = 0, end_s = 0;
};

struct ClassRow {
  std::string file;                            // a path of plain names of at most kMostFileNameBytes, "cells/0001.png"
  std::string class_name;                      // plain text
  std::int64_t line = 0;                       // from 1
  std::optional<ClassInterval> interval = {};  // none: all of the file
};

/// A row that cannot be used.
struct ClassRowProblem {
  std::string row;   // "line 17"
  std::string code;  // E_SYNTAX, E_NAME, E_TIME, E_DUPLICATE, E_OVERLAP, E_LIMIT
  std::string reason;
};

struct ClassList {
  std::vector<ClassRow> rows;
  std::vector<ClassRowProblem> problems;  // the first 1000, and E_LIMIT with the number of the others
};

inline constexpr std::int64_t kMostClassRows = 10'000'000;

/// Reads a list. File names are normalised: "./a.png" becomes "a.png". Empty lines are skipped. Of two rows for the
/// same time of a file the first is kept and the other becomes a problem. Errors: kInput for a list that is missing,
/// unreadable or larger than kDataLimits allows, or in which none of the first 1000 rows can be used; E_LIMIT for more
/// than `most_rows`.
ClassList read_class_list(const std::filesystem::path& path, std::int64_t most_rows = kMostClassRows);

}  // namespace voxshard
