#include "pipelines/tasks/classification/class_dataset.h"

#include <algorithm>
#include <map>
#include <set>

#include "io/datasets/idx.h"
#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "io/system/process_memory.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"
#include "pipelines/runs/process_plan.h"
#include "pipelines/tasks/classification/class_clips.h"
#include "pipelines/tasks/classification/class_memory.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Kind = ClassPart::Kind;

/// An item before its file was looked at.
struct Entry {
  std::string name, class_name;
  fs::path file;
  std::optional<ClassInterval> interval = {};
};

struct Entries {
  std::vector<Entry> list;
  std::set<std::string> classes;  // that are named, with or without an item
};

Entries entries_of_list(const fs::path& path, ClassDataset& set) {
  const ClassList list = read_class_list(path);
  Entries entries;
  for (const ClassRowProblem& problem : list.problems)
    set.failures.push_back({path.filename().string() + " " + problem.row, problem.code, problem.reason});
  for (const ClassRow& row : list.rows) {
    entries.classes.insert(row.class_name);
    entries.list.push_back({row.file, row.class_name, path.parent_path() / row.file, row.interval});  // a plain name
  }
  return entries;
}

Entries entries_of_folders(const fs::path& root, const ClassReading& reading, ClassDataset& set) {
  Entries entries;
  std::error_code error;
  for (fs::directory_iterator folder(root, error), none; !error && folder != none; folder.increment(error)) {
    const std::string name = folder->path().filename().string();
    std::error_code inside;
    if (name.starts_with(".")) continue;
    if (!folder->is_directory(inside)) {
      if (is_class_item(folder->path(), reading))
        set.failures.push_back(
            {plain_text(name), "E_CLASS", "lies beside the folders of the classes; move it into the one of its class"});
      continue;
    }
    if (const std::string problem = text_problem(name); !problem.empty()) {
      set.failures.push_back({shown_name(name), "E_NAME", "as the name of a class " + problem + "; rename the folder"});
      continue;
    }
    entries.classes.insert(name);
    for (fs::recursive_directory_iterator it(folder->path(), inside), end; !inside && it != end; it.increment(inside))
      if (is_class_item(it->path(), reading) && it->is_regular_file(inside)) {
        const std::string item = it->path().lexically_relative(root).generic_string();
        in_case_boundary(item, set.failures, [&] {
          require_utf8_name(item);
          entries.list.push_back({item, name, it->path()});
        });
      }
    if (inside)
      throw Error(ErrorKind::kInput, "[data] " + folder->path().string() + ": cannot be read: " + inside.message());
  }
  if (error) throw Error(ErrorKind::kInput, "[data] " + root.string() + ": cannot be read: " + error.message());
  return entries;
}

Entries entries_of(const ClassPart& part, const ClassReading& reading, ClassDataset& set) {
  return part.kind == Kind::kList ? entries_of_list(part.path, set) : entries_of_folders(part.path, reading, set);
}

void require_no_idx(const ClassPart& part, ItemKind items) {
  if (part.kind == Kind::kFolders || part.kind == Kind::kList) return;
  throw Error(ErrorKind::kInput,
              "[data] " + part.path.string() + ": holds IDX images; the model learns from " + item_kind_name(items));
}

/// D H W after turning to LPS: the extent along each axis of the patient.
Dims size_in_lps(const Geometry& geometry) {
  const std::string code = orientation_code(geometry);
  Dims size{0, 0, 0};
  for (std::size_t a = 0; a < 3; ++a)
    size[code[a] == 'L' || code[a] == 'R' ? 2 : code[a] == 'P' || code[a] == 'A' ? 1 : 0] = geometry.size[a];
  return size;
}

/// The number of a class; none when `known` has no such.
std::optional<std::int32_t> label_of(const std::vector<std::string>& classes, const std::string& name) {
  const auto it = std::ranges::find(classes, name);
  return it == classes.end() ? std::nullopt : std::optional(static_cast<std::int32_t>(it - classes.begin()));
}

void fail_class(ClassDataset& set, const std::string& item, const std::string& class_name) {
  set.failures.push_back(
      {item, "E_CLASS", "is of the class \"" + class_name + "\", which the training does not have; it is left out"});
}

