// Several series of one scan: the scanner's data reconstructed with several kernels and slice distances, and which of
// them stands for it (best_reconstruction.h).
//
//   best_of_their_scans(*found);   // {0, 0, 2}: of the scan of series 0 and 1 the first is the best
//
// Called by io/volume/dicom.cc.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "io/dicom/dicom_series.h"

namespace voxshard {

/// True for two series of one scan: CT images in HU of the same study, acquisition, numbered by the scanner, and
/// temporal position, scanned in the same seconds where headers say when, in parallel planes, with a common range of at
/// least 80 % of the longer one, and of another kernel, thickness, distance or size of pixels. Thin slices of a part of
/// a scan do not stand for all of it. Two phases of one region stay apart by their acquisitions or times, or because
/// they are reconstructed alike; so do sequences of MR.
bool is_same_scan(const DicomSeries& a, const DicomSeries& b);

/// Returns for each series of a folder the index of the one that stands for its scan: the one that labels in the folder
/// refer to, else the best reconstruction.
std::vector<std::size_t> best_of_their_scans(const DicomFolder& folder);

/// Returns the index of the series that stands for a folder: the only one, or where all are reconstructions of one scan
/// the one that stands for that; none for other folders.
std::optional<std::size_t> series_of_one_scan(const DicomFolder& folder);

/// "slices 1.00 mm apart, kernel sharpness 30 of 100"
std::string reconstruction_text(const DicomSeries& series);

}  // namespace voxshard
