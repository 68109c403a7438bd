// Sources: Unicode 15.1, sections 3.9 (well-formed UTF-8, table 3-7) and 23.2 (controls of layout).
//
//   find_steering("a\u202eb")   // 1
#include "libcore/base/plain_text.h"

#include <algorithm>

namespace voxshard {
namespace {

struct Range {
  char32_t first, last;
};
constexpr Range kSteering[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},        // controls
    {0x61c, 0x61c},   {0x180e, 0x180e},    // a direction mark, a zero-width separator
    {0x200b, 0x200f}, {0x2028, 0x202e},    // zero-width and direction marks, line separators
    {0x2060, 0x206f}, {0xfeff, 0xfeff},    // joiners, isolates, the byte order mark
    {0xfff9, 0xfffb}, {0xe0000, 0xe007f},  // annotations, tags
};

struct Character {
  std::size_t bytes = 0;  // 0: not valid UTF-8
  char32_t code = 0;
};

Character character_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const bool too_long = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (too_long || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) return {};
  return {bytes, code};
}

bool steers(char32_t code) {
  return std::any_of(std::begin(kSteering), std::end(kSteering),
                     [&](const Range& range) { return code >= range.first && code <= range.last; });
}

}  // namespace

std::size_t character_bytes(std::string_view text) { return character_at(text).bytes; }

std::size_t find_steering(std::string_view text, std::size_t from, std::string_view but) {
  for (std::size_t at = from; at < text.size();) {
    const Character c = character_at(text.substr(at));
    if (c.bytes == 0 || (steers(c.code) && but.find(text[at]) == std::string_view::npos)) return at;
    at += c.bytes;
  }
  return std::string_view::npos;
}

std::string plain_text(std::string_view text, std::string_view but) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(find_steering(text, at, but), text.size());
    plain += text.substr(at, next - at);
    if (next == text.size()) break;
    at = next + std::max<std::size_t>(1, character_bytes(text.substr(next)));
    for (const char c : text.substr(next, at - next)) {
      const auto byte = static_cast<unsigned char>(c);
      plain += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return plain;
}

}  // namespace voxshard
