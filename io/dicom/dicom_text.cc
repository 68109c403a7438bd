#include "io/dicom/dicom_text.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dcspchrs.h>

#include <iconv.h>

#include <algorithm>
#include <optional>

#include "io/dicom/dicom_library.h"
#include "libcore/base/plain_text.h"

namespace voxshard {
namespace {

/// Converts by DCMTK, which asks the C library for each set alone.
std::optional<std::string> converted_by_dcmtk(const std::string& text, const std::string& character_set) {
  const DicomLibrary library;
  DcmSpecificCharacterSet set;
  // Behind a backslash, which separates values, a text with escape sequences begins again in its first set. One without
  // is not parted there: 0x5c may be the second byte of a letter of GB18030, which DCMTK 3.6.9 would cut in two.
  const char* const separators = text.find('\x1b') != std::string::npos ? "\\" : "";
  OFString converted;
  const bool known = set.selectCharacterSet(character_set.c_str(), "ISO_IR 192").good() &&
                     set.convertString(text.c_str(), converted, separators).good();
  return known ? std::optional(std::string(converted.c_str())) : std::nullopt;
}

/// Converts Japanese names with escape sequences. The C library has JIS X 0208 and 0212 (ISO 2022 IR 87 and 159) only
/// as parts of ISO-2022-JP-2, where DCMTK does not look for them. Half-width katakana (IR 13), which are the bytes 0xa1
/// to 0xdf, become U+FF61 to U+FF9F.
std::optional<std::string> converted_from_japanese(std::string text) {
  const std::string to_katakana = "\x1b)I";  // bytes from 0xa1 on are katakana in any case
  for (std::size_t at = 0; (at = text.find(to_katakana, at)) != std::string::npos;) text.erase(at, to_katakana.size());
  const iconv_t converter = iconv_open("UTF-8", "ISO-2022-JP-2");
  if (converter == reinterpret_cast<iconv_t>(-1)) return std::nullopt;
  std::string converted;
  bool good = true;
  for (std::size_t begin = 0; good && begin < text.size();) {
    const auto is_high = [&](std::size_t i) { return static_cast<unsigned char>(text[i]) >= 0x80; };
    std::size_t end = begin + 1;
    if (const auto byte = static_cast<unsigned char>(text[begin]); is_high(begin)) {
      good = byte >= 0xa1 && byte <= 0xdf;
      const int letter = 0xff61 + byte - 0xa1;
      converted += {static_cast<char>(0xef), static_cast<char>(0x80 | ((letter >> 6) & 0x3f)),
                    static_cast<char>(0x80 | (letter & 0x3f))};
    } else {
      while (end < text.size() && !is_high(end)) ++end;
      // The converter keeps the set that was chosen last.
      char *from = text.data() + begin, out[4096], *to = out;
      std::size_t left = end - begin, room = sizeof out;
      good = left <= sizeof out / 4 && iconv(converter, &from, &left, &to, &room) != static_cast<std::size_t>(-1);
      converted.append(out, to);
    }
    begin = end;
  }
  iconv_close(converter);
  return good ? std::optional(converted) : std::nullopt;
}

}  // namespace

std::string plain_dicom_text(const std::string& text, const std::string& character_set) {
  const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (ascii) return text;
  std::optional<std::string> converted = converted_by_dcmtk(text, character_set);
  const auto has = [&](const char* set) { return character_set.find(set) != std::string::npos; };
  if (!converted && (has("ISO 2022 IR 87") || has("ISO 2022 IR 159"))) converted = converted_from_japanese(text);
  // A set with escape sequences stands behind an empty one, which stands for ASCII; some programs leave that out.
  if (!converted && character_set.starts_with("ISO 2022")) converted = converted_by_dcmtk(text, "\\" + character_set);
  return plain_text(converted.value_or(text));
}

}  // namespace voxshard
