// The checksum of TFRecord files: CRC-32C (Castagnoli), turned and shifted ("masked") because a record may hold another
// record with its checksum. By ISA-L, which uses the processor's instruction.
//
//   masked_crc32c(bytes)      // what stands behind a record
#pragma once

#include <cstdint>
#include <string_view>

namespace voxshard {

/// crc32c("123456789") = 0xE3069283.
std::uint32_t crc32c(std::string_view bytes);
/// Rotated right by 15 bits, plus 0xa282ead8 (TensorFlow, core/lib/hash/crc32c.h).
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace voxshard
