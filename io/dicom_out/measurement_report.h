// A DICOM structured report with measurements of classes (TID 1500), through DCMTK's dcmsr: volume, mean and standard
// deviation of HU, and the largest diameter, each group with the segment of a segmentation that it was measured on.
//
//   write_measurement_report("case.sr.dcm", {source, labels, classes, key}, terms, measured);
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "io/dicom_out/segment_terms.h"
#include "io/dicom_out/source_series.h"

namespace voxshard {

/// The numbers of one class; a class without a voxel has only its volume, 0.
struct ClassNumbers {
  double volume_ml = 0;
  std::optional<double> mean_hu = {}, deviation_hu = {};  // none also where the image has no Hounsfield units
  std::optional<double> diameter_mm = {};
};

/// Writes a report atomically. It refers to the segmentation that write_segmentation() makes of the same labels, key
/// and series. Classes without a voxel are left out. The same arguments give the same bytes. Requires unfit_reason() to
/// be empty, and a labelled voxel. Errors: kOutput.
///   numbers  by label, as labels.classes; that of the background is not read
void write_measurement_report(const std::filesystem::path& path, const SeriesLabels& labels, const SegmentTerms& terms,
                              const std::vector<ClassNumbers>& numbers);

}  // namespace voxshard
