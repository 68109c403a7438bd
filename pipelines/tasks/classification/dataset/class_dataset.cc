#include "pipelines/tasks/classification/dataset/class_dataset.h"

#include <algorithm>
#include <map>

#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "io/volume/archive.h"
#include "pipelines/tasks/classification/dataset/class_clips.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Throws kInput for a part that holds images in files such as IDX when other items are wanted.
void require_files(const ClassPart& part, ItemKind items) {
  if (part.kind.entries != nullptr) return;
  throw Error(ErrorKind::kInput, "[data] " + part.path.string() + ": holds " + part.kind.name +
                                     " images; the model learns from " + item_kind_name(items));
}

/// Returns D H W after reorienting to LPS: the extent along each axis of the patient.
Dims size_in_lps(const Geometry& geometry) {
  const std::string code = orientation_code(geometry);
  Dims size{0, 0, 0};
  for (std::size_t a = 0; a < 3; ++a)
    size[code[a] == 'L' || code[a] == 'R' ? 2 : code[a] == 'P' || code[a] == 'A' ? 1 : 0] = geometry.size[a];
  return size;
}

void add_entries(ClassDataset& set, const ClassEntries& entries, const ClassReading& reading,
                 const std::vector<std::string>* classes) {
  ClipFinder finder(reading);
  std::map<std::string, std::vector<ClassItem>> by_class;
  for (const ClassEntry& entry : entries.list) {
    if (classes != nullptr && !label_of(*classes, entry.class_name)) {
      fail_class(set, entry.name, entry.class_name);
      continue;
    }
    in_case_boundary(entry.name, set.failures, [&] {
      if (reading.items == ItemKind::kClip) {
        for (ClassItem& clip : finder.clips(entry.file, entry.name, entry.interval))
          by_class[entry.class_name].push_back(std::move(clip));
        return;
      }
      if (entry.interval)
        throw Error(ErrorKind::kInput, "E_TIME", "has a start and an end, which only videos have; expected file,class");
      ClassItem item = read_class_item(entry.file, reading);
      item.name = entry.name;
      by_class[entry.class_name].push_back(std::move(item));
    });
  }
  if (classes != nullptr) {
    set.classes = *classes;
  } else {
    for (const std::string& name : entries.classes) {
      if (by_class.contains(name))
        set.classes.push_back(name);
      else
        set.failures.push_back({name, "E_EMPTY", "is a class without a file that can be used; it is left out"});
    }
  }
  for (auto& [name, items] : by_class)
    for (ClassItem& item : items) {
      item.label = *label_of(set.classes, name);
      set.items.push_back(std::move(item));
    }
  std::ranges::sort(set.items, {}, [](const ClassItem& item) { return std::pair(video_of(item), item.index); });
}

}  // namespace

std::vector<std::int64_t> ClassDataset::counts() const {
  std::vector<std::int64_t> counts(classes.size(), 0);
  for (const ClassItem& item : items)
    if (item.label >= 0) ++counts[item.label];
  return counts;
}

ClassItem read_class_item(const fs::path& file, const ClassReading& reading) {
  ensure(reading.items != ItemKind::kClip, "a video has clips, not one item");
  ClassItem item{.file = file};
  if (reading.items == ItemKind::kVolume) {
    const VolumeInfo info = read_volume_info(file, reading.formats);
    if (!info.readable) static_cast<void>(read_image(file, reading.formats));  // says why, by its code
    require_within(reading.formats.limits, info, file);
    item.size = size_in_lps(info.geometry);
    return item;
  }
  const ImageHeader header = read_image_header(file);
  require_pixels_within(reading.most_pixels, header.width, header.height, file);
  item.size = {header.height, header.width};
  item.colour = header.channels > 2;
  return item;
}

VolumeFiles files_of_item(const ClassItem& item, ItemKind kind) {
  if (kind == ItemKind::kVolume) return known_files_of_volume(item.file);
  return {.files = {item.file}, .hashes = {}};
}

HashedCase hashed_item(const ClassItem& item, ItemKind kind, const std::string& name) {
  VolumeFiles known = files_of_item(item, kind);
  return {.name = name, .files = std::move(known.files), .known = std::move(known.hashes)};
}

std::optional<fs::path> archive_of_item(const ClassItem& item) {
  std::error_code error;
  for (const fs::path& path : {item.file, item.file.parent_path()})
    if (is_archive_name(path) && fs::is_regular_file(path, error)) return path;
  return std::nullopt;
}

std::optional<std::int32_t> label_of(const std::vector<std::string>& classes, const std::string& name) {
  const auto it = std::ranges::find(classes, name);
  return it == classes.end() ? std::nullopt : std::optional(static_cast<std::int32_t>(it - classes.begin()));
}

void fail_class(ClassDataset& set, const std::string& item, const std::string& class_name) {
  set.failures.push_back(
      {item, "E_CLASS", "is of the class \"" + class_name + "\", which the training does not have; it is left out"});
}

std::string pixels_key(const ClassDataset& set, const ClassItem& item) {
  const Tensor& pixels = *set.pixels;
  const std::size_t bytes = static_cast<std::size_t>(pixels.bytes() / pixels.shape()[0]);
  return content_hash(std::span(pixels.data() + static_cast<std::size_t>(item.index) * bytes, bytes));
}

std::map<std::string, fs::path> class_files(const ClassPart& part, const ClassReading& reading,
                                            std::vector<CaseFailure>& failures) {
  require_files(part, reading.items);
  std::map<std::string, fs::path> files;
  for (ClassEntry& entry : part.kind.entries(part, reading, failures).list)
    files.emplace(entry.name, std::move(entry.file));
  return files;
}

ClassDataset read_class_part(const ClassPart& part, const ClassReading& reading,
                             const std::vector<std::string>* classes) {
  ClassDataset set{.source = part.path, .kind = part.kind.name};
  if (part.kind.read != nullptr) {
    if (reading.items != ItemKind::kImage) require_files(part, reading.items);
    part.kind.read(part, reading, classes, set);
  } else {
    ClassEntries entries = part.kind.entries(part, reading, set.failures);
    set.notes = std::move(entries.notes);
    add_entries(set, entries, reading, classes);
  }
  if (set.items.empty())
    throw Error(ErrorKind::kNoCase,
                "[data] " + part.path.string() + ": no " + one_item_name(reading.items) + " can be used" +
                    (set.failures.empty() ? "" : "; the first: " + set.failures[0].id + " " + set.failures[0].message));
  return set;
}

}  // namespace voxshard
