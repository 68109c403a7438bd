#include "apps/terminal/screen_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "libcore/base/plain_text.h"

namespace voxshard {
namespace {

constexpr int kWidestBar = 24, kNarrowestBar = 6, kShortestText = 8;

/// A UTF-8 character: the index of its end and its width in columns.
struct Letter {
  std::size_t end;
  int columns;
};

Letter letter_at(const std::string& text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  const std::size_t bytes = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
  return {std::min(at + bytes, text.size()),
          byte > 0xE1 || (byte == 0xE1 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0x84)
              ? 2  // wide characters begin at U+1100
              : 1};
}

std::string without_controls(std::string text) {
  for (std::size_t at = 0; (at = find_steering(text, at)) != std::string::npos; ++at)
    text.replace(at, std::max<std::size_t>(1, character_bytes(std::string_view(text).substr(at))), "?");
  return text;
}

std::string bar(std::int64_t done, std::int64_t total, int width) {
  const int inside = width - 2;
  const auto filled = static_cast<int>(inside * std::clamp(done, std::int64_t{0}, total) / total);
  return "[" + std::string(filled, '=') + (filled < inside ? ">" : "") +
         std::string(std::max(0, inside - filled - 1), ' ') + "] ";
}

std::string count_of(const ProgressLine& line) {
  return line.total > 0 ? std::to_string(line.done) + "/" + std::to_string(line.total) : std::to_string(line.done);
}

std::string part(const std::string& text) { return text.empty() ? "" : "  " + text; }

}  // namespace

int columns_of(const std::string& text) {
  int columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Letter letter = letter_at(text, at);
    at = letter.end, columns += letter.columns;
  }
  return columns;
}

std::string cut_to(const std::string& text, int columns) {
  if (columns_of(text) <= columns) return text;
  const int dots = std::clamp(columns, 0, 3);
  std::size_t at = 0;
  for (int room = columns - dots; at < text.size();) {
    const Letter letter = letter_at(text, at);
    if (letter.columns > room) break;
    room -= letter.columns, at = letter.end;
  }
  return text.substr(0, at) + std::string(static_cast<std::size_t>(dots), '.');
}

std::string log_line(const ProgressLine& line) {
  return line.stage + " " + count_of(line) + part(line.rate) + part(without_controls(line.text));
}

std::string screen_line(const ProgressLine& line, int columns) {
  const int most = std::max(columns - 1, 1);
  const std::string head = line.stage + " ", count = count_of(line), text = without_controls(line.text);
  int room = most - columns_of(head + count);
  std::string rate = part(line.rate);
  if (columns_of(rate) > room) rate.clear();
  room -= columns_of(rate);
  const int wanted = text.empty() ? 0 : std::min(columns_of(text) + 2, kShortestText + 2);
  const int width = line.total > 0 ? std::min(kWidestBar + 2, room - wanted - 1) : 0;
  const std::string drawn = width >= kNarrowestBar ? bar(line.done, line.total, width) : "";
  room -= columns_of(drawn);
  const std::string tail = room > kShortestText && !text.empty() ? "  " + cut_to(text, room - 2) : "";
  return cut_to(head + drawn + count + rate + tail, most);
}

int terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int said = columns == nullptr ? 0 : std::atoi(columns);
  return said > 0 && said < 10000 ? said : 80;
}

}  // namespace voxshard
