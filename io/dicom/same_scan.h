// Several series of one scan: the scanner's data reconstructed with several kernels and slice distances, and which of
// them stands for it (best_reconstruction.h).
//
//   best_of_their_scans(found->series);   // {0, 0, 2}: of the scan of series 0 and 1 the first is the best
//
// Called by io/volume/dicom.cc.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/dicom/dicom_series.h"

namespace voxshard {

/// True for two series of one scan: the same study, modality and acquisition, both numbered by the scanner, images in
/// parallel planes, and a common range of at least 80 % of the longer one: thin slices of a part of a scan do not stand
/// for all of it. Scans of one region at two times have two acquisitions and stay apart.
bool is_same_scan(const DicomSeries& a, const DicomSeries& b);

/// Returns for each series the index of the best reconstruction of its scan; its own when that is the best.
std::vector<std::size_t> best_of_their_scans(const std::vector<DicomSeries>& series);

/// "slices 1.00 mm apart, kernel sharpness 30 of 100"
std::string reconstruction_text(const DicomSeries& series);

}  // namespace voxshard
