// The cases of `evaluate`: each reference with its prediction, by file name, and with its image and the classes that
// were annotated in it, which a data set tells.
//
//   for (const LabelPair& pair : label_pairs({.predictions = "pred", .references = "ref"}, dataset, progress)) ...
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/tasks/segmentation/dataset/case_memory.h"

namespace voxshard {

/// One reference with its prediction and, when the data set names one, its image.
struct LabelPair {
  std::string id;
  std::filesystem::path reference, prediction, image;        // empty: there is none
  std::optional<std::vector<int>> annotated = std::nullopt;  // as Case::annotated
  std::string doubled = {};  // the names of two files of this id on the same side; such a case is not scored
  std::optional<Case> drawn = std::nullopt;  // in place of `reference`: a case whose structures are drawn on its image

  /// Returns the reference for summary.json, and its name for messages: of a drawn one the id.
  std::filesystem::path listed_reference() const { return drawn ? std::filesystem::path(id) : reference; }
  std::string shown_reference() const { return listed_reference().filename().string(); }
  Evaluated files(bool with_image, bool surfaces = false) const;
};

struct LabelFolders {
  std::filesystem::path predictions, references;  // two folders or two files
  VolumeFormats formats;
  std::vector<std::filesystem::path> further = {};  // more folders of predictions
};

/// Returns the pairs, sorted by id: one for each reference. Two files are one case, of the name of the reference. A
/// line of the log names predictions without a reference. Errors: kUsage for a file and a folder; kInput and kNoCase as
/// list_volumes().
///   dataset  null: there is none; its cases may have no images
std::vector<LabelPair> label_pairs(const LabelFolders& folders, const Dataset* dataset, Progress& progress);

/// Returns the same of a tree of studies: one pair for each of its cases, which have the ids of the predictions.
/// Errors: kUsage when the predictions are no folder; as list_volumes().
///   folders  of the predictions; `references` does not count
std::vector<LabelPair> study_pairs(const LabelFolders& folders, const Dataset& studies, Progress& progress);

/// Throws kInput, E_DUPLICATE or E_MISSING, for a case that has not one file on each side.
void require_both(const LabelPair& pair);

/// Reads the label map of the reference. Errors: as read_label and read_case_label.
///   notes  gets what is to be said about structures that were drawn
Volume read_reference(const LabelPair& pair, const VolumeFormats& formats, std::vector<std::string>& notes);

}  // namespace voxshard
