#include "io/datasets/name_pattern.h"

#include <algorithm>
#include <clocale>
#include <cwctype>

#include "libcore/base/plain_text.h"

namespace voxshard {
namespace {

/// Returns the UTF-8 character at the start of `text` and removes it; a byte that is not valid stands for itself.
char32_t take_character(std::string_view& text) {
  const std::size_t bytes = std::max<std::size_t>(1, character_bytes(text));
  const auto first = static_cast<unsigned char>(text[0]);
  char32_t character = bytes == 1 ? first : first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  text.remove_prefix(bytes);
  return character;
}

/// Returns the lower case of a character by Unicode, whatever the user's locale is.
char32_t lower_character(char32_t character) {
  static const locale_t kUnicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  const auto wide = static_cast<std::wint_t>(character);
  if (kUnicode == nullptr) return character < 128 ? static_cast<char32_t>(std::towlower(wide)) : character;
  return static_cast<char32_t>(towlower_l(wide, kUnicode));
}

}  // namespace

std::u32string comparable_name(std::string_view text) {
  std::u32string form;
  while (!text.empty()) {
    const char32_t character = take_character(text);
    const bool space = character == U'_' || character == U' ' || character == U'\t' || character == 0xA0;
    if (!space)
      form += lower_character(character);
    else if (!form.empty() && form.back() != U' ')
      form += U' ';
  }
  if (!form.empty() && form.back() == U' ') form.pop_back();
  return form;
}

bool matches_pattern(const std::u32string& pattern, const std::u32string& name) {
  std::size_t p = 0, n = 0, star = std::u32string::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == U'*') {
      star = p++, resume = n;  // the star stands for nothing at first
    } else if (p < pattern.size() && (pattern[p] == U'?' || pattern[p] == name[n])) {
      ++p, ++n;
    } else if (star != std::u32string::npos) {
      p = star + 1, n = ++resume;  // for one character more
    } else {
      return false;
    }
  }
  return std::all_of(pattern.begin() + static_cast<std::ptrdiff_t>(p), pattern.end(),
                     [](char32_t c) { return c == U'*'; });
}

}  // namespace voxshard
