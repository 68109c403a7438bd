// Several texts that begin with their codes, in one: what is worth saying about a volume that is read.
//
//   add_coded(info.warning, "W_UIDS its UIDs were removed");
//   for (const CodedText& one : coded_texts(info.warning)) say(one.code, one.text);
#pragma once

#include <string>
#include <vector>

namespace voxshard {

struct CodedText {
  std::string code, text;  // "W_UIDS", "its UIDs were removed"
};

/// Appends a text that begins with its code.
inline void add_coded(std::string& all, const std::string& text) { all += (all.empty() ? "" : "; ") + text; }

/// Returns the texts one by one; none for an empty one. Another text begins behind "; " where a warning's code does.
inline std::vector<CodedText> coded_texts(const std::string& all) {
  std::vector<CodedText> texts;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = all.find("; W_", begin);
    const std::string one = all.substr(begin, end == std::string::npos ? end : end - begin);
    const std::size_t space = one.find(' ');
    texts.push_back({one.substr(0, space), space == std::string::npos ? "" : one.substr(space + 1)});
    begin = end == std::string::npos ? all.size() : end + 2;
  }
  return texts;
}

}  // namespace voxshard
