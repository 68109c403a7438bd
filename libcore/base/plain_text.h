// Makes text from files safe to print. A name in a file may hold characters that control a terminal instead of being
// shown: escape sequences, Unicode line ends, marks that change the direction of writing, zero-width characters.
//
//   plain_text("liver\x1b[2J")     // "liver\x1b[2J" with a backslash, an x, a 1 and a b: four letters
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace voxshard {

/// Returns the position, at or after `from`, of the first control character in a broad sense: C0, DEL, C1, line and
/// paragraph separators, direction marks, zero-width letters, byte order marks, and bytes that are not valid UTF-8;
/// npos when there is none.
///   but  control characters that are allowed, such as "\n"
std::size_t find_steering(std::string_view text, std::size_t from = 0, std::string_view but = "");

/// Returns `text` with each byte of such characters written as \x1b.
std::string plain_text(std::string_view text, std::string_view but = "");

/// The length in bytes of the UTF-8 character at the start of `text`; 0 when it is invalid. Requires a text that is not
/// empty.
std::size_t character_bytes(std::string_view text);

}  // namespace voxshard
