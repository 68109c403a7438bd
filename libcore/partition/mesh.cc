#include "libcore/partition/mesh.h"

#include <charconv>

namespace voxshard {

Dims Mesh::part_of(std::int64_t core) const {
  Dims part = Dims::filled(partition.axes(), 0);
  std::int64_t rest = core % cores_per_replica();
  for (int a = partition.axes() - 1; a >= 0; --a) {
    part[a] = rest % partition[a];
    rest /= partition[a];
  }
  part[0] += core / cores_per_replica() * partition[0];
  return part;
}

Dims parse_partition(std::string_view text, int axes) {
  const std::string shown = "partition \"" + std::string(text) + "\"";
  auto fail = [&](const std::string& what) -> Error {
    return Error(ErrorKind::kConfig,
                 "[partition] " + shown + " " + what +
                     "; write one whole number per tensor axis, for example 1x2x2x2x1 for N D H W C");
  };
  std::vector<std::int64_t> entries;
  std::string number;
  auto flush = [&] {
    std::int64_t value = 0;
    while (number.starts_with(' ')) number.erase(0, 1);
    while (number.ends_with(' ')) number.pop_back();
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (number.empty() || error != std::errc() || end != number.data() + number.size())
      throw fail("is not a list of whole numbers");
    entries.push_back(value);
    number.clear();
  };
  std::string_view body = text;
  if (body.size() >= 2 && body.front() == '[' && body.back() == ']') body = body.substr(1, body.size() - 2);
  for (char ch : body) {
    if (ch == 'x' || ch == ',')
      flush();
    else
      number += ch;
  }
  flush();
  for (auto entry : entries)
    if (entry < 1) throw fail("has the entry " + std::to_string(entry) + ", but every entry must be at least 1");
  if (static_cast<int>(entries.size()) != axes)
    throw fail("has " + std::to_string(entries.size()) + " entries, but the input tensor has " + std::to_string(axes) +
               " axes");
  if (axes > kMaxAxes) throw fail("has more than " + std::to_string(kMaxAxes) + " entries");
  if (entries.back() != 1) throw fail("cuts the channel axis, which is never cut");
  Dims dims;
  for (auto entry : entries) dims.push_back(entry);
  return dims;
}

std::vector<Interval> greedy_ceil(std::int64_t extent, std::int64_t parts) {
  const std::int64_t tile = std::max<std::int64_t>(1, ceil_div(extent, parts));
  std::vector<Interval> cut;
  for (std::int64_t p = 0; p < parts; ++p)
    cut.emplace_back(std::min(extent, p * tile), std::min(extent, (p + 1) * tile));
  return cut;
}

}  // namespace voxshard
