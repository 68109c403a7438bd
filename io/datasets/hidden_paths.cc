#include "io/datasets/hidden_paths.h"

#include <algorithm>
#include <vector>

#include "io/files/channel_address.h"
#include "io/files/file_name.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// The characters that may end a path within a text.
constexpr std::string_view kEnds = ":;,)\"'";

/// Replaces `from`, and where it is a folder the rest of a path below it.
void replace(std::string& text, const std::string& from, const std::string& by, bool folder = false) {
  if (from.empty() || from == "." || from == "/") return;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + by.size())) {
    std::size_t end = at + from.size();
    if (folder && end < text.size() && text[end] == '/') {
      const std::size_t stop = text.find_first_of(kEnds, end);
      end = stop == std::string::npos ? text.size() : stop;
    }
    text.replace(at, end - at, by);
  }
}

/// True for a file name that cannot be taken for another word or number of a message.
bool is_telling(const std::string& name) { return name.size() > 3 && name.find_first_of(".#_") != std::string::npos; }

}  // namespace

std::string without_path(std::string text, const fs::path& path, const std::string& by) {
  replace(text, path.string(), by);
  if (const std::string name = path.filename().string(); is_telling(name)) {
    replace(text, name, by);
    replace(text, shown_name(name), by);
  }
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
