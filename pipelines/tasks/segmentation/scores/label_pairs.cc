#include "pipelines/tasks/segmentation/scores/label_pairs.h"

#include <map>

#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using FilesById = std::map<std::string, std::vector<fs::path>>;

/// The label maps of both sides by case.
struct LabelFiles {
  FilesById references, predictions;
};

FilesById by_id(const fs::path& folder, const VolumeFormats& formats) {
  FilesById files;
  for (FoundVolume& volume : list_volumes(folder, formats).volumes) files[volume.id].push_back(std::move(volume.path));
  return files;
}

LabelFiles label_files(const LabelFolders& o) {
  const auto is_file = [&](const fs::path& path) {
    return !fs::is_directory(path) && volume_stem(path, o.formats).has_value();
  };
  if (is_file(o.references) != is_file(o.predictions))
    throw Error(ErrorKind::kUsage, "[evaluate] " + o.predictions.string() + " and " + o.references.string() +
                                       ": give two label maps, or two folders of them");
  if (is_file(o.references)) {
    const std::string id = volume_stem(o.references, o.formats).value();
    return {{{id, {o.references}}}, {{id, {o.predictions}}}};
  }
  LabelFiles files{.references = by_id(o.references, o.formats), .predictions = {}};
  const bool none = fs::is_directory(o.predictions) && fs::is_empty(o.predictions);  // every case is then missing
  if (!none) files.predictions = by_id(o.predictions, o.formats);
  return files;
}

/// Sets the file of one side; of several files none is the right one.
void take_file(const FilesById& files, LabelPair& pair, fs::path LabelPair::*side) {
  const auto at = files.find(pair.id);
  if (at == files.end()) return;
  pair.*side = at->second.front();
  if (at->second.size() > 1)
    pair.doubled = at->second[0].filename().string() + " and " + at->second[1].filename().string();
}

}  // namespace

Evaluated LabelPair::files(bool with_image, bool surfaces) const {
  return {reference, prediction, with_image ? image : fs::path(), surfaces};
}

std::vector<LabelPair> label_pairs(const LabelFolders& folders, const Dataset* dataset, Progress& progress) {
  const auto [references, predictions] = label_files(folders);
  std::map<std::string, const Case*> cases;
  if (dataset != nullptr)
    for (const auto* part : {&dataset->training, &dataset->test})
      for (const Case& one : *part) cases[one.id] = &one;
  std::vector<LabelPair> pairs;
  for (const auto& [id, files] : references) {
    LabelPair& pair = pairs.emplace_back();
    pair.id = id;
    take_file(references, pair, &LabelPair::reference);
    take_file(predictions, pair, &LabelPair::prediction);
    if (const auto at = cases.find(id); at != cases.end())
      pair.image = at->second->images.at(0), pair.annotated = at->second->annotated;
  }
  for (const auto& [id, files] : predictions)
    if (!references.contains(id))
      progress.log("prediction " + files.front().filename().string() + " has no reference; left out");
  return pairs;
}

}  // namespace voxshard
