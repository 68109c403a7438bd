// Fields of lines of text that are numbers: bounded, and named with the field where they are not.
//
//   const double left = number_field("244.75", "left");      // "has the left "x"; expected a number of at most 1e9"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace voxshard {

/// A field quoted in a message: at most 40 characters, only what every terminal and every JSON reader takes.
std::string quoted_field(std::string_view field);

/// Errors: EntryProblem unless the whole field is a number of at most 1e9.
double number_field(std::string_view field, const char* name);

/// Errors: EntryProblem unless it is a whole one.
std::int64_t whole_field(std::string_view field, const char* name);

}  // namespace voxshard
