#include "libcore/base/spelling.h"

#include <algorithm>

namespace voxshard {

int letters_to_change(const std::string& a, const std::string& b) {
  // Rows of the edit distance table over prefixes of both words: the last two, and the one being filled.
  std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above), above.swap(row);
  }
  return above[b.size()];
}

std::string nearest_name(const std::string& name, const std::vector<std::string>& candidates) {
  return *std::min_element(candidates.begin(), candidates.end(), [&](const std::string& a, const std::string& b) {
    return letters_to_change(name, a) < letters_to_change(name, b);
  });
}

std::optional<std::string> likely_name(const std::string& name, const std::vector<std::string>& candidates) {
  if (candidates.empty()) return std::nullopt;
  std::string nearest = nearest_name(name, candidates);
  const auto longer = static_cast<int>(std::max(name.size(), nearest.size()));
  if (3 * letters_to_change(name, nearest) > longer) return std::nullopt;
  return nearest;
}

}  // namespace voxshard
