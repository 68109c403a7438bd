#include "io/records/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace voxshard {

std::uint32_t crc32c(std::string_view bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // ISA-L counts with an int
  std::uint32_t crc = 0xffffffffU;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kMost, bytes.size()))) {
    auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));  // it only reads
    crc = crc32_iscsi(data, static_cast<int>(std::min(kMost, bytes.size())), crc);
  }
  return ~crc;
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace voxshard
