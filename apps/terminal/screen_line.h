// Formats one line of progress that fits the terminal: on a narrow one the bar shrinks first, then the text at its end,
// then the rate. A line that wraps could not be overwritten by the next one.
//
//   screen_line({.stage = "train", .done = 3, .total = 12, .rate = "2.0 s each  18 s left", .text = "loss 0.41"}, 40);
#pragma once

#include <cstdint>
#include <string>

namespace voxshard {

struct ProgressLine {
  std::string stage;
  std::int64_t done = 0, total = 0;  // total 0: unknown
  std::string rate;                  // may be empty
  std::string text;                  // may be empty; control characters become "?"
};

/// Returns a line of at most `columns` - 1 columns, since the cursor may wrap in the last one. East Asian wide
/// characters count as two.
std::string screen_line(const ProgressLine& line, int columns);
/// Returns the line without a bar and of any length, for a log file.
std::string log_line(const ProgressLine& line);

/// Return the width of a text in columns, and its beginning of at most `columns` columns, with "..." if it was cut.
int columns_of(const std::string& text);
std::string cut_to(const std::string& text, int columns);

/// Returns the width of the terminal on standard error, else the value of COLUMNS, else 80.
int terminal_columns();

}  // namespace voxshard
