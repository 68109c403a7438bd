// One scan is often reconstructed several times: thin and thick, soft and sharp. The rule that says which of these
// series stands for the scan.
//
//   const DicomSeries* image = best_reconstruction(candidates);      // thinnest slices, then the softest kernel
//   kernel_sharpness("B70f")                                          // 70
#pragma once

#include <string>
#include <vector>

#include "io/dicom/dicom_series.h"

namespace voxshard {

/// Returns how sharp a reconstruction kernel is, from 0 (soft) to 100 (lung, bone); 50 for a name that is not known.
/// Source: Siemens numbers its kernels by sharpness (B30f, Br40d, I70f); GE's names and Canon's FC numbers are ranked
/// as their DICOM conformance statements describe their use, Philips' letters run from soft to sharp.
int kernel_sharpness(const std::string& kernel);

/// Returns the series that stands for a scan: a regular volume before others, then the thinnest slices (from their
/// positions), the softest kernel, the most slices, and at last the lowest key, so that the order of files plays no
/// part. Requires one candidate at least.
const DicomSeries* best_reconstruction(const std::vector<const DicomSeries*>& candidates);

}  // namespace voxshard
