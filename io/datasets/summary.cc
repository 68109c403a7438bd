// nnU-Net writes its summary with Python's json (sort_keys, indent 4): capital letters sort before small ones, class
// keys sort as text ("1", "10", "2"), a missing value is NaN (nlohmann::json: null), a mean has a decimal point.
//
//   write_summary("summary.json", cases);
#include "io/datasets/summary.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

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

/// The eight numbers of a class, in the order of their sorted keys.
constexpr const char* kKeys[] = {"Dice", "FN", "FP", "IoU", "TN", "TP", "n_pred", "n_ref"};
constexpr int kCount = 8;
constexpr bool kIsScore[kCount] = {true, false, false, true, false, false, false, false};
using Row = std::array<double, kCount>;

Row row_of(const ClassScores& s) {
  auto d = [](std::int64_t v) { return static_cast<double>(v); };
  return {s.dice, d(s.fn), d(s.fp), s.iou, d(s.tn), d(s.tp), d(s.tp + s.fp), d(s.tp + s.fn)};
}

std::string object(const Row& row, bool counts_are_whole, const std::string& indent) {
  std::string text = "{\n";
  for (int i = 0; i < kCount; ++i) {
    const bool whole = counts_are_whole && !kIsScore[i];
    text += indent + "    \"" + kKeys[i] +
            "\": " + (whole ? std::to_string(static_cast<std::int64_t>(row[i])) : python_float(row[i]));
    text += i + 1 < kCount ? ",\n" : "\n";
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
std::map<std::string, Row> mean_over_cases(const std::vector<CaseScores>& cases) {
  std::map<std::string, Row> sums, counts;
  for (const CaseScores& one : cases)
    for (const auto& [label, scores] : one.classes) {
      const Row row = row_of(scores);
      Row &sum = sums[std::to_string(label)], &count = counts[std::to_string(label)];
      for (int i = 0; i < kCount; ++i)
        if (!std::isnan(row[i])) sum[i] += row[i], count[i] += 1;
    }
  for (auto& [name, sum] : sums)
    for (int i = 0; i < kCount; ++i)
      sum[i] = counts[name][i] > 0 ? sum[i] / counts[name][i] : std::numeric_limits<double>::quiet_NaN();
  return sums;
}

Row mean_over_classes(const std::map<std::string, Row>& rows) {
  Row mean{};
  for (const auto& [name, row] : rows)
    for (int i = 0; i < kCount; ++i) mean[i] += row[i];  // one class without a score makes the mean NaN, as in nnU-Net
  for (double& v : mean)
    v = rows.empty() ? std::numeric_limits<double>::quiet_NaN() : v / static_cast<double>(rows.size());
  return mean;
}

std::string json_string(const std::filesystem::path& path) {
  return nlohmann::json(path.string()).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string summary_text(const std::vector<CaseScores>& cases) {
  for (const CaseScores& one : cases) {
    bool same = one.classes.size() == cases.front().classes.size();
    for (const auto& [label, scores] : one.classes) same = same && cases.front().classes.contains(label);
    ensure(same, "all cases of a summary have the same classes");
  }
  const auto mean = mean_over_cases(cases);
  std::string text = "{\n    \"foreground_mean\": " + object(mean_over_classes(mean), false, "    ") + ",\n";
  text += "    \"mean\": " + classes_object(mean, false, "    ") + ",\n    \"metric_per_case\": [";
  for (std::size_t c = 0; c < cases.size(); ++c) {
    std::map<std::string, Row> rows;
    for (const auto& [label, scores] : cases[c].classes) rows[std::to_string(label)] = row_of(scores);
    const std::string indent(12, ' ');
    text += std::string(c ? ",\n" : "\n") + "        {\n" + indent +
            "\"metrics\": " + classes_object(rows, true, indent) + ",\n";
    text += indent + "\"prediction_file\": " + json_string(cases[c].prediction_file) + ",\n";
    text += indent + "\"reference_file\": " + json_string(cases[c].reference_file) + "\n        }";
  }
  return text + (cases.empty() ? "]\n}" : "\n    ]\n}");
}

void write_summary(const std::filesystem::path& path, const std::vector<CaseScores>& cases) {
  write_text_atomically(path, summary_text(cases));
}

OutputKind summary_file() {
  return {"scores of voxshard evaluate", {".json"}, begins_with({R"({"foreground_mean":{)"})};
}

}  // namespace voxshard
