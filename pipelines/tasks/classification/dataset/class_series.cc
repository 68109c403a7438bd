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

bool is_series_tree(const fs::path& root) {
  return !is_other_set(root) && std::ranges::any_of(folders_in(root), may_hold_studies);
}

ClassParts find_series_parts(const fs::path& path) {
  return parts_of_tree(path, {.kind = series_kind, .is_tree = is_series_tree, .holds_items = may_hold_studies});
}

ClassEntries entries_of_series(const ClassPart& part, const ClassReading& reading, std::vector<CaseFailure>& failures) {
  ClassEntries entries;
  for (const fs::path& folder : folders_in(part.path)) {
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
  for (const fs::path& folder : folders_in(part.path))
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
