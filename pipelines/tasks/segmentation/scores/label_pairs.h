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

  Evaluated files(bool with_image, bool surfaces = false) const;
};

struct LabelFolders {
  std::filesystem::path predictions, references;  // two folders or two files
  VolumeFormats formats;
};

/// Returns the pairs, sorted by id: one for each reference. Two files are one case, of the name of the reference. A
/// line of the log names predictions without a reference. Errors: kUsage for a file and a folder; kInput and kNoCase as
/// list_volumes().
///   dataset  null: there is none
std::vector<LabelPair> label_pairs(const LabelFolders& folders, const Dataset* dataset, Progress& progress);

}  // namespace voxshard
