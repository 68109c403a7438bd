// Slices of a series that lie at one place: files that were exported twice, or two scans under one UID. Headers do not
// tell which; pixels do.
//
//   join_doubled_slices(series);      // equal ones count once (W_DOUBLED); else series.problem has the numbers
//
// Called by io/volume/dicom.cc where the user asks for it.
#pragma once

#include "io/dicom/dicom_series.h"

namespace voxshard {

/// Keeps one slice of each place where all that lie there have the same values, says so in series.warning (W_DOUBLED)
/// and places the series anew, which may then still have gaps or a tilt. Where values differ nothing says which slice
/// is right: all stay, and series.problem says how many differ, where and by how much.
/// Requires a series whose problem_code is E_DOUBLED. Errors: kInput as read_dicom_slices.
/// Cost: decodes the files of these slices, one at a time, once for as long as the files stay the same. Threads: any.
void join_doubled_slices(DicomSeries& series);

}  // namespace voxshard
