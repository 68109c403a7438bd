#include "io/datasets/study_tree.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

#include "io/datasets/study_files.h"
#include "io/dicom/best_reconstruction.h"
#include "io/files/channel_address.h"
#include "io/files/file_name.h"
#include "io/volume/archive.h"
#include "io/volume/dicom.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// A file of labels, its image, and the reason why that image was taken when there was a choice.
struct Labels {
  const StudyLabels* file = nullptr;
  const DicomSeries* image = nullptr;
  std::string choice = {};
};

/// Returns a path below a folder as one plain name: "a/b" becomes "a_b".
std::string name_of(const fs::path& path, const fs::path& folder) {
  std::string name = plain_text(path.lexically_relative(folder).string());
  std::replace(name.begin(), name.end(), '/', '_');
  return name.substr(std::min(name.find_first_not_of('.'), name.size()));
}

std::string reconstruction_text(const DicomSeries& series) {
  char text[96];
  std::snprintf(text, sizeof text, "%.2f mm%s%s", series.grid.spacing[2], series.common.kernel.empty() ? "" : ", ",
                series.common.kernel.substr(0, 40).c_str());
  return plain_text(text);
}

/// Finds the image of a file of labels; none when no series fits.
void choose_image(const std::vector<StudySeries>& all, Labels& labels) {
  std::vector<const DicomSeries*> fitting;
  const auto take = [&](const std::string& wanted, auto uid_of) {
    if (wanted.empty()) return;
    for (const StudySeries& one : all)
      if (uid_of(one.series.common) == wanted) fitting.push_back(&one.series);
  };
  take(labels.file->structures.series_uid, [](const DicomHeader& h) { return h.series; });
  const bool refers = !fitting.empty();
  if (!refers)
    take(labels.file->structures.frame_of_reference_uid, [](const DicomHeader& h) { return h.frame_of_reference; });
  if (fitting.empty()) return;
  labels.image = best_reconstruction(fitting);
  if (refers && fitting.size() == 1) return;
  labels.choice = (refers ? "its labels refer to a series of " + std::to_string(fitting.size()) + " volumes"
                          : "its labels refer to no series that is here; " + std::to_string(fitting.size()) +
                                " lie in their frame of reference") +
                  (fitting.size() > 1 ? "; the thinnest with the softest kernel was taken: " : "; it was taken: ") +
                  reconstruction_text(*labels.image);
}

/// Adds the classes of a file of labels to a case. A region of interest without a contour was named but not drawn.
void add_labels(const Labels& labels, const ClassMap& classes, Case& item, std::set<int>& annotated,
                std::vector<std::string>& unmatched) {
  ClassedStructures used{.file = labels.file->address};
  const StructureFile& file = labels.file->structures;
  for (const NamedStructure& one : file.structures) {
    const auto found = class_of(classes, one.name);
    if (!found) unmatched.push_back(one.name);
    if (!found || (file.kind == StructureKind::kContours && one.drawn == 0)) continue;
    used.class_of[one.number] = *found;
    annotated.insert(*found);
  }
  if (!used.class_of.empty()) item.structures.push_back(std::move(used));
}

/// Keeps the cases of the modality that most have; the others are problems.
void keep_one_modality(Dataset& dataset, const std::map<std::string, std::string>& modality_of) {
  std::map<std::string, int> count;
  for (const Case& item : dataset.training) ++count[modality_of.at(item.images.front())];
  std::string most = "CT";
  for (const auto& [modality, cases] : count)
    if (cases > (count.contains(most) ? count[most] : 0)) most = modality;
  std::erase_if(dataset.training, [&](const Case& item) {
    if (modality_of.at(item.images.front()) == most) return false;
    dataset.problems.push_back({item.id, "E_SERIES",
                                "its image is of another modality than most of the tree (" + most +
                                    "); prepare each modality from a tree of its own",
                                item.images});
    return true;
  });
  dataset.channels = {most};
}

[[noreturn]] void refuse_empty(const StudyTree& tree, const fs::path& folder, std::size_t files) {
  throw Error(ErrorKind::kNoCase,
              "[input] " + folder.string() + ": none of " + std::to_string(files) +
                  " files of labels (DICOM segmentations and structure sets) gives an image of the tree a class of the "
                  "map" +
                  (tree.dataset.problems.empty() ? "" : "; the first: " + tree.dataset.problems.front().reason) +
                  (tree.unmatched.empty() ? "" : "; " + tree.unmatched.text()) +
                  (left_out_text(tree).empty() ? "" : "; beside them lie " + left_out_text(tree)));
}

}  // namespace

