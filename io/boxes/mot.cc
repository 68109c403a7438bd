#include "io/boxes/mot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <system_error>
#include <utility>

#include "io/boxes/number_fields.h"
#include "io/files/atomic_file.h"
#include "io/files/file_error.h"
#include "io/files/open_file.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{256} << 20;  // about four million boxes
constexpr std::size_t kLongestLine = 1024;
constexpr std::size_t kFewestFields = 6, kResultFields = 10;

bool is_separator(char c) { return c == ',' || c == ' ' || c == '\t'; }

bool is_blank(std::string_view line) { return std::all_of(line.begin(), line.end(), is_separator); }

/// The fields of a line; commas may stand with blanks around them.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t at = 0; at < line.size();) {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
    const std::size_t begin = at;
    while (at < line.size() && !is_separator(line[at])) ++at;
    if (at > begin || at < line.size()) fields.push_back(line.substr(begin, at - begin));
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
    if (at < line.size() && line[at] == ',') ++at;
    if (fields.size() > kResultFields) break;
  }
  return fields;
}

}  // namespace

MotRow parse_mot_line(std::string_view line) {
  if (line.size() > kLongestLine)
    throw EntryProblem("has " + std::to_string(line.size()) + " characters; expected a box");
  const auto fields = fields_of(line);
  if (fields.size() < kFewestFields || fields.size() > kResultFields)
    throw EntryProblem("has " + (fields.size() > kResultFields ? "more than 10" : std::to_string(fields.size())) +
                       " fields; expected frame, track, left, top, width, height, then confidence, class, visibility");
  MotRow row;
  row.frame = whole_field(fields[0], "frame");
  if (row.frame < 1) throw EntryProblem("has the frame " + std::to_string(row.frame) + "; frames are counted from 1");
  row.track = std::max<std::int64_t>(-1, whole_field(fields[1], "track"));
  row.box = {.x = number_field(fields[2], "left"),
             .y = number_field(fields[3], "top"),
             .width = number_field(fields[4], "width"),
             .height = number_field(fields[5], "height")};
  if (!(row.box.width > 0 && row.box.height > 0)) throw EntryProblem("has a box without area", "E_BOX");
  if (fields.size() > 6) row.confidence = number_field(fields[6], "confidence");
  if (fields.size() == kResultFields) return row;
  if (fields.size() > 7) row.class_id = std::max<std::int64_t>(0, whole_field(fields[7], "class"));
  if (fields.size() > 8) {
    const double visibility = number_field(fields[8], "visibility");
    if (visibility >= 0 && visibility <= 1) row.visibility = visibility;
  }
  return row;
}

MotFile read_mot(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) throw input_error(path, "does not exist", "check the path");
  if (!fs::is_regular_file(path, error)) throw input_error(path, "is not a file", "give MOT's gt.txt or det.txt");
  if (fs::file_size(path, error) > kMostBytes)
    throw input_error(path, "has more than 256 MiB", "expected MOT text, one box per line");
  InputFile in(path);
  if (!in) throw input_error(path, in.problem(), "check its permissions");
  MotFile file;
  BoundedNotes notes("lines");
  std::set<std::pair<std::int64_t, std::int64_t>> seen;  // frame, track
  std::int64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    if (line.ends_with('\r')) line.pop_back();
    if (is_blank(line)) continue;
    notes.in("line " + std::to_string(number), [&] {
      MotRow row = parse_mot_line(line);
      row.line = number;
      if (row.track >= 0 && !seen.insert({row.frame, row.track}).second)
        throw EntryProblem(
            "has track " + std::to_string(row.track) + " in frame " + std::to_string(row.frame) + " for a second time",
            "E_DUPLICATE");
      file.rows.push_back(row);
    });
  }
  file.notes = notes.all();
  if (file.rows.empty() && !file.notes.empty())
    throw input_error(path, "holds no box: " + file.notes[0].entry + " " + file.notes[0].message,
                      "expected MOT text, one box per line");
  return file;
}

std::string mot_line(const MotRow& row) {
  std::array<char, 256> text{};
  const int length = std::snprintf(text.data(), text.size(), "%lld,%lld,%.2f,%.2f,%.2f,%.2f,%.6g,%lld,%.6g\n",
                                   static_cast<long long>(row.frame), static_cast<long long>(row.track), row.box.x,
                                   row.box.y, row.box.width, row.box.height, row.confidence,
                                   static_cast<long long>(row.class_id > 0 ? row.class_id : -1), row.visibility);
  ensure(length > 0 && static_cast<std::size_t>(length) < text.size(), "a line of MOT fits its buffer");
  return {text.data(), static_cast<std::size_t>(length)};
}

OutputKind mot_results_file() {
  return {"tracks of voxshard predict", {".txt"}, [](const fs::path& path) {
            InputFile in(path);
            std::string line(kLongestLine, '\0');
            in.read(line.data(), static_cast<std::streamsize>(line.size()));
            line.resize(in.gcount());
            line = line.substr(0, line.find('\n'));
            std::vector<EntryNote> other;
            bool ours = false;
            in_entry("line 1", other, [&] { ours = mot_line(parse_mot_line(line)) == line + "\n"; });
            return ours;
          }};
}

void write_mot(const fs::path& path, const std::vector<MotRow>& rows) {
  write_file_atomically(path, [&](std::ostream& out) {
    for (const MotRow& row : rows) out << mot_line(row);
  });
}

}  // namespace voxshard
