#include "io/audit/sha256.h"

#include <nettle/base16.h>
#include <nettle/sha2.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "io/files/file_error.h"
#include "io/files/open_file.h"

namespace voxshard {
namespace {

constexpr std::size_t kHashedAtOnceBytes = std::size_t{1} << 20;

class Sha256 {
 public:
  Sha256() { sha256_init(&context_); }
  void add(std::string_view bytes) {
    sha256_update(&context_, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  }
  std::string text() {
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
    sha256_digest(&context_, digest.size(), digest.data());
    std::string hex(BASE16_ENCODE_LENGTH(SHA256_DIGEST_SIZE), '\0');
    base16_encode_update(hex.data(), digest.size(), digest.data());
    return hex;
  }

 private:
  sha256_ctx context_{};
};

}  // namespace

std::string sha256(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.text();
}

std::string file_sha256(const std::filesystem::path& path) {
  constexpr const char* kAction = "check the path, its permissions and the disk";
  InputFile in(path);
  if (!in) throw input_error(path, in.problem(), kAction);
  Sha256 hash;
  std::string piece(kHashedAtOnceBytes, '\0');
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hash.add(std::string_view(piece.data(), static_cast<std::size_t>(in.gcount())));
  }
  if (!in.eof()) throw input_error(path, "cannot be read to its end", kAction);
  return hash.text();
}

std::string files_sha256(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> hashes;
  for (const auto& file : files) hashes.push_back(file_sha256(file));
  if (hashes.size() == 1) return hashes.front();
  std::ranges::sort(hashes);
  std::string lines;
  for (const std::string& hash : hashes) lines += hash + "\n";
  return sha256(lines);
}

bool is_sha256(std::string_view text) {
  return text.size() == kSha256Digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace voxshard
