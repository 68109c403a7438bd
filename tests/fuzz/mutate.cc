#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace voxshard {
namespace {

constexpr std::size_t kLongest = std::size_t{1} << 20;
constexpr std::size_t kMostKept = 256;

/// Whole numbers that break arithmetic, in text and in bytes.
constexpr std::int64_t kEdges[] = {
    0,         1,        -1,    127,        128,        255,        256,        32767,
    32768,     65535,    65536, 2147483647, 2147483648, 4294967295, 4294967296, 9007199254740993,
    INT64_MAX, INT64_MIN};

constexpr std::string_view kWords[] = {"NaN",
                                       "-Infinity",
                                       "1e999",
                                       "-1e308",
                                       "1e-320",
                                       "null",
                                       "true",
                                       "[]",
                                       "{}",
                                       "\"\"",
                                       "\\u0000",
                                       "\\ud800",
                                       "\xff\xfe",
                                       "\xef\xbb\xbf",
                                       "<object>",
                                       "</object>",
                                       "<!--",
                                       "]]>",
                                       "&#0;",
                                       "<!DOCTYPE a [",
                                       "../",
                                       "/",
                                       "%0",
                                       "%",
                                       "=",
                                       ":",
                                       ",",
                                       " ",
                                       "\n",
                                       "\r\n",
                                       "\t",
                                       "'''",
                                       "\"\"\"",
                                       "#",
                                       ".",
                                       "..",
                                       "-",
                                       "x",
                                       "None",
                                       "0x",
                                       "99999999999999999999",
                                       "f32[",
                                       "pad=",
                                       "input",
                                       "conv",
                                       "output"};

}  // namespace

Mutator::Mutator(std::vector<std::string> seeds, std::uint64_t seed)
    : corpus_(std::move(seeds)), seeds_(corpus_.size()), random_(seed) {}

std::size_t Mutator::below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random_() % n); }

std::string Mutator::next() {
  if (served_ < seeds_) return corpus_[served_++];
  std::string input = corpus_[below(corpus_.size())];
  for (std::size_t changes = 1 + below(8); changes > 0; --changes) change(input);
  if (input.size() > kLongest) input.resize(kLongest);
  return input;
}

void Mutator::keep(const std::string& input) {
  if (corpus_.size() < seeds_ + kMostKept)
    corpus_.push_back(input);
  else
    corpus_[seeds_ + kept_++ % kMostKept] = input;
}

void Mutator::overwrite(std::string& input, std::string_view piece) {
  const std::size_t at = below(input.size() + 1);
  input.replace(at, std::min(piece.size(), input.size() - at), piece);
}

void Mutator::change(std::string& input) {
  const std::size_t at = below(input.size()), span = 1 + below(std::min<std::size_t>(64, input.size() + 1));
  switch (below(12)) {
    case 0:  // a bit
      if (!input.empty()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
      return;
    case 1:
      if (!input.empty()) input[at] = static_cast<char>(below(256));
      return;
    case 2:  // a number at a limit, in 1, 2, 4 or 8 bytes, of either order
    {
      char raw[8];
      const std::int64_t edge = kEdges[below(std::size(kEdges))];
      std::memcpy(raw, &edge, 8);
      const std::size_t width = std::size_t{1} << below(4);
      if (below(2) != 0) std::reverse(raw, raw + width);
      return overwrite(input, {raw, width});
    }
    case 3:  // the same as text, in the place of the next digits
    {
      const std::size_t begin = input.find_first_of("0123456789", at);
      if (begin == std::string::npos) return;
      const std::size_t end = std::min(input.find_first_not_of("0123456789", begin), input.size());
      input.replace(begin, end - begin, std::to_string(kEdges[below(std::size(kEdges))]));
      return;
    }
    case 4:
      input.erase(at, span);
      return;
    case 5:  // the end is missing
      if (below(4) == 0) input.resize(at);
      return;
    case 6:
      input.insert(at, input.substr(below(input.size()), span));
      return;
    case 7:  // a part of another input
    {
      const std::string& other = corpus_[below(corpus_.size())];
      input.insert(at, other.substr(below(other.size()), 1 + below(4 * span)));
      return;
    }
    case 8:
      input.insert(at, kWords[below(std::size(kWords))]);
      return;
    case 9:
      return overwrite(input, kWords[below(std::size(kWords))]);
    case 10:  // the same byte many times
      input.insert(at, std::string(span, input.empty() ? 'x' : input[at]));
      return;
    default:  // brackets, tags or dots without end
    {
      if (below(16) != 0) return;
      constexpr std::string_view kOpen[] = {"[", "{\"a\":", "{a=", "a.", "<a>", "("};
      const std::string_view open = kOpen[below(std::size(kOpen))];
      std::string deep;
      for (std::size_t levels = 1 + below(20000); levels > 0; --levels) deep += open;
      input.insert(at, deep);
      return;
    }
  }
}

}  // namespace voxshard
