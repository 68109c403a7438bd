#include "libcore/ranks/texts.h"

#include <algorithm>

namespace voxshard {
namespace {

/// Largest message of a text. A longer text is sent in pieces, so that its reader never allocates more than this in
/// advance.
constexpr std::size_t kPieceBytes = std::size_t{16} << 20;

void require_short(std::int64_t size, std::int64_t most_bytes, const std::string& who) {
  if (size < 0 || size > most_bytes)
    throw Error(ErrorKind::kInternal, "[ranks] " + who + " sends a text of " + std::to_string(size) +
                                          " bytes, of at most " + std::to_string(most_bytes) +
                                          "; nothing was allocated for it; check that all ranks run one program");
}

}  // namespace

// The size is sent first, since the receiver does not know it.
void send_text(Transport& transport, int to, const std::string& text) {
  const std::int64_t size = static_cast<std::int64_t>(text.size());
  transport.send(to, kTextTag, std::as_bytes(std::span(&size, 1)));
  for (std::size_t at = 0; at < text.size(); at += kPieceBytes)
    transport.send(to, kTextTag, std::as_bytes(std::span(text).subspan(at, std::min(kPieceBytes, text.size() - at))));
}

std::string receive_text(Transport& transport, int from, std::int64_t most_bytes) {
  std::int64_t size = 0;
  transport.receive(from, kTextTag, std::as_writable_bytes(std::span(&size, 1)));
  require_short(size, most_bytes, transport.name(from));
  const auto all = static_cast<std::size_t>(size);
  std::string text;
  while (text.size() < all) {
    const std::size_t at = text.size(), piece = std::min(kPieceBytes, all - at);
    text.resize(at + piece);
    transport.receive(from, kTextTag, std::as_writable_bytes(std::span(text).subspan(at)));
  }
  return text;
}

std::vector<std::string> gather_texts(Transport& transport, const std::string& own, std::int64_t most_bytes) {
  require_short(static_cast<std::int64_t>(own.size()), most_bytes, transport.name(transport.rank()));
  if (transport.rank() > 0) {
    send_text(transport, 0, own);
    return {};
  }
  std::vector<std::string> all = {own};
  for (int from = 1; from < transport.ranks(); ++from) all.push_back(receive_text(transport, from, most_bytes));
  return all;
}

std::string broadcast_text(Transport& transport, std::string own, std::int64_t most_bytes) {
  if (transport.rank() > 0) return receive_text(transport, 0, most_bytes);
  require_short(static_cast<std::int64_t>(own.size()), most_bytes, transport.name(0));
  for (int to = 1; to < transport.ranks(); ++to) send_text(transport, to, own);
  return own;
}

bool broadcast_flag(Transport& transport, const std::function<bool()>& find) {
  return transport.all_reduce_min(transport.rank() > 0 || !find() ? 1 : 0) == 0;
}

std::string pack_texts(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += std::to_string(text.size()) + ":" + text;
  return all;
}

std::vector<std::string> unpack_texts(const std::string& packed) {
  constexpr std::size_t kMostDigits = 10;  // digits of kMostTextBytes
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < packed.size();) {
    const std::size_t colon = packed.find(':', at);
    ensure(colon != std::string::npos && colon > at && colon - at <= kMostDigits,
           "a packed text stands behind its length");
    std::size_t size = 0;
    for (; at < colon; ++at) {
      ensure(packed[at] >= '0' && packed[at] <= '9', "the length of a packed text is a number");
      size = size * 10 + static_cast<std::size_t>(packed[at] - '0');
    }
    ensure(size <= packed.size() - colon - 1, "a packed text ends within its message");
    texts.push_back(packed.substr(colon + 1, size));
    at = colon + 1 + size;
  }
  return texts;
}

}  // namespace voxshard
