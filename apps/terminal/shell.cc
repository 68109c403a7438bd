#include "apps/terminal/shell.h"

#include <string_view>

#include "libcore/base/plain_text.h"

namespace voxshard {
namespace {

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  if (find_steering(word) != std::string::npos) {  // $'...' supports \n, \' and \x1b
    std::string escaped;
    for (char ch : word) escaped += (ch == '\'' || ch == '\\' ? "\\" : "") + std::string(1, ch);
    return "$'" + plain_text(escaped) + "'";
  }
  std::string quoted = "'";
  for (char ch : word) quoted += ch == '\'' ? std::string("'\\''") : std::string(1, ch);
  return quoted + "'";
}

}  // namespace

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

}  // namespace voxshard
