// A folder per class with DICOM series, or with zip and tar files of studies, one or several below each:
// scan/nodule/..., scan/normal/.... Items are named by the ids of their series, because folders of scans are named
// after patients.
#include <algorithm>

#include "io/datasets/study_files.h"
#include "io/files/file_name.h"
#include "pipelines/tasks/classification/dataset/class_dataset.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> class_folders_in(const fs::path& root) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    std::error_code unknown;  // of a link to nowhere, which is no folder
    if (!it->path().filename().string().starts_with(".") && it->is_directory(unknown)) folders.push_back(it->path());
  }
  std::ranges::sort(folders);
  return folders;
}

bool is_series_tree(const fs::path& root) { return std::ranges::any_of(class_folders_in(root), may_hold_studies); }

std::optional<ClassPart> series_part(const fs::path& root, const char* name) {
  std::error_code error;
  if (!fs::is_directory(root / name, error) || !is_series_tree(root / name)) return std::nullopt;
  return ClassPart{series_kind(), root / name};
}

ClassParts find_series_parts(const fs::path& path) {
  std::error_code error;
  ClassParts parts;
  if (!fs::is_directory(path, error) || is_other_set(path)) return parts;
  parts.train = series_part(path, "train");
  if (parts.train) {
    parts.val = series_part(path, "val");
    parts.test = series_part(path, "test");
  } else if (is_series_tree(path)) {
    parts.whole = {series_kind(), path};
  }
  return parts;
}

ClassEntries entries_of_series(const ClassPart& part, const ClassReading& reading, std::vector<CaseFailure>& failures) {
  ClassEntries entries;
  for (const fs::path& folder : class_folders_in(part.path)) {
    const std::string name = folder.filename().string();
    if (const std::string problem = text_problem(name); !problem.empty()) {
      failures.push_back({shown_name(name), "E_NAME", "as the name of a class " + problem + "; rename the folder"});
      continue;
    }
    entries.classes.insert(name);
    for (const FoundVolume& series : scans_below(folder, reading, entries.notes)) {
      const auto same = [&](const ClassEntry& other) { return other.name == series.id; };
      if (std::ranges::any_of(entries.list, same))
        failures.push_back({series.id, "E_DUPLICATE", "is a series that lies in two folders; move one of them away"});
      else
        entries.list.push_back({.name = series.id, .class_name = name, .file = series.path});
    }
  }
  return entries;
}

// Archives are not unpacked for this: what they hold can only be volumes.
void each_series(const ClassPart& part, const std::function<void(const fs::path&)>& body) {
  for (const fs::path& folder : class_folders_in(part.path))
    for (const FoundVolume& series : find_volumes(folder).volumes) body(series.path);
}

}  // namespace

std::vector<FoundVolume> scans_below(const fs::path& folder, const ClassReading& reading,
                                     std::vector<std::string>& notes) {
  VolumeList list;
  try {
    list = list_volumes(folder, reading.formats);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kNoCase) throw;
    return {};
  }
  if (list.files) return {};
  if (!list.left_out.empty()) notes.push_back("left out: " + list.left_out);
  if (reading.best_series)
    for (std::string& line : reconstruction_lines(take_other_reconstructions(list.volumes)))
      notes.push_back(std::move(line));
  return std::move(list.volumes);
}

ClassKind series_kind() {
  return {.name = "series",
          .expected = "a folder per class with DICOM series or archives of them, the same in train and val or test",
          .help = "a folder per class with DICOM series or archives of them",
          .find = find_series_parts,
          .entries = entries_of_series,
          .each_file = each_series,
          .looks_like_studies = true};
}

}  // namespace voxshard
