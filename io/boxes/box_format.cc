#include "io/boxes/box_format.h"

#include <algorithm>
#include <system_error>

#include "io/boxes/coco.h"
#include "io/boxes/kitti.h"
#include "io/boxes/mot_sequence.h"
#include "io/boxes/voc.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

std::string with_article(const std::string& noun) { return "a " + noun; }

}  // namespace

const BoxFormats& box_formats() {
  static const BoxFormats kFormats = {coco_format(), mot_format(), voc_format(), kitti_format()};
  return kFormats;
}

const BoxFormat& format_of(const fs::path& path, const BoxFormats& formats) {
  const auto takes = [&](const BoxFormat& f) { return f.is_taken != nullptr ? f.is_taken(path) : f.is_known(path); };
  const auto last = std::find_if(formats.rbegin(), formats.rend(), takes);
  return last == formats.rend() ? formats.front() : *last;
}

bool is_taken_as_boxes(const fs::path& path, const BoxFormats& formats) {
  return std::ranges::any_of(formats, [&](const BoxFormat& f) { return f.is_taken != nullptr && f.is_taken(path); });
}

bool is_like_boxes(const fs::path& folder, const BoxFormats& formats) {
  return std::ranges::any_of(
      formats, [&](const BoxFormat& f) { return f.is_like != nullptr ? f.is_like(folder) : f.is_known(folder); });
}

std::vector<fs::path> annotation_files(const fs::path& folder, const BoxFormats& formats) {
  for (const BoxFormat& format : formats)
    if (format.files != nullptr)
      if (auto files = format.files(folder); !files.empty()) return files;
  return {};
}

std::vector<fs::path> annotations_in(const fs::path& path, const BoxFormats& formats) {
  std::error_code error;
  if (fs::is_directory(path, error))
    if (auto files = annotation_files(path, formats); !files.empty()) return files;
  if (std::ranges::any_of(formats, [&](const BoxFormat& f) { return f.is_known(path); })) return {path};
  for (const BoxFormat& format : formats)
    if (format.below != nullptr && format.is_known(path / format.below)) return {path / format.below};
  return {};
}

std::vector<std::string> listed_images(const fs::path& folder, const std::string& set, const BoxFormats& formats) {
  const auto has_lists = [&](const BoxFormat& f) { return f.listed != nullptr && f.is_known(folder); };
  const auto format = std::ranges::find_if(formats, has_lists);
  return format == formats.end() ? std::vector<std::string>() : format->listed(folder, set);
}

BoxWords box_words(const BoxFormats& formats) {
  BoxWords words;
  for (const bool sequence : {false, true})
    for (const BoxFormat& f : formats) {
      if (f.is_sequence != sequence) continue;
      words.names.push_back(f.name);
      (sequence ? words.sequences : words.images).push_back(f.name);
      words.expected.push_back(f.expected);
      if (f.file == nullptr) {
        words.folders.push_back(f.name);
        continue;
      }
      words.files.push_back(f.file);
      if (!sequence) words.image_files.push_back(f.file);
    }
  return words;
}

std::string box_files_text(const BoxFormats& formats) { return joined(box_words(formats).files, ", ", with_article); }

std::string box_inputs_text(const BoxFormats& formats) {
  const BoxWords words = box_words(formats);
  const std::size_t images = words.image_files.size();
  std::vector<std::string> inputs;
  for (const std::string& file : words.files) inputs.push_back(with_article(file));
  inputs.insert(inputs.begin() + static_cast<std::ptrdiff_t>(images), with_article(or_text(words.folders) + " folder"));
  inputs.back() = "or " + inputs.back();
  return joined(inputs, ", ");
}

bool exists_in(const fs::path& folder, const char* name) {
  std::error_code error;
  return fs::exists(folder / name, error);
}

}  // namespace voxshard
