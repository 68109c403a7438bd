#include "apps/manual/roff.h"

#include <algorithm>
#include <sstream>

namespace voxshard {
namespace {

constexpr std::size_t kRoffWidth = 78;
constexpr const char* kBlanks = " \t\n";

/// True for words as they are typed: "--to", "[-o", "imagesTr/a-b.nii", "v3-8_128".
bool is_typed(const std::string& word) {
  const std::size_t first = word.find_first_not_of("([\"'`,");
  return (first != std::string::npos && word[first] == '-') || word.find_first_of("/_=") != std::string::npos ||
         word.find("--") != std::string::npos;
}

std::string escaped_word(const std::string& word) {
  const bool typed = is_typed(word);
  std::string text;
  for (const char ch : word) {
    switch (ch) {
      case '\\':
        text += "\\e";
        break;
      case '-':
        text += typed ? "\\-" : "-";
        break;
      case '\'':
        text += "\\(aq";
        break;
      case '`':
        text += "\\(ga";
        break;
      case '^':
        text += "\\(ha";
        break;
      case '~':
        text += "\\(ti";
        break;
      case '"':
        text += "\\(dq";
        break;
      default:
        text += ch;
    }
  }
  return text;
}

}  // namespace

std::string roff_text(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = std::min(text.find_first_not_of(kBlanks, at), text.size());
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    out += text.substr(at, begin - at) + escaped_word(text.substr(begin, end - begin));
    at = end;
  }
  return out;
}

std::string roff_bold(const std::string& text) { return "\\fB" + roff_text(text) + "\\fR"; }

std::string roff_italic(const std::string& text) { return "\\fI" + roff_text(text) + "\\fR"; }

std::string roff_paragraph(const std::string& words) {
  std::string text, line;
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kRoffWidth) {
      text += line + "\n";
      line.clear();
    }
    if (line.empty() && word.starts_with('.')) line = "\\&";
    line += (line.empty() || line == "\\&" ? "" : " ") + word;
  }
  return line.empty() ? text : text + line + "\n";
}

}  // namespace voxshard
