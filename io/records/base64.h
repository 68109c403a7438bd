// Bytes as text for JSON and HTML: base 64 of RFC 4648 with padding.
//
//   base64_text(bytes)      // "AAEC" of the bytes 0, 1, 2
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace voxshard {

/// Returns 4 characters for every 3 bytes begun.
std::string base64_text(std::span<const std::uint8_t> bytes);

}  // namespace voxshard
