// Decodes the slices of a DICOM series, file by file.
//
//   read_dicom_slices(series, [&](std::size_t slice, std::span<const double> hu) { ... });   // rows x columns
#pragma once

#include <functional>
#include <span>

#include "io/dicom/dicom_series.h"

namespace voxshard {

/// The pixels that a header promises.
struct StoredShape {
  std::int64_t columns = 0, rows = 0, frames = 1;
  int bits = 16;  // of a value: 1, 8, 16 or 32
  bool is_signed = false;
};
/// Returns the stored values of all frames of a file, in this machine's byte order; values of one bit are packed, the
/// lowest bit of a byte first. Errors: kInput as read_dicom_slices.
std::vector<char> read_stored_pixels(const std::filesystem::path& path, const StoredShape& shape);

/// Calls take(z, values) for each slice, with z along the series, in the order of files. Values are slope x stored +
/// intercept of that slice; padded ones outside of -1024 to 3071 HU, which no tissue has, are -1024 HU, air, and so are
/// those of about the one value below -1200 HU that all four corners of a CT slice have. Holds one file at a time.
/// Errors: kInput for a file whose pixels are missing, cut, damaged, in colour, or of a type without whole numbers; the
/// problem of a series that is no regular volume.
void read_dicom_slices(const DicomSeries& series,
                       const std::function<void(std::size_t z, std::span<const double> values)>& take);

}  // namespace voxshard
