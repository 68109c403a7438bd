// Zip and tar archives as a row of the table of volume formats: an archive is read like the folder that was packed. Its
// volumes have addresses, as those of a folder of DICOM files.
//
//   read_image("study.zip")                              // the only volume in it
//   read_image("study.zip/#series=ct_77dddbdf335a")      // a DICOM series
//   read_image("study.zip/#volume=volume_99aa06d30147")  // a NIfTI, NRRD or MetaImage file, by a hash of its content
//
// Files are unpacked under numbers to a private folder (io/archive); their names become no paths and stand in no
// message.
#pragma once

#include "io/volume/volume.h"

namespace voxshard {

/// Reads the volumes of an archive through the formats of `inner`; volumes of several files (.hdr, .nhdr, .mhd) are
/// left out. Errors in addition to those of `inner`: kInput E_ARCHIVE; E_SERIES for an archive with several volumes, or
/// none, where one is wanted.
VolumeFormat archive_format(std::vector<VolumeFormat> inner);

}  // namespace voxshard
