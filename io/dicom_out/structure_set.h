// An RT structure set made of a label map on the slices of its series: one region of interest a class, with closed
// planar contours along the edges of pixels (mask_contours.h).
//
//   write_structure_set("case.rtstruct.dcm", {source, labels, classes, key}, terms);
#pragma once

#include <cstdint>
#include <filesystem>

#include "io/dicom_out/segment_terms.h"
#include "io/dicom_out/source_series.h"

namespace voxshard {

inline constexpr const char* kStructureSetClass = "1.2.840.10008.5.1.4.1.1.481.3";

/// Returns the memory that writing a structure set takes beside the label map: the text of its points, the elements of
/// each contour, and the outlines of a slice while they are traced.
///   labels  (D, H, W) i32
///   frames  slices of a class that hold a voxel of it
/// Cost: a pass over the voxels.
std::int64_t structure_set_bytes(const Tensor& labels, std::int64_t frames);

/// Writes a structure set atomically. The number of a region is its label; a class without a voxel is a region without
/// contours. Filled by the even-odd rule over pixel centres, the contours of a region give back its voxels exactly. The
/// same labels, key and series give the same bytes. Requires unfit_reason() to be empty, and a labelled voxel.
/// Errors: kOutput.
void write_structure_set(const std::filesystem::path& path, const SeriesLabels& labels, const SegmentTerms& terms);

}  // namespace voxshard