void add_entries(ClassDataset& set, const Entries& entries, const ClassReading& reading,
                 const std::vector<std::string>* classes) {
  ClipFinder finder(reading);
  std::map<std::string, std::vector<ClassItem>> by_class;
  for (const Entry& entry : entries.list) {
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

/// Classes are the numbers that occur, or those of the training.
/// Errors: kBudget, before anything is read, for more than the limits or the free memory hold.
void add_idx(ClassDataset& set, const IdxPair& pair, const ClassReading& reading,
             const std::vector<std::string>* classes) {
  const std::int64_t told = reading.formats.limits.memory_bytes;
  require_fits({{MemoryPart::kReading, planned_bytes(idx_bytes(read_idx_extents(pair.images, 3), pair.images))}},
               told > 0 ? told : available_memory_bytes(), ErrorKind::kBudget, pair.images.string(),
               "All of its images are held: free memory, or divide them among several files");
  IdxImages images = read_idx_images(pair);
  set.files = {pair.images, pair.labels};
  const Shape& shape = images.pixels.shape();
  if (classes != nullptr) {
    set.classes = *classes;
  } else {
    const std::set<std::int32_t> found(images.labels.begin(), images.labels.end());
    for (const std::int32_t label : found) set.classes.push_back(std::to_string(label));
  }
  std::map<std::int32_t, std::optional<std::int32_t>> labels;
  for (const std::int32_t label : images.labels)
    if (!labels.contains(label)) labels[label] = label_of(set.classes, std::to_string(label));
  set.items.reserve(static_cast<std::size_t>(shape[0]));
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    const std::string digits = std::to_string(i),
                      name = std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
    const std::int32_t said = images.labels[static_cast<std::size_t>(i)];
    if (const auto& label = labels[said])
      set.items.push_back(
          {.name = name, .file = pair.images, .index = i, .label = *label, .size = {shape[1], shape[2]}});
    else
      fail_class(set, name, std::to_string(said));
  }
  set.pixels = std::make_shared<const Tensor>(std::move(images.pixels));
}

}  // namespace

std::vector<std::int64_t> ClassDataset::counts() const {
  std::vector<std::int64_t> counts(classes.size(), 0);
  for (const ClassItem& item : items)
    if (item.label >= 0) ++counts[static_cast<std::size_t>(item.label)];
  return counts;
}

ClassItem read_class_item(const fs::path& file, const ClassReading& reading) {
  ensure(reading.items != ItemKind::kClip, "a video has clips, not one item");
  ClassItem item{.file = file};
  if (reading.items == ItemKind::kVolume) {
    const VolumeInfo info = read_volume_info(file, reading.formats);
    if (!info.readable) throw Error(ErrorKind::kInput, "[input] " + file.string() + ": " + info.problem);
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

std::vector<fs::path> files_of_item(const ClassItem& item, ItemKind kind) {
  return kind == ItemKind::kVolume ? files_of_volume(item.file) : std::vector{item.file};
}

std::string pixels_key(const ClassDataset& set, const ClassItem& item) {
  const Tensor& pixels = *set.pixels;
  const std::size_t bytes = static_cast<std::size_t>(pixels.bytes() / pixels.shape()[0]);
  return content_hash(std::span(pixels.data() + static_cast<std::size_t>(item.index) * bytes, bytes));
}

std::map<std::string, fs::path> class_files(const ClassPart& part, const ClassReading& reading,
                                            std::vector<CaseFailure>& failures) {
  require_no_idx(part, reading.items);
  ClassDataset set;
  std::map<std::string, fs::path> files;
  for (Entry& entry : entries_of(part, reading, set).list) files.emplace(entry.name, std::move(entry.file));
  failures.insert(failures.end(), set.failures.begin(), set.failures.end());
  return files;
}

ClassDataset read_class_part(const ClassPart& part, const ClassReading& reading,
                             const std::vector<std::string>* classes) {
  ClassDataset set{.source = part.path,
                   .kind = part.kind == Kind::kFolders ? "folders"
                           : part.kind == Kind::kList  ? "list"
                                                       : "IDX"};
  if (set.kind == "IDX") {
    if (reading.items != ItemKind::kPicture) require_no_idx(part, reading.items);
    add_idx(set, find_idx(part.path, part.kind == Kind::kIdxTrain ? IdxPart::kTrain : IdxPart::kTest).value(), reading,
            classes);
  } else {
    add_entries(set, entries_of(part, reading, set), reading, classes);
  }
  if (set.items.empty())
    throw Error(ErrorKind::kNoCase,
                "[data] " + part.path.string() + ": no " + one_item_name(reading.items) + " can be used" +
                    (set.failures.empty() ? "" : "; the first: " + set.failures[0].id + " " + set.failures[0].message));
  return set;
}

}  // namespace voxshard
