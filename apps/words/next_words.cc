#include "apps/words/next_words.h"

namespace voxshard {

std::vector<std::string> next_words(const std::vector<std::string>& words, const NextCommand& next) {
  static const std::set<std::string> kOfEvery = {"--json", "--quiet", "-q"};
  std::vector<std::string> result = next.name;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (kOfEvery.contains(word) || next.flags.contains(word)) continue;
    if (next.options.contains(word.substr(0, word.find('=')))) {
      if (word.find('=') == std::string::npos) ++i;  // its value
      continue;
    }
    result.push_back(word);
  }
  return result;
}

}  // namespace voxshard
