// A small CSV file that grows row by row (results.csv): each row is written with one call and flushed, so that a killed
// run leaves whole rows; a resumed run first drops the rows after its checkpoint and a torn last row. Readers see whole
// rows alone, also while another process appends.
//
//   CsvWriter csv = CsvWriter::resume("results.csv", {"step", "loss"}, 120);   // keeps rows with step <= 120
//   csv.write({std::int64_t{121}, 0.25});
//   read_csv("results.csv", [&](const std::vector<std::string>& row) { ... });   // "121", "0.25"
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace voxshard {

/// One field: numbers are written in the shortest form that reads back to the same value; text is quoted when needed,
/// and gets an apostrophe in front when a spreadsheet would take it for a formula ("=1+1").
using CsvField = std::variant<std::int64_t, double, std::string>;

class CsvWriter {
 public:
  /// Starts a new file with a row of column names; an old file is replaced. Errors: kOutput.
  static CsvWriter create(const std::filesystem::path& path, std::vector<std::string> columns);
  /// Keeps the rows whose first column is a number <= `last_step` and goes on after them; create() when there is no
  /// file. Errors: kOutput; kCheckpoint when the file has other columns.
  static CsvWriter resume(const std::filesystem::path& path, std::vector<std::string> columns, std::int64_t last_step);

  /// Appends one row. Errors: kOutput; kInternal when the number of fields is not that of the columns.
  void write(const std::vector<CsvField>& row);
  /// Appends all rows with one call, so that a kill leaves the beginning of them. Errors: the same.
  void write_all(const std::vector<std::vector<CsvField>>& rows);

  const std::filesystem::path& path() const { return path_; }

 private:
  CsvWriter(std::filesystem::path path, std::vector<std::string> columns);
  std::filesystem::path path_;
  std::vector<std::string> columns_;
};

/// "12", "0.25", "nan", "\"a, b\"".
std::string csv_text(const CsvField& field);

/// Returns the fields of a line (RFC 4180) without its end; none when its quotes do not match or it has more than
/// `most_fields`.
std::optional<std::vector<std::string>> csv_fields(std::string_view line, std::size_t most_fields);

/// Returns the column names and calls `row` with each whole row that has as many fields; others, such as a row that is
/// just being written, are left out. The apostrophe in front of what a spreadsheet would take for a formula is removed.
/// Errors: kInput for a file that is missing or unreadable, larger than kDataLimits allows, or without column names.
std::vector<std::string> read_csv(const std::filesystem::path& path,
                                  const std::function<void(const std::vector<std::string>&)>& row);

}  // namespace voxshard
