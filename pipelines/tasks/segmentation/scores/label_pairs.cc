#include "pipelines/tasks/segmentation/scores/label_pairs.h"

#include <iterator>
#include <map>

#include "io/datasets/case_label.h"
#include "io/structures/structure_labels.h"
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

/// Returns the label maps of all folders of predictions; none of an empty one, where every case is missing.
FilesById predicted_files(const LabelFolders& o) {
  std::vector<fs::path> folders = {o.predictions};
  folders.insert(folders.end(), o.further.begin(), o.further.end());
  FilesById all;
  for (const fs::path& folder : folders) {
    if (fs::is_directory(folder) && fs::is_empty(folder)) continue;
    for (auto& [id, files] : by_id(folder, o.formats))
      all[id].insert(all[id].end(), std::make_move_iterator(files.begin()), std::make_move_iterator(files.end()));
  }
  return all;
}

LabelFiles label_files(const LabelFolders& o) {
  const auto is_file = [&](const fs::path& path) {  // also a DICOM segmentation, whose name may have no ending
    return !is_volume_folder(path, o.formats) &&
           std::ranges::any_of(o.formats.rows, [&](const VolumeFormat& format) { return format.matches(path); });
  };
  if (is_file(o.references) != is_file(o.predictions))
    throw Error(ErrorKind::kUsage, "[evaluate] " + o.predictions.string() + " and " + o.references.string() +
                                       ": give two label maps, or two folders of them");
  if (is_file(o.references) && !o.further.empty())
    throw Error(ErrorKind::kUsage, "[evaluate] " + o.predictions.string() +
                                       ": of several predictions each is a folder of label maps; give folders");
  if (is_file(o.references)) {
    const auto of_reference = volume_stem(o.references, o.formats),
               of_prediction = volume_stem(o.predictions, o.formats);
    const std::string id = of_reference ? *of_reference : of_prediction.value_or(o.references.filename().string());
    return {{{id, {o.references}}}, {{id, {o.predictions}}}};
  }
  return {.references = by_id(o.references, o.formats), .predictions = predicted_files(o)};
}

/// Sets the file of one side; of several files none is the right one.
void take_file(const FilesById& files, LabelPair& pair, fs::path LabelPair::*side) {
  const auto at = files.find(pair.id);
  if (at == files.end()) return;
  pair.*side = at->second.front();
  if (at->second.size() > 1)
    pair.doubled = at->second[0].filename().string() + " and " + at->second[1].filename().string();
}

void say_unpaired(const FilesById& predictions, const auto& is_paired, Progress& progress) {
  for (const auto& [id, files] : predictions)
    if (!is_paired(id)) progress.log("prediction " + files.front().filename().string() + " has no reference; left out");
}

}  // namespace

Evaluated LabelPair::files(bool with_image, bool surfaces) const {
  return {.reference = reference,
          .prediction = prediction,
          .image = with_image ? image : fs::path(),
          .surfaces = surfaces,
          .drawn = drawn ? &*drawn : nullptr};
}

std::vector<LabelPair> label_pairs(const LabelFolders& folders, const Dataset* dataset, Progress& progress) {
  const LabelFiles files = label_files(folders);
  std::map<std::string, const Case*> cases;
  if (dataset != nullptr)
    for (const auto* part : {&dataset->training, &dataset->test})
      for (const Case& one : *part) cases[one.id] = &one;
  std::vector<LabelPair> pairs;
  for (const auto& [id, paths] : files.references) {
    LabelPair& pair = pairs.emplace_back();
    pair.id = id;
    take_file(files.references, pair, &LabelPair::reference);
    take_file(files.predictions, pair, &LabelPair::prediction);
    if (const auto at = cases.find(id); at != cases.end()) {
      if (!at->second->images.empty()) pair.image = at->second->images.front();
      pair.annotated = at->second->annotated;
    }
  }
  say_unpaired(
      files.predictions, [&](const std::string& id) { return files.references.contains(id); }, progress);
  return pairs;
}

std::vector<LabelPair> study_pairs(const LabelFolders& folders, const Dataset& studies, Progress& progress) {
  if (!fs::is_directory(folders.predictions))
    throw Error(ErrorKind::kUsage, "[evaluate] " + folders.predictions.string() +
                                       " is no folder: a tree of studies is compared with the folder that predict "
                                       "wrote");
  const FilesById predicted = predicted_files(folders);
  std::vector<LabelPair> pairs;
  for (const Case& item : studies.training) {
    LabelPair& pair = pairs.emplace_back();
    pair.id = item.id, pair.image = item.images.at(0), pair.annotated = item.annotated, pair.drawn = item;
    take_file(predicted, pair, &LabelPair::prediction);
  }
  say_unpaired(
      predicted, [&](const std::string& id) { return std::ranges::count(studies.training, id, &Case::id) > 0; },
      progress);
  return pairs;
}

void require_both(const LabelPair& pair) {
  if (!pair.doubled.empty())
    throw Error(ErrorKind::kInput, "E_DUPLICATE",
                "[" + pair.id + "] " + pair.doubled + " have the same name but for the ending; move one of them away");
  if (pair.prediction.empty())
    throw Error(ErrorKind::kInput, "E_MISSING",
                "[" + pair.id + "] there is no prediction for " + pair.shown_reference() +
                    "; run `voxshard predict` on its image");
}

Volume read_reference(const LabelPair& pair, const VolumeFormats& formats, std::vector<std::string>& notes) {
  if (!pair.drawn) return read_label(pair.reference, formats);
  CaseLabel label = read_case_label(*pair.drawn, grid_of_image(pair.image, formats), formats);
  notes.insert(notes.end(), label.notes.begin(), label.notes.end());
  return std::move(label.volume);
}

}  // namespace voxshard
