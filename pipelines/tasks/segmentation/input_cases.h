// The cases of `predict` from the images that were found: one image each, or with several channels one for each of
// them, in files named as nnU-Net names them (CASE_0000, CASE_0001) or along the 4th axis of one file.
//
//   const InputCases found = cases_of_images({"a_0000.nii.gz", "a_0001.nii.gz", "b.nii.gz"}, {"CT", "PET"}, formats);
//   found.cases[0].id                   // "a"; b is one 4-D file
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/volume/volume.h"
#include "pipelines/engine/requests.h"

namespace voxshard {

struct InputCase {
  std::string id;                             // "liver_03"
  std::vector<std::filesystem::path> images;  // by channel: files or addresses in one
};

struct InputCases {
  std::vector<InputCase> cases;       // in the order of the images
  std::vector<CaseFailure> failures;  // E_MISSING: a channel is not there
  std::size_t left_out = 0;           // files of channels that the model does not have
  std::size_t further = 0;            // of one channel: cases that are named like further channels of others
};

/// Groups images into cases. Channels are looked for among the images and beside them.
///   channels  their names, in the order of the model's input
InputCases cases_of_images(const std::vector<std::filesystem::path>& images, const std::vector<std::string>& channels,
                           const VolumeFormats& formats);

/// Returns all files that hold a case, each once. Errors: kInput.
std::vector<std::filesystem::path> files_of_case(const InputCase& item);

}  // namespace voxshard
