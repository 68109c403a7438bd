#include "pipelines/tasks/segmentation/checks/patients.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "libcore/base/text.h"

namespace voxshard {
namespace {

constexpr std::string_view kWords[] = {"subject", "patient", "sub", "pat", "pt"};  // the longer ones first
constexpr std::string_view kSeparators = "-_ .";

bool is_separator(char c) { return kSeparators.find(c) != std::string_view::npos; }
bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Returns the end of the name that begins at `at`, behind a separator or at once with a digit; `at` when it holds no
/// digit, or goes on the word before it ("subset1").
std::size_t end_of_name(const std::string& text, std::size_t at) {
  if (at == text.size() || !(is_separator(text[at]) || is_digit(text[at]))) return at;
  std::size_t end = at + (is_separator(text[at]) ? 1 : 0);
  const std::size_t begin = end;
  while (end < text.size() && is_alphanumeric(text[end])) ++end;
  const bool numbered = std::any_of(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                    text.begin() + static_cast<std::ptrdiff_t>(end), is_digit);
  return numbered ? end : at;
}

}  // namespace

std::string patient_of(const std::string& id) {
  const std::string text = lower_case(id);
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && !is_separator(text[at - 1])) continue;
    for (const std::string_view word : kWords) {
      if (text.compare(at, word.size(), word) != 0) continue;
      const std::size_t end = end_of_name(text, at + word.size());
      if (end > at + word.size()) return id.substr(0, end);
    }
  }
  return id;
}

}  // namespace voxshard