StudyTree read_study_tree(const fs::path& folder, const ClassMap& classes, const VolumeLimits& limits) {
  StudyFiles found = find_studies(folder, limits);
  StudyTree tree{.dataset = {}, .left_out = std::move(found.left_out), .unmatched = {}};
  Dataset& dataset = tree.dataset;
  dataset.name = dataset.kind = "studies", dataset.folder = folder, dataset.label_names = label_names(classes);
  const auto leave_out = [&](const fs::path& path, const std::string& code, const std::string& reason) {
    dataset.problems.push_back({name_of(path, folder), code, reason, {path}});
  };
  for (const StudyProblem& one : found.problems) leave_out(one.address, one.code, one.reason);
  std::map<const DicomSeries*, std::vector<Labels>> by_image;
  for (const StudyLabels& file : found.labels) {
    Labels labels{.file = &file};
    choose_image(found.series, labels);
    if (labels.image == nullptr)
      leave_out(file.address, "E_MISSING",
                "the image that its labels refer to is not in the tree; copy its series too");
    else
      by_image[labels.image].push_back(std::move(labels));
  }
  std::map<std::string, std::string> modality_of;
  std::map<std::uint64_t, int> number_of_patient;
  for (const auto& [series, address] : found.series) {
    const auto labelled = by_image.find(&series);
    if (labelled == by_image.end()) {
      ++tree.unlabelled;
      continue;
    }
    Case item{.id = series_id(series), .images = {address}, .label = {}};
    std::set<int> annotated;
    std::vector<std::string> unmatched;
    for (const Labels& labels : labelled->second) add_labels(labels, classes, item, annotated, unmatched);
    tree.unmatched.add(unmatched);
    if (item.structures.empty()) {
      ++tree.unmapped;
      continue;
    }
    item.annotated = {annotated.begin(), annotated.end()};
    if (const std::uint64_t key = series.common.patient_key; key != 0)
      item.patient = number_of_patient.emplace(key, static_cast<int>(number_of_patient.size()) + 1).first->second;
    modality_of[item.images.front()] = series.common.modality.empty() ? "CT" : plain_text(series.common.modality);
    for (const Labels& labels : labelled->second)
      if (!labels.choice.empty()) dataset.notes.push_back({item.id, "W_SERIES", labels.choice, item.images});
    dataset.training.push_back(std::move(item));
  }
  keep_one_modality(dataset, modality_of);
  if (dataset.training.empty() && !classes.classes.empty())
    refuse_empty(tree, folder, found.labels.size() + found.problems.size());
  return tree;
}

void name_by_folders(Dataset& dataset) {
  std::map<std::string, std::string> name_of_id;
  std::map<std::string, int> count;
  for (const Case& item : dataset.training) {
    const fs::path holder = item.images.front().parent_path();
    std::string name = is_archive_name(holder) ? name_of(holder.parent_path() / archive_stem(holder), dataset.folder)
                                               : name_of(holder, dataset.folder);
    if (const auto channel = channel_of_stem(name); channel && item.images.size() > 1) name = channel->id;
    name_of_id[item.id] = name, ++count[name];
  }
  for (auto& [id, name] : name_of_id) {
    if (name.empty() || count[name] > 1) name += (name.empty() ? "" : "_") + id;
    if (!name_problem(name).empty()) name = id;
  }
  for (Case& item : dataset.training) item.id = name_of_id.at(item.id);
  for (CaseProblem& note : dataset.notes)
    if (const auto at = name_of_id.find(note.id); at != name_of_id.end()) note.id = at->second;
  std::ranges::sort(dataset.training, {}, &Case::id);
}

std::string left_out_text(const StudyTree& tree) {
  std::vector<std::string> parts;
  const auto add = [&](std::int64_t count, const std::string& what) {
    if (count > 0) parts.push_back(std::to_string(count) + " " + what);
  };
  add(tree.unlabelled, "series without labels");
  add(tree.unmapped, "series whose labels hold no class of the map");
  for (const auto& [kind, count] : tree.left_out) add(count, kind);
  return joined(parts, ", ");
}

}  // namespace voxshard
