// nnU-Net writes its summary with Python's json (sort_keys, indent 4): capital letters sort before small ones, class
// keys sort as text ("1", "10", "2"), a missing value is NaN (nlohmann::json: null), a mean has a decimal point.
//
//   write_summary("summary.json", cases);
#include "io/datasets/summary.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "io/files/atomic_file.h"
#include "libcore/base/error.h"

namespace voxshard {
namespace {

/// A float as Python's repr writes it.
std::string python_float(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  char buffer[64];
  const double size = std::abs(value);
  const bool fixed = value == 0 || (size >= 1e-4 && size < 1e16);
  const auto form = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, form).ptr);
  if (fixed && text.find('.') == std::string::npos) text += ".0";
  return text;
}

/// One number of a class: a metric, or a count of voxels.
struct Number {
  double value = 0;
  bool is_count = false;
};
using Row = std::map<std::string, Number>;

Row row_of(const ClassScores& s) {
  Row row;
  for (const auto& [name, score] : s.scores) row[name] = {score};
  const std::pair<const char*, std::int64_t> counts[] = {
      {"TP", s.tp}, {"FP", s.fp}, {"FN", s.fn}, {"TN", s.tn}, {"n_pred", s.tp + s.fp}, {"n_ref", s.tp + s.fn}};
  for (const auto& [name, count] : counts) row[name] = {static_cast<double>(count), true};
  if (!s.annotated)
    for (auto& [name, number] : row) number.value = std::numeric_limits<double>::quiet_NaN();
  return row;
}

SummaryClass class_of(const SummaryClasses& classes, int label) {
  const auto at = classes.find(label);
  return at == classes.end() ? SummaryClass{.key = std::to_string(label)} : at->second;
}

std::string object(const Row& row, bool counts_are_whole, const std::string& indent) {
  std::string text = "{\n";
  std::size_t left = row.size();
  for (const auto& [name, number] : row) {
    const bool whole = counts_are_whole && number.is_count && !std::isnan(number.value);
    text += indent + "    \"" + name +
            "\": " + (whole ? std::to_string(static_cast<std::int64_t>(number.value)) : python_float(number.value)) +
            (--left > 0 ? ",\n" : "\n");
  }
  return text + indent + "}";
}

/// {"1": {...}, "10": {...}, "2": {...}}
std::string classes_object(const std::map<std::string, Row>& rows, bool counts_are_whole, const std::string& indent) {
  if (rows.empty()) return "{}";
  std::string text = "{\n";
  std::size_t left = rows.size();
  for (const auto& [name, row] : rows)
    text +=
        indent + "    \"" + name + "\": " + object(row, counts_are_whole, indent + "    ") + (--left ? ",\n" : "\n");
  return text + indent + "}";
}

/// Per class and number, the mean over cases without NaN; NaN when every case has NaN.
std::map<std::string, Row> mean_over_cases(const std::vector<CaseScores>& cases, const SummaryClasses& classes) {
  std::map<std::string, Row> sums;
  std::map<std::string, std::map<std::string, double>> counts;
  for (const CaseScores& one : cases)
    for (const auto& [label, scores] : one.classes)
      for (const auto& [name, number] : row_of(scores)) {
        const std::string of_class = class_of(classes, label).key;
        Number& sum = sums[of_class][name];
        double& count = counts[of_class][name];
        if (!std::isnan(number.value)) sum.value += number.value, count += 1;
      }
  for (auto& [of_class, row] : sums)
    for (auto& [name, sum] : row) {
      const double count = counts[of_class][name];
      sum.value = count > 0 ? sum.value / count : std::numeric_limits<double>::quiet_NaN();
    }
  return sums;
}

/// The mean over the classes that count in it.
Row mean_over_classes(std::map<std::string, Row> rows, const SummaryClasses& classes) {
  for (const auto& [label, one] : classes)
    if (!one.in_mean) rows.erase(one.key);
  Row mean = rows.empty() ? row_of({}) : rows.begin()->second;
  for (auto& [name, number] : mean) {
    double sum = 0;
    for (const auto& [of_class, row] : rows) sum += row.at(name).value;  // one NaN makes the mean NaN, as in nnU-Net
    number.value = rows.empty() ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(rows.size());
  }
  return mean;
}

std::string json_string(const std::filesystem::path& path) {
  return nlohmann::json(path.string()).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string summary_text(const std::vector<CaseScores>& cases, const SummaryClasses& classes) {
  for (const CaseScores& one : cases) {
    bool same = one.classes.size() == cases.front().classes.size();
    for (const auto& [label, scores] : one.classes)
      same = same && cases.front().classes.contains(label) &&
             std::ranges::equal(scores.scores, cases.front().classes.begin()->second.scores,
                                [](const auto& a, const auto& b) { return a.first == b.first; });
    ensure(same, "all cases of a summary have the same classes and metrics");
  }
  const auto mean = mean_over_cases(cases, classes);
  std::string text = "{\n    \"foreground_mean\": " + object(mean_over_classes(mean, classes), false, "    ") + ",\n";
  text += "    \"mean\": " + classes_object(mean, false, "    ") + ",\n    \"metric_per_case\": [";
  for (std::size_t c = 0; c < cases.size(); ++c) {
    std::map<std::string, Row> rows;
    for (const auto& [label, scores] : cases[c].classes) rows[class_of(classes, label).key] = row_of(scores);
    const std::string indent(12, ' ');
    text += std::string(c ? ",\n" : "\n") + "        {\n" + indent +
            "\"metrics\": " + classes_object(rows, true, indent) + ",\n";
    text += indent + "\"prediction_file\": " + json_string(cases[c].prediction_file) + ",\n";
    text += indent + "\"reference_file\": " + json_string(cases[c].reference_file) + "\n        }";
  }
  return text + (cases.empty() ? "]\n}" : "\n    ]\n}");
}

void write_summary(const std::filesystem::path& path, const std::vector<CaseScores>& cases,
                   const SummaryClasses& classes) {
  write_text_atomically(path, summary_text(cases, classes));
}

OutputKind summary_file() {
  return {"scores of voxshard evaluate", {".json"}, begins_with({R"({"foreground_mean":{)"})};
}

}  // namespace voxshard
