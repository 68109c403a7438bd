#include "apps/text_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace voxshard {

std::string text_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.empty() ? 0 : rows[0].size(), 0);
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size() && c < widths.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size() && c < widths.size(); ++c) {
      const std::string gap(widths[c] - row[c].size(), ' ');
      line += (c ? "  " : "") + (c ? gap + row[c] : row[c] + gap);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string fixed_text(double value, int digits) {
  if (std::isnan(value)) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string joined_text(const double* values, int count, int digits) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    char part[64];
    std::snprintf(part, sizeof part, "%s%.*g", i ? "x" : "", digits, values[i]);
    text += part;
  }
  return text;
}

std::string joined_text(const long* values, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i ? "x" : "") + std::to_string(values[i]);
  return text;
}

}  // namespace voxshard
