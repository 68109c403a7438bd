#include "io/archive/xz_stream.h"

#include <lzma.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <vector>

namespace voxshard {

struct XzStream::State {
  int file = -1;
  lzma_stream decoder = LZMA_STREAM_INIT;
  std::vector<std::uint8_t> packed, unpacked;
  bool at_end = false, failed = false, finished = false;
  ~State() { lzma_end(&decoder); }
};

namespace {

constexpr std::size_t kXzPiece = std::size_t{1} << 18;

/// Reads the next bytes of a file; none when it cannot be read.
std::optional<std::size_t> read_some(int file, std::vector<std::uint8_t>& into) {
  for (;;) {
    const ::ssize_t got = ::read(file, into.data(), into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return std::nullopt;
  }
}

}  // namespace

XzStream::XzStream(int file, std::int64_t most_bytes) : state_(std::make_unique<State>()) {
  state_->file = file;
  state_->packed.resize(kXzPiece), state_->unpacked.resize(kXzPiece);
  if (lzma_stream_decoder(&state_->decoder, static_cast<std::uint64_t>(most_bytes), LZMA_CONCATENATED) != LZMA_OK)
    throw std::bad_alloc();
}

XzStream::~XzStream() = default;

std::optional<std::span<const std::uint8_t>> XzStream::next() {
  State& s = *state_;
  if (s.failed) return std::nullopt;
  s.decoder.next_out = s.unpacked.data(), s.decoder.avail_out = s.unpacked.size();
  while (s.decoder.avail_out > 0 && !s.finished) {
    if (s.decoder.avail_in == 0 && !s.at_end) {
      const auto got = read_some(s.file, s.packed);
      if (s.failed = !got; s.failed) return std::nullopt;
      s.decoder.next_in = s.packed.data(), s.decoder.avail_in = *got;
      s.at_end = *got == 0;
    }
    const lzma_ret result = lzma_code(&s.decoder, s.at_end ? LZMA_FINISH : LZMA_RUN);
    s.finished = result == LZMA_STREAM_END;
    s.failed = result != LZMA_OK && !s.finished;
    if (s.failed) return std::nullopt;
  }
  return std::span<const std::uint8_t>(s.unpacked.data(), s.unpacked.size() - s.decoder.avail_out);
}

std::int64_t XzStream::needed_bytes() const { return static_cast<std::int64_t>(lzma_memusage(&state_->decoder)); }

}  // namespace voxshard
