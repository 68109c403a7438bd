#include "io/dicom_out/derived_uid.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "io/files/content_hash.h"

namespace voxshard {

std::string derived_uid(std::string_view text) {
  const std::string hash = content_hash(text);  // 32 hexadecimal digits
  std::uint64_t high = 0, low = 0;
  std::from_chars(hash.data(), hash.data() + 16, high, 16);
  std::from_chars(hash.data() + 16, hash.data() + 32, low, 16);
  high = (high & ~(std::uint64_t{0xF} << 12)) | (std::uint64_t{8} << 12);  // the version
  low = (low & ~(std::uint64_t{3} << 62)) | (std::uint64_t{2} << 62);      // the variant
  // The 128 bits as a decimal number: four digits of base 2^32 are divided by ten until nothing is left.
  std::uint64_t parts[] = {high >> 32, high & 0xFFFFFFFF, low >> 32, low & 0xFFFFFFFF};
  std::string digits;
  while (std::any_of(std::begin(parts), std::end(parts), [](std::uint64_t part) { return part != 0; })) {
    std::uint64_t rest = 0;
    for (std::uint64_t& part : parts) {
      const std::uint64_t value = (rest << 32) | part;
      part = value / 10, rest = value % 10;
    }
    digits += static_cast<char>('0' + rest);
  }
  std::reverse(digits.begin(), digits.end());
  return "2.25." + digits;
}

}  // namespace voxshard
