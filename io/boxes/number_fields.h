// Parses number fields of text lines with a bound; the error names the field.
//
//   const double left = number_field("244.75", "left");      // "has the left "x"; expected a number of at most 1e9"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace voxshard {

/// Returns a field in quotes for a message: at most 40 characters that every terminal and JSON reader takes.
std::string quoted_field(std::string_view field);

/// Returns the field as a number. Errors: EntryProblem unless the whole field is a number of at most 1e9.
double number_field(std::string_view field, const char* name);

/// The same for whole numbers. Errors: EntryProblem also for a fraction.
std::int64_t whole_field(std::string_view field, const char* name);

}  // namespace voxshard
