// The label map of a case, from a file of its own or from files of named structures: one reading for everybody who
// needs labels, so that preparation, checks and scores see the same voxels.
//
//   const Volume image = read_image(item.images[0]);
//   const CaseLabel label = read_case_label(item, image.geometry);     // i32
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "io/volume/volume.h"

namespace voxshard {

struct CaseLabel {
  Volume volume;                   // i32
  std::vector<std::string> notes;  // each begins with its code: W_OVERLAP ...; they name no file
};

/// Reads the label map. That of a file lies on its own grid. Structures are drawn on the grid of the image; where
/// several files of a case claim a voxel, the highest class has it whatever the order of the files, and a note counts
/// such voxels. Errors: as read_label and read_structures_on; E_MISSING for a case without labels.
///   image  the grid of its image
CaseLabel read_case_label(const Case& item, const Geometry& image, const VolumeFormats& formats = volume_formats());

/// Returns the files of the labels.
std::vector<std::filesystem::path> label_files(const Case& item);

/// Returns the grid of the labels, the type and the bytes that reading them takes, from headers alone. Errors: as
/// read_volume_info.
///   image  the header of its image
VolumeInfo read_label_info(const Case& item, const VolumeInfo& image, const VolumeFormats& formats = volume_formats());

}  // namespace voxshard
