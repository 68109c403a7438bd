// Text from outside on its way to a screen. A name in a file may hold what steers a terminal instead of being shown:
// escape sequences, line ends of other alphabets, marks that turn the direction of writing, letters without width.
//
//   plain_text("liver\x1b[2J")     // "liver\x1b[2J" with a backslash, an x, a 1 and a b: four letters
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace voxshard {

/// The place, from `from` on, of the first character that steers: controls (C0, DEL, C1), line and paragraph
/// separators, marks of direction, letters without width, byte order marks, and bytes that are no UTF-8; npos without.
///   but  controls that are let through, such as "\n"
std::size_t find_steering(std::string_view text, std::size_t from = 0, std::string_view but = "");

/// `text` with each byte of what steers as \x1b.
std::string plain_text(std::string_view text, std::string_view but = "");

/// The bytes of the character of UTF-8 that begins `text`; 0 when none does. Requires a text that is not empty.
std::size_t character_bytes(std::string_view text);

}  // namespace voxshard
