#include "libcore/check/unequal.h"

#include <cstdio>
#include <cstdlib>
#include <map>

#include "libcore/ranks/texts.h"

namespace voxshard {
namespace {

constexpr std::size_t kFields = 9;

/// Prints a number exactly, in hexadecimal; all ranks run the same build.
std::string exact(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

std::string packed(const std::vector<Unequal>& list) {
  std::vector<std::string> texts;
  for (const Unequal& u : list)
    for (const std::string& text :
         {std::to_string(u.place), u.found.layer, u.found.what, exact(u.found.difference), exact(u.found.tolerance),
          std::to_string(u.found.core), u.found.rank, exact(u.ratio), exact(u.relative)})
      texts.push_back(text);
  return pack_texts(texts);
}

std::vector<Unequal> unpacked(const std::string& message) {
  const std::vector<std::string> texts = unpack_texts(message);
  ensure(texts.size() % kFields == 0, "what a rank found unequal has all its fields");
  std::vector<Unequal> list;
  for (auto t = texts.begin(); t != texts.end(); t += kFields) {
    const auto number = [&](std::size_t field) { return std::strtod(t[field].c_str(), nullptr); };
    list.push_back({.place = std::atoll(t[0].c_str()),
                    .found = {t[1], t[2], number(3), number(4), std::atoll(t[5].c_str()), t[6]},
                    .ratio = number(7),
                    .relative = number(8)});
  }
  return list;
}

}  // namespace

std::vector<Unequal> join_unequal(Transport& transport, const std::vector<Unequal>& own) {
  std::vector<Unequal> named = own;
  if (transport.ranks() > 1)
    for (Unequal& u : named) u.found.rank = transport.name(transport.rank());
  std::map<std::int64_t, Unequal> worst;
  for (const std::string& message : gather_texts(transport, packed(named)))
    for (const Unequal& u : unpacked(message))
      if (const auto [at, first] = worst.emplace(u.place, u); !first && u.ratio > at->second.ratio) at->second = u;
  std::vector<Unequal> joined;
  for (auto& [place, u] : worst) joined.push_back(std::move(u));
  return unpacked(broadcast_text(transport, packed(joined)));
}

}  // namespace voxshard
