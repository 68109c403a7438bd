// One line of progress, made to fit: on a narrow terminal the bar shrinks first, then the text at its end, then the
// rate. A line that wrapped could not be overwritten by the next one.
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
  std::string text;                  // may be empty; what is no letter in it becomes "?"
};

/// At most `columns` - 1 columns: in the last one a terminal's cursor may wrap. Letters of East Asia count as two.
std::string screen_line(const ProgressLine& line, int columns);
/// Without a bar and of any length, for a log file.
std::string log_line(const ProgressLine& line);

/// The columns that a text takes, and its beginning that takes at most so many, with "..." where it was cut.
int columns_of(const std::string& text);
std::string cut_to(const std::string& text, int columns);

/// Of the terminal on standard error; else what COLUMNS says, else 80.
int terminal_columns();

}  // namespace voxshard
