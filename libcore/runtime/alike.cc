#include "libcore/runtime/alike.h"

#include "libcore/runtime/texts.h"

namespace voxshard {
namespace {

constexpr std::int64_t kMostBytes = 1 << 20;

/// Each name and value behind its length, so that any letter may be in them.
std::string packed(const Facts& facts) {
  std::string all;
  for (const auto& [name, value] : facts)
    for (const std::string& text : {name, value}) all += std::to_string(text.size()) + ":" + text;
  return all;
}

Facts unpacked(const std::string& all) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t colon = all.find(':', at);
    ensure(colon != std::string::npos && colon - at <= 7,
           "the facts of a rank are names and values behind their lengths");
    const auto size = static_cast<std::size_t>(std::atoll(all.c_str() + at));
    ensure(size <= all.size() - colon - 1, "the facts of a rank end with its message");
    texts.push_back(all.substr(colon + 1, size));
    at = colon + 1 + size;
  }
  Facts facts;
  for (std::size_t i = 0; i + 1 < texts.size(); i += 2) facts.emplace_back(texts[i], texts[i + 1]);
  return facts;
}

std::string shown(const Facts& facts, std::size_t at) {
  constexpr std::size_t kMostShown = 200;
  return at < facts.size() ? facts[at].first + " is " + facts[at].second.substr(0, kMostShown) : "nothing more is said";
}

}  // namespace

void require_alike(Transport& transport, const Facts& facts) {
  const std::string own = packed(facts);
  const std::vector<std::string> all = gather_texts(transport, own, kMostBytes);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == own) continue;
    const Facts other = unpacked(all[rank]);
    std::size_t at = 0;
    while (at < facts.size() && at < other.size() && facts[at] == other[at]) ++at;
    throw Error(ErrorKind::kConfig, "[ranks] " + transport.name(static_cast<int>(rank)) + " differs from " +
                                        transport.name(0) + ": there " + shown(other, at) + ", here " +
                                        shown(facts, at) +
                                        "; start the same program with the same options on hosts of one kind");
  }
  transport.lowest(0);
}

}  // namespace voxshard
