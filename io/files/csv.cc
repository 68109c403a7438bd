// The file is opened for each row: rows are rare (about one per epoch), and no file stays open while a step runs. On
// resuming only whole rows with a newline are kept.
//
//   CsvWriter::create("results.csv", {"step", "loss"}).write({std::int64_t{1}, 0.5});
#include "io/files/csv.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "io/files/atomic_file.h"
#include "io/files/file_error.h"
#include "io/files/open_file.h"
#include "io/files/structured_text.h"
#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns true for text that a spreadsheet would evaluate as a formula; an apostrophe in front makes it text.
bool looks_like_formula(const std::string& text) {
  return !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
}

std::string quoted(const std::string& cell) {
  const std::string text = (looks_like_formula(cell) ? "'" : "") + cell;
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (char ch : text) out += ch == '"' ? std::string("\"\"") : std::string(1, ch);
  return out + "\"";
}

std::string header_row(const std::vector<std::string>& columns) { return joined(columns, ",", quoted) + "\n"; }

/// The number before the first comma; false when there is none.
bool first_number(const std::string& row, std::int64_t& value) {
  const char* end = row.data() + row.size();
  const auto [at, error] = std::from_chars(row.data(), end, value);
  return error == std::errc() && (at == end || *at == ',');
}

}  // namespace

std::string csv_text(const CsvField& field) {
  if (const auto* text = std::get_if<std::string>(&field)) return quoted(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&field)) return std::to_string(*whole);
  const double value = std::get<double>(field);
  if (std::isnan(value)) return "nan";
  return number_text(value);
}

CsvWriter::CsvWriter(fs::path path, std::vector<std::string> columns)
    : path_(std::move(path)), columns_(std::move(columns)) {}

CsvWriter CsvWriter::create(const fs::path& path, std::vector<std::string> columns) {
  write_text_atomically(path, header_row(columns));
  return CsvWriter(path, std::move(columns));
}

CsvWriter CsvWriter::resume(const fs::path& path, std::vector<std::string> columns, std::int64_t last_step) {
  if (std::error_code unseen; !fs::exists(path, unseen)) return create(path, std::move(columns));
  InputFile in(path);
  if (!in) throw input_error(path, in.problem(), "move it away, or choose a new output folder");
  std::string kept = header_row(columns), row;
  std::getline(in, row);
  if (row + "\n" != kept)
    throw Error(ErrorKind::kCheckpoint, "[resume] " + path.string() + ": has other columns (" + row +
                                            "); it belongs to another run: choose a new output folder");
  // A row without its newline was torn when the run was killed: getline reaches the end of the file on it.
  while (std::getline(in, row) && !in.eof()) {
    std::int64_t step = 0;
    if (first_number(row, step) && step <= last_step) kept += row + "\n";
  }
  write_text_atomically(path, kept);
  return CsvWriter(path, std::move(columns));
}

void CsvWriter::write(const std::vector<CsvField>& row) { write_all({row}); }

void CsvWriter::write_all(const std::vector<std::vector<CsvField>>& rows) {
  std::string lines;
  for (const auto& row : rows) {
    ensure(row.size() == columns_.size(), "a CSV row has one field per column");
    for (std::size_t i = 0; i < row.size(); ++i) lines += (i ? "," : "") + csv_text(row[i]);
    lines += "\n";
  }
  if (const int reason = append_to_file(path_, lines, false, true); reason != 0)
    throw output_error(path_, std::strerror(reason), "check that the folder exists, is writable and has space");
}

std::optional<std::vector<std::string>> csv_fields(std::string_view line, std::size_t most_fields) {
  std::vector<std::string> fields(1);
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == ',') {
      fields.emplace_back();
    } else if (line[at] == '"' && fields.back().empty()) {
      bool closed = false;
      for (++at; at < line.size() && !closed; ++at) {
        if (line[at] != '"')
          fields.back() += line[at];
        else if (at + 1 < line.size() && line[at + 1] == '"')
          fields.back() += line[at++];
        else
          closed = true;
      }
      if (!closed || (at < line.size() && line[at] != ',')) return std::nullopt;
      --at;  // the loop reads the comma next, if there is one
    } else {
      fields.back() += line[at];
    }
    if (fields.size() > most_fields) return std::nullopt;
  }
  return fields;
}

std::vector<std::string> read_csv(const fs::path& path,
                                  const std::function<void(const std::vector<std::string>&)>& row) {
  constexpr std::size_t kMostColumns = 4096;
  InputFile in(path);
  if (!in) throw input_error(path, in.problem(), "check the path and its permissions");
  if (in.bytes() > kDataLimits.bytes)
    throw Error(ErrorKind::kInput, "E_LIMIT", "[input] " + path.string() + ": is larger than a table that is read");
  std::optional<std::vector<std::string>> columns;
  // A row without its newline is just being written, or was torn by a kill: getline reaches the end of the file on it.
  for (std::string line; std::getline(in, line) && !in.eof();) {
    auto fields = csv_fields(line, kMostColumns);
    if (!columns) {
      if (!fields) break;
      columns = std::move(fields);
      continue;
    }
    if (!fields || fields->size() != columns->size()) continue;
    for (std::string& field : *fields)
      if (field.starts_with('\'') && looks_like_formula(field.substr(1))) field.erase(0, 1);
    row(*fields);
  }
  if (!columns) throw input_error(path, "has no row of column names", "it is no table of voxshard");
  return *columns;
}

}  // namespace voxshard
