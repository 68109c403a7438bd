// A DICOM structured report with measurements of classes (TID 1500), through DCMTK's dcmsr: volume, mean and standard
// deviation of HU, and the largest diameter, each group with the segment of a segmentation that it was measured on; and
// what a person should look at.
//
//   write_measurement_report("case.sr.dcm", {source, labels, classes, key}, terms, {.numbers = measured, ...});
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "io/dicom_out/segment_parts.h"
#include "io/dicom_out/segment_terms.h"
#include "io/dicom_out/source_series.h"

namespace voxshard {

/// The numbers of one class; a class without a voxel has only its volume, 0.
struct ClassNumbers {
  double volume_ml = 0;
  std::optional<double> mean_hu = {}, deviation_hu = {};  // none also where the image has no Hounsfield units
  std::optional<double> diameter_mm = {};
};

/// Something that a person should look at.
struct ReportFlag {
  std::string code;       // "W_VOLUME", of at most 16 characters
  std::size_t label = 0;  // the class that it is about; 0: the image
  std::string what;       // a sentence
};

struct ReportContent {
  std::vector<ClassNumbers> numbers;  // by label, as the classes; that of the background is not read
  std::vector<SegmentPart> parts;     // the files of the segmentation, at least one
  std::vector<ReportFlag> flags = {};
};

/// The coding scheme of the flags in a report.
inline constexpr const char* kFlagScheme = "99VOXSHARD";

/// Writes a report atomically. It refers to the files that write_segmentation() makes of the same labels, key, parts
/// and series. Classes without a voxel are left out. A flag is a qualitative evaluation in words whose concept is its
/// code: of the group of its class, of the whole report where there is none. The same arguments give the same bytes,
/// other flags another UID. Requires unfit_reason() to be empty, and a labelled voxel. Errors: kOutput.
void write_measurement_report(const std::filesystem::path& path, const SeriesLabels& labels, const SegmentTerms& terms,
                              const ReportContent& content);

}  // namespace voxshard
