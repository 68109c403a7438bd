#include "io/datasets/class_list.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "io/files/structured_text.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

constexpr std::size_t kMostProblems = 1000, kLongestLine = 65536, kMostFields = 2;

/// The fields of a line (RFC 4180); none when its quotes do not match.
std::optional<std::vector<std::string>> fields_of(std::string_view line) {
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
      --at;  // the comma, if any, is the next to be seen
    } else {
      fields.back() += line[at];
    }
    if (fields.size() > kMostFields) return std::nullopt;
  }
  return fields;
}

class Reader {
 public:
  void read(std::string_view line, std::int64_t number) {
    if (line.empty()) return;
    const std::string row = "line " + std::to_string(number);
    const auto refuse = [&](const char* code, const std::string& reason) {
      if (list.problems.size() < kMostProblems) list.problems.push_back({row, code, reason});
    };
    const auto fields = line.size() > kLongestLine ? std::nullopt : fields_of(line);
    if (!fields || fields->size() != kMostFields || (*fields)[0].empty() || (*fields)[1].empty())
      return refuse("E_SYNTAX", "is not \"file,class\"");
    const auto& [file, name] = std::tie((*fields)[0], (*fields)[1]);
    if (number == 1 && lower_case(file) == "file" && lower_case(name) == "class") return;
    if (const std::string problem = relative_path_problem(file, kMostFileNameBytes); !problem.empty())
      return refuse("E_NAME", "names the file \"" + shown_name(file) + "\", which " + problem);
    if (const std::string problem = text_problem(name); !problem.empty())
      return refuse("E_NAME", "names the class \"" + shown_name(name) + "\", which " + problem);
    if (!seen_.insert(file).second) return refuse("E_DUPLICATE", "names " + shown_name(file) + " a second time");
    list.rows.push_back({file, name, number});
  }

  ClassList list;

 private:
  std::set<std::string> seen_;
};

}  // namespace

ClassList read_class_list(const std::filesystem::path& path) {
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
    if (reader.list.rows.empty() && reader.list.problems.size() >= kMostProblems) break;  // something else
  }
  if (reader.list.rows.empty())
    throw input_error(path,
                      reader.list.problems.empty()
                          ? "names no file"
                          : reader.list.problems.front().row + " " + reader.list.problems.front().reason,
                      "expected rows of two columns, file,class");
  return std::move(reader.list);
}

}  // namespace voxshard
