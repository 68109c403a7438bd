#include "io/files/content_hash.h"

#include <xxhash.h>

#include <new>
#include <vector>

#include "io/files/file_error.h"
#include "io/files/open_file.h"

namespace voxshard {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

std::string text_of(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : canonical.digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace

void ContentHash::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

ContentHash::ContentHash() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH3_128bits_reset(state_.get());
}

void ContentHash::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
}

void ContentHash::add(std::string_view bytes) { add(std::as_bytes(std::span(bytes))); }

std::string ContentHash::text() const { return text_of(XXH3_128bits_digest(state_.get())); }

std::string content_hash(std::span<const std::byte> bytes) { return text_of(XXH3_128bits(bytes.data(), bytes.size())); }

std::string content_hash(std::string_view bytes) { return content_hash(std::as_bytes(std::span(bytes))); }

std::string file_hash(const std::filesystem::path& path) {
  constexpr const char* kAction = "check the path, its permissions and the disk";
  InputFile in(path);
  if (!in) throw input_error(path, in.problem(), kAction);
  ContentHash hash;
  std::vector<char> piece(kPieceBytes);
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hash.add(std::string_view(piece.data(), static_cast<std::size_t>(in.gcount())));
  }
  if (!in.eof()) throw input_error(path, "cannot be read to its end", kAction);
  return hash.text();
}

}  // namespace voxshard
