#include "io/datasets/class_list.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "io/files/csv.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "io/files/structured_text.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

constexpr std::size_t kMostProblems = 1000, kLongestLine = 65536, kMostFields = 4;
constexpr double kMostSeconds = 1e7;  // 116 days

/// Returns the whole text as a number; none when it is not a number or out of range.
std::optional<double> seconds_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= kMostSeconds))
    return std::nullopt;
  return value;
}

class Reader {
 public:
  void read(std::string_view line, std::int64_t number) {
    if (line.empty()) return;
    ++rows;
    const std::string row = "line " + std::to_string(number);
    const auto refuse = [&](const char* code, const std::string& reason) {
      if (list.problems.size() < kMostProblems)
        list.problems.push_back({row, code, reason});
      else if (more_++ == 0)
        more_from_ = row;
    };
    const auto fields = line.size() > kLongestLine ? std::nullopt : csv_fields(line, kMostFields);
    if (!fields || (fields->size() != 2 && fields->size() != 4) || fields->front().empty() || fields->back().empty())
      return refuse("E_SYNTAX", "is neither \"file,class\" nor \"file,start,end,class\"");
    const std::string &said = fields->front(), &name = fields->back();
    if (number == 1 && lower_case(said) == "file" && lower_case(name) == "class") return;
    const std::string file = std::filesystem::path(said).lexically_normal().generic_string();
    std::string problem = relative_path_problem(said, kMostFileNameBytes);
    if (problem.empty()) problem = relative_path_problem(file, kMostFileNameBytes);  // "a/." is the folder "a/"
    if (problem.empty() && file == ".") problem = "is a folder";
    if (!problem.empty()) return refuse("E_NAME", "names the file \"" + shown_name(said) + "\", which " + problem);
    if (problem = text_problem(name); !problem.empty())
      return refuse("E_NAME", "names the class \"" + shown_name(name) + "\", which " + problem);
    ClassRow entry{file, name, number};
    if (fields->size() == 4) {
      const auto start = seconds_of((*fields)[1]), end = seconds_of((*fields)[2]);
      if (!start || !end || *start >= *end)
        return refuse("E_TIME", "does not give seconds with start < end, like \"a.mp4,1.5,4,left\"");
      entry.interval = {*start, *end};
    }
    if (const auto line_before = taken(entry))
      return entry.interval ? refuse("E_OVERLAP", "shares time of " + shown_name(file) + " with line " +
                                                      std::to_string(*line_before))
                            : refuse("E_DUPLICATE", "names " + shown_name(file) + " a second time");
    list.rows.push_back(std::move(entry));
  }

  /// Adds a last problem that counts those beyond kMostProblems.
  void finish() {
    if (more_ > 0)
      list.problems.push_back({more_from_, "E_LIMIT",
                               "and " + std::to_string(more_ - 1) +
                                   " rows behind it cannot be used either; mend those "
                                   "that are named above and see which are left"});
  }

  ClassList list;
  std::int64_t rows = 0;  // lines that are not empty

 private:
  struct Taken {
    double end_s = 0;
    std::int64_t line = 0;
  };

  /// Returns the line of an earlier row that overlaps this one in time; none when there is no such row, and then
  /// records this one.
  std::optional<std::int64_t> taken(const ClassRow& row) {
    const double start = row.interval ? row.interval->start_s : 0,
                 end = row.interval ? row.interval->end_s : std::numeric_limits<double>::infinity();
    std::map<double, Taken>& times = times_[row.file];
    const auto after = times.lower_bound(start);
    if (after != times.end() && after->first < end) return after->second.line;
    if (after != times.begin() && std::prev(after)->second.end_s > start) return std::prev(after)->second.line;
    times.emplace(start, Taken{end, row.line});
    return std::nullopt;
  }

  std::map<std::string, std::map<double, Taken>> times_;  // by file, then by start
  std::int64_t more_ = 0;                                 // problems beyond kMostProblems
  std::string more_from_;                                 // row of the first of those problems
};

}  // namespace

ClassList read_class_list(const std::filesystem::path& path, std::int64_t most_rows) {
  const std::string text = read_text({.path = path});
  std::string_view rest = text;
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  Reader reader;
  for (std::int64_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    reader.read(line, number);
    if (reader.rows > most_rows)
      throw input_error(path, "has more than " + std::to_string(most_rows) + " rows", "divide it among several lists",
                        "E_LIMIT");
    if (reader.list.rows.empty() && reader.list.problems.size() >= kMostProblems) break;  // not a class list
  }
  reader.finish();
  if (reader.list.rows.empty())
    throw input_error(path,
                      reader.list.problems.empty()
                          ? "names no file"
                          : reader.list.problems.front().row + " " + reader.list.problems.front().reason,
                      "expected rows of two columns, file,class, or of parts of videos four, file,start,end,class");
  return std::move(reader.list);
}

}  // namespace voxshard
