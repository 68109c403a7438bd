// SHA-256 (FIPS 180-4), by nettle, for hashes that others check with tools of their own: `sha256sum` prints the same.
// Hashes that only this program compares are those of io/files/content_hash.h, which are faster.
//
//   sha256("abc")                 // "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
//   file_sha256("last.safetensors");
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace voxshard {

/// Hexadecimal digits of a hash.
inline constexpr std::size_t kSha256Digits = 64;

/// Returns the hash of a text in lower-case hexadecimal digits.
std::string sha256(std::string_view text);

/// Returns the hash of a whole file, read 1 MiB at a time. Errors: kInput when it cannot be opened or read to its end.
std::string file_sha256(const std::filesystem::path& path);

/// Returns the hash of one file, or of several, whatever their order and names: that of their hashes, sorted, each
/// followed by a line end, as of `sha256sum FILES | cut -c1-64 | sort | sha256sum`. Errors: as file_sha256.
std::string files_sha256(const std::vector<std::filesystem::path>& files);

/// True for 64 lower-case hexadecimal digits.
bool is_sha256(std::string_view text);

}  // namespace voxshard
