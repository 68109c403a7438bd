// The unpacked bytes of an .xz file in pieces, by a decoder whose memory has a bound: the file says how large a
// dictionary it wants, up to 4 GiB.
//
//   XzStream in(file.number(), 96 << 20);
//   while (const auto piece = in.next()) {
//     if (piece->empty()) break;                // the end
//   }
//
// Called by archive_reader.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace voxshard {

/// The first bytes of an .xz file (The .xz File Format 1.1.0, 2.1.1.1).
inline constexpr std::string_view kXzMagic{
    "\xfd"
    "7zXZ\0",
    6};

class XzStream {
 public:
  /// Reads an open file, which must outlive it.
  ///   most_bytes  memory of the decoder
  XzStream(int file, std::int64_t most_bytes);
  ~XzStream();
  XzStream(const XzStream&) = delete;
  XzStream& operator=(const XzStream&) = delete;

  /// Returns the next piece, which holds until the next call; an empty one at the end. None: the file is cut or
  /// damaged, or wants more memory than its decoder may take.
  std::optional<std::span<const std::uint8_t>> next();
  /// Returns the memory that the decoder takes, or would take when it is refused; 0 before it is known.
  std::int64_t needed_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voxshard
