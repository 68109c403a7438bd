#include "io/system/kernel_files.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

namespace voxshard {
namespace {

std::optional<std::int64_t> number_of(const std::string& word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> SystemView::number(const char* variable) const {
  const char* value = environment(variable);
  return value == nullptr ? std::nullopt : number_of(value);
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

std::optional<std::int64_t> first_number(const std::filesystem::path& file) {
  for (const std::string& line : lines_of(file))
    for (const std::string& word : words_of(line)) return number_of(word);
  return std::nullopt;
}

std::optional<std::int64_t> number_behind(const std::filesystem::path& file, const std::string& key) {
  for (const std::string& line : lines_of(file)) {
    const auto words = words_of(line);
    if (words.size() >= 2 && words[0] == key) return number_of(words[1]);
  }
  return std::nullopt;
}

}  // namespace voxshard
