// Which folders are data sets of classes: those of segmentation and detection look alike from far.
//
//   find_class_parts("cells").train->path      // cells/train
#include <algorithm>
#include <map>

#include "io/boxes/box_format.h"
#include "io/datasets/class_list.h"
#include "io/datasets/idx.h"
#include "io/files/file_name.h"
#include "io/video/stream.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/classification/class_dataset.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Folders and files that say that a folder is of segmentation, or a run.
constexpr const char* kOthers[] = {"dataset.json", "imagesTr", "checkpoints", "plans.json", "run.json"};

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (!it->path().filename().string().starts_with(".") && it->is_directory(error)) folders.push_back(it->path());
  std::ranges::sort(folders);
  return folders;
}

constexpr ItemKind kKinds[] = {ItemKind::kPicture, ItemKind::kVolume, ItemKind::kClip};

bool is_any_item(const fs::path& file) {
  return std::ranges::any_of(kKinds, [&](ItemKind kind) { return is_class_item(file, {.items = kind}); });
}

bool holds_items(const fs::path& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error))
    if (is_any_item(it->path())) return true;
  return false;
}

/// The first file of each kind that a part names.
std::map<ItemKind, fs::path> kinds_in(const ClassPart& part) {
  std::map<ItemKind, fs::path> kinds;
  const auto look_at = [&](const fs::path& file) {
    for (const ItemKind kind : kKinds)
      if (is_class_item(file, {.items = kind})) kinds.try_emplace(kind, file);
  };
  if (part.kind == ClassPart::Kind::kList) {
    for (const ClassRow& row : read_class_list(part.path).rows) look_at(row.file);
  } else {
    for (const fs::path& folder : folders_in(part.path)) {
      std::error_code error;
      for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        look_at(it->path());
    }
  }
  return kinds;
}

/// Whether something makes a folder another kind of data set: what stands above, or boxes of any format.
bool is_other_set(const fs::path& folder) {
  std::error_code error;
  for (const char* other : kOthers)
    if (fs::exists(folder / other, error)) return true;
  return is_like_boxes(folder);
}

/// Whether a folder has a folder that holds items, and neither is anything else.
bool is_tree(const fs::path& folder) {
  return !is_other_set(folder) && std::ranges::any_of(folders_in(folder), [](const fs::path& of_class) {
    return !is_other_set(of_class) && holds_items(of_class);
  });
}

std::optional<ClassPart> part_named(const fs::path& folder, std::initializer_list<const char*> names) {
  std::error_code error;
  for (const char* name : names) {
    if (fs::is_directory(folder / name, error) && is_tree(folder / name))
      return ClassPart{ClassPart::Kind::kFolders, folder / name};
    const fs::path list = folder / (std::string(name) + ".csv");
    if (fs::is_regular_file(list, error)) return ClassPart{ClassPart::Kind::kList, list};
  }
  return std::nullopt;
}

constexpr std::initializer_list<const char*> kValNames = {"val", "valid", "validation"},
                                             kTestNames = {"test", "testing"};

/// Whether all folders that hold items are called as parts that validate and test are: they are no classes.
bool holds_only_held_out(const fs::path& folder) {
  bool any = false;
  for (const fs::path& part : folders_in(folder)) {
    if (!holds_items(part)) continue;
    const auto is_part = [&](const char* name) { return part.filename() == name; };
    if (std::ranges::none_of(kValNames, is_part) && std::ranges::none_of(kTestNames, is_part)) return false;
    any = true;
  }
  return any;
}

}  // namespace

bool is_class_item(const fs::path& file, const ClassReading& reading) {
  if (file.filename().string().starts_with(".")) return false;
  switch (reading.items) {
    case ItemKind::kPicture:
      return is_image_name(file);
    case ItemKind::kVolume:
      return volume_stem(file, reading.formats).has_value();
    case ItemKind::kClip:
      return is_video_name(file);
  }
  return false;
}

ItemKind kind_of_part(const ClassPart& part, int axes) {
  using Kind = ClassPart::Kind;
  if (axes == 2 || part.kind == Kind::kIdxTrain || part.kind == Kind::kIdxTest) return ItemKind::kPicture;
  const auto kinds = kinds_in(part);
  if (axes == 0 && kinds.contains(ItemKind::kPicture)) return ItemKind::kPicture;
  const auto volume = kinds.find(ItemKind::kVolume), video = kinds.find(ItemKind::kClip);
  if (volume != kinds.end() && video != kinds.end())
    throw Error(ErrorKind::kInput, "[data] " + part.path.string() + ": holds volumes and videos, " +
                                       shown_name(volume->second.filename().string()) + " and " +
                                       shown_name(video->second.filename().string()) +
                                       "; a model learns from one kind: move the others away");
  return video != kinds.end() ? ItemKind::kClip : ItemKind::kVolume;
}

ClassParts find_class_parts(const fs::path& path) {
  using Kind = ClassPart::Kind;
  std::error_code error;
  ClassParts parts;
  if (!fs::is_directory(path, error)) {
    if (fs::is_regular_file(path, error) && lower_case(path.extension().string()) == ".csv")
      parts.whole = {Kind::kList, path};
    return parts;
  }
  if (find_idx(path, IdxPart::kTrain)) parts.train = {Kind::kIdxTrain, path};
  if (find_idx(path, IdxPart::kTest)) parts.test = {Kind::kIdxTest, path};
  if (parts.any()) return parts;
  if (is_other_set(path)) return parts;
  parts.train = part_named(path, {"train", "training"});
  const bool lacks_train = !parts.train && holds_only_held_out(path);
  if (parts.train || lacks_train) {
    parts.val = part_named(path, kValNames);
    parts.test = part_named(path, kTestNames);
  } else if (is_tree(path)) {
    parts.whole = {Kind::kFolders, path};
  }
  return parts;
}

}  // namespace voxshard
