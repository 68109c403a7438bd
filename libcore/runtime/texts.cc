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

}  // namespace voxshard
