// Text in roff, the language of manual pages, with the man macros.
//
//   roff_text("--to 'a\\b'")         // \-\-to \(aqa\eb\(aq
#pragma once

#include <string>

namespace voxshard {

/// Returns `text` so that it is printed as it stands. A hyphen becomes a minus sign in words that are typed: options,
/// and names with a slash or an underscore. White space stays, line breaks too.
std::string roff_text(const std::string& text);

/// Returns text in bold or in italics.
std::string roff_bold(const std::string& text);
std::string roff_italic(const std::string& text);

/// Returns a paragraph in lines of at most 78 characters, unless words are longer, that end with a line break. `words`
/// are in roff: no line begins with a request.
std::string roff_paragraph(const std::string& words);

}  // namespace voxshard
