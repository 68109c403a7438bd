// The cases of `predict` from the images that were found: one image each, or with several channels one for each of
// them, in files named as nnU-Net names them (CASE_0000, CASE_0001), in folders or archives of such names with a DICOM
// series each, or along the 4th axis of one file. Which series of a study is which channel is told by these names
// alone, as prepare has it: series of one scanner may be of one modality, and lie on grids of their own.
//
//   const InputCases found = cases_of_images({"a_0000.nii.gz", "a_0001.nii.gz", "b.nii.gz"}, {"CT", "PET"}, formats);
//   found.cases[0].id                   // "a"; b is one 4-D file
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "io/volume/volume.h"
#include "pipelines/engine/case_hashes.h"
#include "pipelines/engine/requests.h"
#include "pipelines/tasks/segmentation/dataset/dataset_source.h"

namespace voxshard {

struct InputCases {
  std::vector<Case> cases = {};            // in the order of the images; without labels
  std::vector<CaseFailure> failures = {};  // E_MISSING: a channel is not there; E_DUPLICATE: it is there twice
  std::size_t left_out = 0;                // files of channels that the model does not have
  std::size_t further = 0;                 // of one channel: cases that are named like further channels of others
  bool nameless = false;                   // the images have no file names: DICOM series, or volumes of an archive;
                                           // or they lie in folders, of which no name is shown
  std::map<std::string, std::string> by_path = {};  // of files in folders: names by id that {keep-names} gives them
};

/// Groups images into cases. Channels are looked for among the images and beside them.
///   channels  their names, in the order of the model's input
InputCases cases_of_images(const std::vector<std::filesystem::path>& images, const std::vector<std::string>& channels,
                           const VolumeFormats& formats);

/// The same for images in the folders of `root`: channels of a case lie in one folder. Ids of files are their paths,
/// "a/b/liver_03", until name_cases() gives them others.
InputCases cases_below(const std::filesystem::path& root, const std::vector<std::filesystem::path>& images,
                       const std::vector<std::string>& channels, const VolumeFormats& formats);

/// Warns of files that are named like channels which the run does not read.
///   channels  number of those that it reads
void say_channels(const InputCases& found, std::size_t channels, Progress& progress);

/// Names the cases as their label maps are called. Files keep their names, unless there is a secret. DICOM series and
/// the volumes of an archive have none of their own, and names of cases_below() are those of folders: they get
/// anonymous ids as in read_dataset_source(), or with source.keep_names those of the folders that hold them
/// ("a_b_liver_03"). Sorts what gets new ids by id.
///   source  its `folder` is the input, of which folders are named
///   names   of earlier calls, whose ids hold; gets names and files of the cases, none where ids are the names of files
/// Errors: those of with_ids().
void name_cases(InputCases& found, const DatasetSource& source, CaseNamesLog& names, Progress& progress);

/// Returns all files that hold a case, each once. Errors: kInput.
VolumeFiles files_of_case(const Case& item, const VolumeFormats& formats);

/// Returns a case with the files that hold it; none where they cannot be told, which reading it reports.
HashedCase hashed_case(const Case& item, const VolumeFormats& formats);

/// Returns why a case is left out whose name an earlier one has.
std::string doubled_text(const Case& item);

}  // namespace voxshard
