// Formats numbers and tables for people. The first column of a table is left-aligned, the others right-aligned.
//
//   text_table({{"class", "Dice"}, {"liver", "0.934"}})
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace voxshard {

/// The first row is the heading. Rows may be shorter than the heading.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

/// "0.934"; "-" for NaN.
std::string fixed_text(double value, int digits = 3);

/// With so many significant digits: "0.000737", "7.37e-05", "3.023".
std::string significant_text(double value, int digits = 6);

/// "1 case", "2 cases", "0 cases". `several`: the plural, where it is not `one` with an s.
std::string counted(std::int64_t count, const std::string& one, const std::string& several = "");

/// "75x60x47", "3.01x3.01x3.5".
std::string joined_text(const double* values, int count, int digits);
std::string joined_text(const long* values, int count);

/// `text_of` of each part, with `separator` between them.
template <class Parts, class TextOf = std::identity>
std::string joined(const Parts& parts, const std::string& separator, TextOf text_of = {}) {
  std::string text;
  for (bool first = true; const auto& part : parts) {
    if (!std::exchange(first, false)) text += separator;
    text += text_of(part);
  }
  return text;
}

/// "A", "A or B", "A, B or C".
std::string or_text(const std::vector<std::string>& parts);

/// The shortest text that reads back as the same number.
std::string number_text(double value);

/// ASCII letters in lower case.
std::string lower_case(std::string text);

/// "42 s", "3 min 12 s", "2 h 05 min".
std::string duration_text(double seconds);

/// "1.50 GiB", "12.30 MiB", "17 bytes".
std::string bytes_text(std::int64_t bytes);

}  // namespace voxshard
