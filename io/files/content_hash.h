// A hash of the bytes of a file or a value in 32 hexadecimal digits: XXH3 with 128 bits, which detects damage and
// accidental change at the speed of memory. It is no signature: it does not protect against somebody who constructs two
// files with the same hash.
//
//   std::string of_file = file_hash("images/case_03.nii");
//   ContentHash hash;
//   hash.add(header);
//   hash.add(tensor.bytes());
//   hash.text()                            // "99aa06d3014798d86001c324468d497f" for no bytes at all
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace voxshard {

/// A hash of bytes that come in pieces; the sizes of the pieces do not matter.
class ContentHash {
 public:
  ContentHash();
  void add(std::span<const std::byte> bytes);
  void add(std::string_view bytes);
  /// Returns the hash of all bytes so far, in XXH3's canonical order, as `xxhsum -H2` prints it.
  std::string text() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

std::string content_hash(std::span<const std::byte> bytes);
std::string content_hash(std::string_view bytes);
/// Returns the hash of a whole file, read 1 MiB at a time. Errors: kInput when it cannot be opened or read to its end.
std::string file_hash(const std::filesystem::path& path);

}  // namespace voxshard
