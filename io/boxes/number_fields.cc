#include "io/boxes/number_fields.h"

#include <charconv>
#include <cmath>

#include "io/boxes/detection_annotations.h"

namespace voxshard {

std::string quoted_field(std::string_view field) {
  std::string text(field.substr(0, 40));
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return "\"" + text + "\"";
}

double number_field(std::string_view field, const char* name) {
  constexpr double kMostSize = 1e9;
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size() || !(std::abs(value) <= kMostSize))
    throw EntryProblem(std::string("has the ") + name + " " + quoted_field(field) +
                       "; expected a number of at most 1e9");
  return value;
}

std::int64_t whole_field(std::string_view field, const char* name) {
  const double value = number_field(field, name);
  if (value != std::floor(value))
    throw EntryProblem(std::string("has the ") + name + " " + quoted_field(field) + "; expected a whole number");
  return static_cast<std::int64_t>(value);
}

}  // namespace voxshard
