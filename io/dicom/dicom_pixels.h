// Decodes the slices of a DICOM series, file by file, through GDCM.
//
//   read_dicom_slices(series, [&](std::size_t slice, std::span<const double> hu) { ... });   // rows x columns
#pragma once

#include <functional>
#include <span>

#include "io/dicom/dicom_series.h"

namespace voxshard {

/// Calls take(z, values) for each slice, with z along the series, in the order of files. Values are slope x stored +
/// intercept of that slice. Holds one file at a time.
/// Errors: kInput for a file whose pixels are missing, cut, damaged, in colour, or of a type without whole numbers; the
/// problem of a series that is no regular volume.
void read_dicom_slices(const DicomSeries& series,
                       const std::function<void(std::size_t z, std::span<const double> values)>& take);

}  // namespace voxshard
