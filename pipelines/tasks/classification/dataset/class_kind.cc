// The table of kinds, and the kinds whose items are files: a folder per class, and CSV lists. Data sets of segmentation
// and detection look similar to such folders and must be told apart.
#include "pipelines/tasks/classification/dataset/class_kind.h"

#include <algorithm>
#include <functional>
#include <map>

#include "io/boxes/box_format.h"
#include "io/datasets/class_list.h"
#include "io/datasets/dataset.h"
#include "io/files/file_name.h"
#include "io/video/stream.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/classification/dataset/class_dataset.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Folders and files that mark a folder as a segmentation data set or a run.
constexpr const char* kOthers[] = {"dataset.json", "imagesTr", "checkpoints", "plans.json", "run.json"};

const std::vector<ClassReading>& readings_of_each_kind() {
  static const std::vector<ClassReading> kReadings = {
      {.items = ItemKind::kImage}, {.items = ItemKind::kVolume}, {.items = ItemKind::kClip}};
  return kReadings;
}

bool is_any_item(const fs::path& file) {
  return std::ranges::any_of(readings_of_each_kind(),
                             [&](const ClassReading& reading) { return is_class_item(file, reading); });
}

bool holds_items(const fs::path& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error))
    if (is_any_item(it->path())) return true;
  return false;
}

using FileBody = std::function<void(const fs::path&)>;

void each_file_of_list(const ClassPart& part, const FileBody& body) {
  for (const ClassRow& row : read_class_list(part.path).rows) body(row.file);
}

void each_file_of_folders(const ClassPart& part, const FileBody& body) {
  for (const fs::path& folder : folders_in(part.path)) {
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
      body(it->path());
  }
}

/// Returns the first file of each item kind that a part names.
std::map<ItemKind, fs::path> kinds_in(const ClassPart& part) {
  std::map<ItemKind, fs::path> kinds;
  part.kind.each_file(part, [&](const fs::path& file) {
    for (const ClassReading& reading : readings_of_each_kind())
      if (is_class_item(file, reading)) kinds.try_emplace(reading.items, file);
  });
  return kinds;
}

/// True when a folder has a folder that holds items, and neither is another kind of data set.
bool is_tree(const fs::path& folder) {
  return !is_other_set(folder) && std::ranges::any_of(folders_in(folder), [](const fs::path& of_class) {
    return !is_other_set(of_class) && holds_items(of_class);
  });
}

using PartNames = std::initializer_list<const char*>;
constexpr PartNames kTrainNames = {"train", "training"}, kValNames = {"val", "valid", "validation"},
                    kTestNames = {"test", "testing"};

std::optional<ClassPart> part_named(const fs::path& folder, PartNames names, const ClassTree& tree) {
  std::error_code error;
  for (const char* name : names) {
    if (fs::is_directory(folder / name, error) && tree.is_tree(folder / name))
      return ClassPart{tree.kind(), folder / name};
    const fs::path list = folder / (std::string(name) + ".csv");
    if (tree.or_lists && fs::is_regular_file(list, error)) return ClassPart{list_kind(), list};
  }
  return std::nullopt;
}

/// True when all folders that hold items have the names of validation and test parts: they are no classes.
bool holds_only_held_out(const fs::path& folder, const ClassTree& tree) {
  bool any = false;
  for (const fs::path& part : folders_in(folder)) {
    if (!tree.holds_items(part)) continue;
    const auto is_part = [&](const char* name) { return part.filename() == name; };
    if (std::ranges::none_of(kValNames, is_part) && std::ranges::none_of(kTestNames, is_part)) return false;
    any = true;
  }
  return any;
}

ClassParts find_list(const fs::path& path) {
  std::error_code error;
  ClassParts parts;
  if (fs::is_regular_file(path, error) && lower_case(path.extension().string()) == ".csv")
    parts.whole = {list_kind(), path};
  return parts;
}

ClassParts find_folders(const fs::path& path) {
  return parts_of_tree(path, {.kind = folders_kind, .is_tree = is_tree, .holds_items = holds_items, .or_lists = true});
}

ClassEntries entries_of_list(const ClassPart& part, const ClassReading&, std::vector<CaseFailure>& failures) {
  const fs::path& path = part.path;
  const ClassList list = read_class_list(path);
  ClassEntries entries;
  for (const ClassRowProblem& problem : list.problems)
    failures.push_back({path.filename().string() + " " + problem.row, problem.code, problem.reason});
  for (const ClassRow& row : list.rows) {
    entries.classes.insert(row.class_name);
    entries.list.push_back({row.file, row.class_name, path.parent_path() / row.file, row.interval});  // a plain name
  }
  return entries;
}

