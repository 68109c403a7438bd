// The grid that the positions of a series make, or why they make none.
//
//   place_series(series, true);      // sorts series.slices, sets grid or problem
//
// Called by dicom_series.cc.
#pragma once

#include "io/dicom/dicom_series.h"

namespace voxshard {

/// Slices closer than this along the normal lie at one place, mm.
inline constexpr double kCoincidingMm = 1e-3;

/// Sets why a series is no regular volume.
void refuse_series(DicomSeries& series, const char* code, const std::string& problem);

/// True when two of the slices lie at one place.
///   members  (header, frame) of each
bool has_coinciding_slices(const DicomFrame& plane, const std::vector<std::pair<std::size_t, std::size_t>>& members,
                           const std::vector<DicomHeader>& headers);

/// Sorts the slices of a series along the normal and sets its grid. Where the slices are no regular volume, `problem`
/// says why, with the numbers, and problem_code is E_SPACING, E_POSITION, E_GEOMETRY, E_DOUBLED, E_TILT, E_GAP
/// or E_IRREGULAR.
///   all_placed  every slice has a position
void place_series(DicomSeries& series, bool all_placed);

}  // namespace voxshard
