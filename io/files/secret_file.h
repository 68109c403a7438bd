// A secret of the operator's in a file, and texts that only its holder can make from a name: HMAC-SHA256 (RFC 2104).
//
//   const Secret secret = read_secret("salt.txt", "{id-salt}");   // as `head -c 32 /dev/urandom` writes it
//   keyed_hash(secret, "ct_77dddbdf335a")                          // 64 hexadecimal digits
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace voxshard {

/// Bytes that a secret must have: fewer can be guessed. Its file may have at most kMostSecretBytes.
inline constexpr std::size_t kLeastSecretBytes = 16, kMostSecretBytes = 4096;

struct Secret {
  std::string bytes;     // the whole file, a newline at its end included
  bool exposed = false;  // the file's mode lets others than its owner read it
};

/// Reads the file of a secret. Errors: kUsage, which names `option` and never shows a byte of the file: it cannot be
/// read, or is too short or too long.
Secret read_secret(const std::filesystem::path& path, const std::string& option);

/// Returns the HMAC-SHA256 of `text` under the secret in 64 hexadecimal digits.
std::string keyed_hash(const Secret& secret, std::string_view text);

}  // namespace voxshard
