#include "libcore/runtime/texts.h"

namespace voxshard {
namespace {

void require_short(std::int64_t size, std::int64_t most_bytes) {
  ensure(size >= 0 && size <= most_bytes, "a text between ranks has no more bytes than its readers allow");
}

}  // namespace

// Its size comes first: no rank knows it beforehand.
void send_text(Transport& transport, int to, const std::string& text) {
  const std::int64_t size = static_cast<std::int64_t>(text.size());
  transport.send(to, kTextTag, std::as_bytes(std::span(&size, 1)));
  if (size > 0) transport.send(to, kTextTag, std::as_bytes(std::span(text)));
}

std::string receive_text(Transport& transport, int from, std::int64_t most_bytes) {
  std::int64_t size = 0;
  transport.receive(from, kTextTag, std::as_writable_bytes(std::span(&size, 1)));
  require_short(size, most_bytes);
  std::string text(static_cast<std::size_t>(size), '\0');
  if (size > 0) transport.receive(from, kTextTag, std::as_writable_bytes(std::span(text)));
  return text;
}

std::vector<std::string> gather_texts(Transport& transport, const std::string& own, std::int64_t most_bytes) {
  require_short(static_cast<std::int64_t>(own.size()), most_bytes);
  if (transport.rank() > 0) {
    send_text(transport, 0, own);
    return {};
  }
  std::vector<std::string> all = {own};
  for (int from = 1; from < transport.ranks(); ++from) all.push_back(receive_text(transport, from, most_bytes));
  return all;
}

std::string text_of_first(Transport& transport, std::string own, std::int64_t most_bytes) {
  if (transport.rank() > 0) return receive_text(transport, 0, most_bytes);
  require_short(static_cast<std::int64_t>(own.size()), most_bytes);
  for (int to = 1; to < transport.ranks(); ++to) send_text(transport, to, own);
  return own;
}

bool first_finds(Transport& transport, const std::function<bool()>& find) {
  return transport.lowest(transport.rank() > 0 || !find() ? 1 : 0) == 0;
}

std::string pack_texts(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += std::to_string(text.size()) + ":" + text;
  return all;
}

std::vector<std::string> unpack_texts(const std::string& packed) {
  constexpr std::size_t kMostDigits = 10;  // kMostTextBytes
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