ClassEntries entries_of_folders(const ClassPart& part, const ClassReading& reading,
                                std::vector<CaseFailure>& failures) {
  const fs::path& root = part.path;
  ClassEntries entries;
  std::error_code error;
  for (fs::directory_iterator folder(root, error), none; !error && folder != none; folder.increment(error)) {
    const std::string name = folder->path().filename().string();
    std::error_code inside;
    if (name.starts_with(".")) continue;
    if (!folder->is_directory(inside)) {
      if (is_class_item(folder->path(), reading))
        failures.push_back(
            {plain_text(name), "E_CLASS", "lies beside the folders of the classes; move it into the one of its class"});
      continue;
    }
    if (const std::string problem = text_problem(name); !problem.empty()) {
      failures.push_back({shown_name(name), "E_NAME", "as the name of a class " + problem + "; rename the folder"});
      continue;
    }
    entries.classes.insert(name);
    for (fs::recursive_directory_iterator it(folder->path(), inside), end; !inside && it != end; it.increment(inside))
      if (is_class_item(it->path(), reading) && it->is_regular_file(inside)) {
        const std::string item = it->path().lexically_relative(root).generic_string();
        in_case_boundary(item, failures, [&] {
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

/// Returns "a folder per class, a CSV of file,class, or MNIST's IDX files".
std::string any_of_kinds(const ClassKinds& kinds, const char* ClassKind::*words) {
  std::vector<std::string> all;
  for (const ClassKind& kind : kinds) all.push_back(kind.*words);
  if (all.size() > 1) all.back() = "or " + all.back();
  return joined(all, ", ");
}

}  // namespace

bool is_other_set(const fs::path& folder) {
  std::error_code error;
  for (const char* other : kOthers)
    if (fs::exists(folder / other, error)) return true;
  return holds_masks_by_subject(folder) || is_like_boxes(folder);
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code unknown;  // of a link to nowhere, which is no folder
    if (!it->path().filename().string().starts_with(".") && it->is_directory(unknown)) folders.push_back(it->path());
  }
  std::ranges::sort(folders);
  return folders;
}

ClassParts parts_of_tree(const fs::path& path, const ClassTree& tree) {
  std::error_code error;
  ClassParts parts;
  if (!fs::is_directory(path, error) || is_other_set(path)) return parts;
  parts.train = part_named(path, kTrainNames, tree);
  const bool lacks_train = !parts.train && holds_only_held_out(path, tree);
  if (parts.train || lacks_train) {
    parts.val = part_named(path, kValNames, tree);
    parts.test = part_named(path, kTestNames, tree);
  } else if (tree.is_tree(path)) {
    parts.whole = {tree.kind(), path};
  }
  return parts;
}

ClassKinds recognised_kinds(const ClassKinds& kinds) {
  ClassKinds recognised;
  std::ranges::copy_if(kinds, std::back_inserter(recognised),
                       [](const ClassKind& kind) { return !kind.looks_like_studies; });
  return recognised;
}

bool is_class_item(const fs::path& file, const ClassReading& reading) {
  if (file.filename().string().starts_with(".")) return false;
  switch (reading.items) {
    case ItemKind::kImage:
      return is_image_name(file);
    case ItemKind::kVolume:
      return volume_stem(file, reading.formats).has_value();
    case ItemKind::kClip:
      return is_video_name(file);
  }
  return false;
}

ItemKind kind_of_part(const ClassPart& part, int axes) {
  if (axes == 2 || (axes == 0 && part.kind.each_file == nullptr)) return ItemKind::kImage;
  if (part.kind.each_file == nullptr) return ItemKind::kVolume;  // which it does not hold, as its reader says
  const auto kinds = kinds_in(part);
  if (axes == 0 && kinds.contains(ItemKind::kImage)) return ItemKind::kImage;
  const auto volume = kinds.find(ItemKind::kVolume), video = kinds.find(ItemKind::kClip);
  if (volume != kinds.end() && video != kinds.end())
    throw Error(ErrorKind::kInput, "[data] " + part.path.string() + ": holds volumes and videos, " +
                                       shown_name(volume->second.filename().string()) + " and " +
                                       shown_name(video->second.filename().string()) +
                                       "; a model learns from one kind: move the others away");
  return video != kinds.end() ? ItemKind::kClip : ItemKind::kVolume;
}

ClassKind folders_kind() {
  return {.name = "folders",
          .expected = "a folder per class with pictures, volumes or videos, the same in train and val or test",
          .help = "a folder per class, in train and val or test or not",
          .folder = "a folder per class",
          .find = find_folders,
          .entries = entries_of_folders,
          .each_file = each_file_of_folders};
}

ClassKind list_kind() {
  return {.name = "list",
          .expected = "a CSV of file,class",
          .help = "a CSV of file,class",
          .find = find_list,
          .entries = entries_of_list,
          .has_times = true,
          .each_file = each_file_of_list};
}

const ClassKinds& class_kinds() {
  static const ClassKinds kKinds = {series_kind(), folders_kind(), list_kind(), idx_kind()};
  return kKinds;
}

ClassParts find_class_parts(const fs::path& path, const ClassKinds& kinds) {
  for (auto kind = kinds.rbegin(); kind != kinds.rend(); ++kind)
    if (ClassParts parts = kind->find(path); parts.any()) return parts;
  return {};
}

ClassParts labelled_parts(const fs::path& input, const ClassKinds& kinds) {
  ClassParts parts = find_class_parts(input, recognised_kinds(kinds));
  if (parts.any()) return parts;
  parts = find_class_parts(input, kinds);
  parts.whole.reset();
  return parts;
}

std::string expected_class_sets(const ClassKinds& kinds) { return any_of_kinds(kinds, &ClassKind::expected); }

std::string class_folders(const ClassKinds& kinds) {
  std::vector<std::string> all;
  for (const ClassKind& kind : kinds)
    if (kind.folder != nullptr) all.push_back(kind.folder);
  return joined(all, ", ");
}

std::string beside_classes_text(const fs::path& input) {
  return input.string() +
         " holds items beside folders of classes: only those beside are predicted; move them elsewhere, or give one of "
         "the folders";
}

std::string class_sets_help(const ClassKinds& kinds) { return any_of_kinds(kinds, &ClassKind::help); }

}  // namespace voxshard
