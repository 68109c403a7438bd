// The checksum of TFRecord files: CRC-32C (Castagnoli), rotated and offset ("masked") because a record may contain
// another record with its checksum. Computed by ISA-L, which uses the processor's instruction.
//
//   masked_crc32c(bytes)      // the checksum after a record
#pragma once

#include <cstdint>
#include <string_view>

namespace voxshard {

/// crc32c("123456789") = 0xE3069283.
std::uint32_t crc32c(std::string_view bytes);
/// Returns the checksum rotated right by 15 bits, plus 0xa282ead8 (TensorFlow, core/lib/hash/crc32c.h).
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace voxshard
