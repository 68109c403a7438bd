// A DICOM segmentation (binary, one segment a class) made of a label map on the slices of its series, through DCMTK's
// dcmseg.
//
//   const SegmentationUids uids = write_segmentation("case.seg.dcm", {source, labels, classes, key}, terms);
//   uids.instance                       // "2.25.1130...": what a report refers to
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "io/dicom_out/segment_parts.h"
#include "io/dicom_out/segment_terms.h"
#include "io/dicom_out/source_series.h"

namespace voxshard {

inline constexpr const char* kSegmentationClass = "1.2.840.10008.5.1.4.1.1.66.4";

/// The UIDs of the segmentation of a key, or of one of its files, whether it is written or not. Files of one
/// segmentation are a series.
struct SegmentationUids {
  std::string instance, series;
};
SegmentationUids segmentation_uids(const std::string& key, const SegmentPart& part = {});

/// Returns the number of frames by label: the slices that hold a voxel of it. That of the background stays 0.
std::vector<std::int64_t> segmentation_frames(const SeriesLabels& labels);

/// Returns the memory that writing so many frames takes beside the label map: the packed frames as they are made, as
/// DCMTK keeps them, and twice as it writes them, and the description of each.
std::int64_t segmentation_bytes(std::int64_t frames, std::int64_t rows, std::int64_t columns);

/// Writes a segmentation atomically, or one of its files. The number of a segment is its label, in one of several files
/// SegmentPart::segment(); a class without a voxel is a segment without frames. Frames have the position, orientation
/// and spacing of their slices, and name them as their source. The same labels, key, part and series give the same
/// bytes. Requires unfit_reason() to be empty, and a labelled voxel in the part. Errors: kInput E_LIMIT for more than
/// 65535 classes; kOutput.
///   part  of segment_parts(), or whole_segmentation()
void write_segmentation(const std::filesystem::path& path, const SeriesLabels& labels, const SegmentTerms& terms,
                        const SegmentPart& part);
inline void write_segmentation(const std::filesystem::path& path, const SeriesLabels& labels,
                               const SegmentTerms& terms) {
  write_segmentation(path, labels, terms, whole_segmentation(labels.classes.size()));
}

}  // namespace voxshard
