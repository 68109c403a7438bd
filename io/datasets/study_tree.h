// A tree of DICOM studies, in folders or archives, as a data set: each image series with the segmentations and
// structure sets that refer to it.
//
//   const StudyTree tree = read_study_tree("studies", read_class_map("map.toml"));
//   tree.dataset.training[0].images[0]       // "studies/a/#series=ct_77dddbdf335a"
//   tree.dataset.training[0].structures      // the files of labels, and the class of each structure
//
// The image of a file of labels is the series that it refers to. Where it refers to none that is there, the series in
// its frame of reference fit; where several fit, best_reconstruction() chooses, and a note says so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "io/datasets/class_map.h"
#include "io/datasets/dataset.h"
#include "io/volume/volume_limits.h"

namespace voxshard {

struct StudyTree {
  Dataset dataset;                               // cases have the ids of their series, "ct_77dddbdf335a"
  std::int64_t unlabelled = 0;                   // series that no file of labels belongs to
  std::int64_t unmapped = 0;                     // series whose labels hold no class of the map
  std::map<std::string, std::int64_t> left_out;  // files that are neither, by what they are
  UnmatchedStructures unmatched;                 // structures of no class
};

/// Reads the headers of all files below a folder, no pixel. A file of labels that cannot be used is a problem of the
/// data set; no text names a file or a UID. Errors: kInput as find_dicom_series; kNoCase when no image has labels of
/// the classes, with what was found.
///   classes  without any: every structure is unmatched, and having no case is no error
StudyTree read_study_tree(const std::filesystem::path& folder, const ClassMap& classes,
                          const VolumeLimits& limits = {});

/// Names the cases of a tree after the folders or archives of their images, "a_b" for FOLDER/a/b and FOLDER/a/b.zip;
/// where two lie in one, with the ids of their series. Of several channels the number of the first is taken off.
void name_by_folders(Dataset& dataset);

/// Returns "12 series without labels, 1 localizer": what a tree holds beside its cases; may be empty.
std::string left_out_text(const StudyTree& tree);

}  // namespace voxshard
