#include "libcore/ranks/alike.h"

#include "libcore/ranks/texts.h"

namespace voxshard {
namespace {

constexpr std::int64_t kMostBytes = 1 << 20;

std::string packed(const Facts& facts) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : facts) texts.insert(texts.end(), {name, value});
  return pack_texts(texts);
}

Facts unpacked(const std::string& all) {
  const std::vector<std::string> texts = unpack_texts(all);
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
  transport.all_reduce_min(0);
}

}  // namespace voxshard
