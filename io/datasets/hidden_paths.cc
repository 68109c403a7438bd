#include "io/datasets/hidden_paths.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "io/files/channel_address.h"
#include "io/files/file_name.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns where a path ends that begins before `from`: where the message goes on. Commas, blanks and brackets may be
/// part of a name, such as "MEIER, ANNA (2)": rather too much of the message is hidden than a part of a name shown.
std::size_t end_of_path(const std::string& text, std::size_t from) {
  std::size_t end = text.size();
  for (const char* mark : {": ", "; ", "\"", "\n"}) end = std::min(end, text.find(mark, from));
  return end;
}

/// Replaces `from`, and where it is a folder the rest of a path below it.
void replace(std::string& text, const std::string& from, const std::string& by, bool folder = false) {
  if (from.empty() || from == "." || from == "/") return;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + by.size())) {
    std::size_t end = at + from.size();
    if (folder && end < text.size() && text[end] == '/') end = end_of_path(text, end);
    text.replace(at, end - at, by);
  }
}

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }

/// Replaces `word` where it is no part of a longer word.
void replace_word(std::string& text, const std::string& word, const std::string& by) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    const std::size_t end = at + word.size();
    const bool within = (at > 0 && is_of_word(text[at - 1])) || (end < text.size() && is_of_word(text[end]));
    if (!within) text.replace(at, word.size(), by);
    at += within ? word.size() : by.size();
  }
}

/// Replaces the name of a file. A name that may be a word or a number of the message, as those of folders, is replaced
/// where it stands alone, and a very short one where messages put names.
void replace_name(std::string& text, const std::string& name, const std::string& by) {
  if (name.empty() || name == "." || name == "..") return;
  replace(text, "[" + name + "]", "[" + by + "]");
  replace(text, "\"" + name + "\"", by);
  if (name.size() <= 3) return;
  if (name.find_first_of(".#_") != std::string::npos)
    replace(text, name, by);
  else
    replace_word(text, name, by);
}

}  // namespace

std::string without_path(std::string text, const fs::path& path, const std::string& by) {
  replace(text, path.string(), by, true);  // a folder of slices, or an archive
  const std::string name = path.filename().string();
  replace_name(text, name, by);
  if (const std::string shown = shown_name(name); shown != name) replace_name(text, shown, by);
  return text;
}

std::string without_paths_below(std::string text, const fs::path& folder, const std::string& by) {
  replace(text, folder.string(), by, true);
  return text;
}

std::string without_paths(std::string text, const Case& item) {
  std::vector<std::pair<fs::path, std::string>> files;
  for (const fs::path& image : item.images) files.emplace_back(image, "the image");
  for (const fs::path& image : item.images)
    if (const auto channel = channel_in(image)) files.emplace_back(channel->file, "the image");
  if (item.label) files.emplace_back(*item.label, "the label map");
  for (const ClassedStructures& labels : item.structures) files.emplace_back(labels.file, "the labels");
  for (const auto& [path, by] : files) text = without_path(std::move(text), path, by);
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return a.first.parent_path().native().size() > b.first.parent_path().native().size();
  });
  for (const auto& [path, by] : files) replace(text, path.parent_path().string(), by, true);
  return text;
}

std::string shown_file(const Case& item, const fs::path& file, const std::string& what) {
  return item.anonymous ? what + " of " + item.id : file.filename().string();
}

}  // namespace voxshard
