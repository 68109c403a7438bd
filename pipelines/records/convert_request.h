// The request of `voxshard convert`.
//
//   volumes_from_records({.input = "records", .output = "data"}, inputs, failures, progress);
#pragma once

#include <filesystem>
#include <string>

#include "io/records/record_file.h"
#include "io/volume/volume.h"
#include "libcore/tensor/shape.h"
#include "pipelines/records/provenance.h"

namespace voxshard {

struct ConvertRequest {
  std::filesystem::path input, output;
  Shape shape = {};        // (D, H, W) of volumes in records, as in CtReading; no axes: not given
  bool one_hot = true;     // true: labels in records of volumes are one-hot
  bool compressed = true;  // for records of volumes; images are never compressed again: PNG and JPEG already are
  int files = 1;           // number of files for the records of images
  int threads = 1;
  IrregularSlices irregular = IrregularSlices::kReject;  // of volumes
  Provenance provenance = Provenance::kNone;             // of volumes: a JSON beside each
  std::filesystem::path like;                            // image on whose grid structures are written; empty: not given
  double least_fraction = kLeastFraction;                // of fractional segmentations, as in VolumeLimits
  std::filesystem::path classes;  // map of names to classes; empty: the file's own numbers are the classes
  std::filesystem::path id_salt;  // of a tree of series: a secret that ids are made with; empty: they are numbered
  bool keep_names = false;        // of a tree of series: ids are the names of folders
  bool best_series = true;        // of several reconstructions of a scan only the one that stands for it
};

}  // namespace voxshard
