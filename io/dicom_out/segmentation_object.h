// A DICOM segmentation (binary, one segment a class) made of a label map on the slices of its series, through DCMTK's
// dcmseg.
//
//   const SegmentationUids uids = write_segmentation("case.seg.dcm", {source, labels, classes, key}, terms);
//   uids.instance                       // "2.25.1130...": what a report refers to
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "io/dicom_out/segment_terms.h"
#include "io/dicom_out/source_series.h"

namespace voxshard {

inline constexpr const char* kSegmentationClass = "1.2.840.10008.5.1.4.1.1.66.4";

/// The UIDs of the segmentation of a key, whether it is written or not.
struct SegmentationUids {
  std::string instance, series;
};
SegmentationUids segmentation_uids(const std::string& key);

/// Returns the number of frames: the slices of each class that hold a voxel of it. Files of more than 400 are left out
/// by some viewers.
std::int64_t segmentation_frames(const SeriesLabels& labels);

/// Returns the memory that writing so many frames takes beside the label map: the packed frames as they are made, as
/// DCMTK keeps them, and twice as it writes them, and the description of each.
std::int64_t segmentation_bytes(std::int64_t frames, std::int64_t rows, std::int64_t columns);

/// Writes a segmentation atomically. The number of a segment is its label; a class without a voxel is a segment without
/// frames. Frames have the position, orientation and spacing of their slices, and name them as their source. The same
/// labels, key and series give the same bytes. Requires unfit_reason() to be empty, and a labelled voxel.
/// Errors: kInput E_LIMIT for more than 65535 classes; kOutput.
void write_segmentation(const std::filesystem::path& path, const SeriesLabels& labels, const SegmentTerms& terms);

}  // namespace voxshard
