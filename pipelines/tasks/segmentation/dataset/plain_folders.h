// Two plain folders as a data set: images in one, label maps of the same names in the other, without a dataset.json.
//
//   Dataset d = pair_folders({.images = "A", .labels = "B"}, volume_formats());
#pragma once

#include "io/datasets/dataset.h"
#include "io/volume/volume.h"

namespace voxshard {

struct FolderPair {
  std::filesystem::path images, labels;
  std::vector<std::string> channels = {};  // names, "CT"; empty: one channel, a CT
};

/// Pairs images and label maps by the names of their files without the ending. nnU-Net's channel suffix ("_0000") is
/// taken off when every image has it and no label map has the whole name of an image. An image may also be a folder of
/// that name with the files of one DICOM series. Names are the ids; an image or a label map without a partner, or two
/// files of one name, are a problem of the data set, which names no file. label_names stay empty. Errors: kInput for a
/// folder that cannot be read; kUsage for more channels than have names; kNoCase for no pair.
Dataset pair_folders(const FolderPair& folders, const VolumeFormats& formats);

}  // namespace voxshard
