// DICOM segmentations as label maps: binary, fractional and label-map ones, each on the grid of its own frames.
//
//   const DicomSegmentation seg = place_segmentation(read_dicom_header("liver.seg.dcm"));
//   seg.header.segments                     // {{1, "Liver"}}
//   read_segmentation(seg, labels);         // 0, or the number of a segment
//
// Called by io/volume/dicom.cc.
#pragma once

#include <map>
#include <span>

#include "io/dicom/dicom_series.h"
#include "io/dicom/structures.h"

namespace voxshard {

struct DicomSegmentation {
  DicomHeader header;
  DicomGrid grid;
  std::vector<std::size_t> slice_of;  // the slice of each frame
  std::string problem;                // why it is no label map; else empty
  const char* problem_code = "E_READ";
  std::string warning;  // "W_OVERLAP ..."; else empty
};

/// Returns the grid of the frames. Slices between them that the file leaves out are empty.
DicomSegmentation place_segmentation(DicomHeader header);

struct SegmentReading {
  const std::map<int, int>* class_of_segment = nullptr;  // by number, others are left out; null: the numbers themselves
  double least_fraction = 0.5;                           // of a fractional segment's voxel that belongs to it
};

/// The facts to report about the voxels of a segmentation.
struct SegmentCounts {
  std::int64_t shared = 0;   // that several classes share
  std::int64_t partial = 0;  // of fractional segments, that neither fill a voxel nor leave it empty
};

/// Writes the label of each voxel: 0, or the class of its segment; of classes that share a voxel the highest.
///   labels  as many as grid.size says, x fastest, all 0
/// Errors: kInput as read_stored_pixels; for a type that is not known.
SegmentCounts read_segmentation(const DicomSegmentation& segmentation, std::span<float> labels,
                                const SegmentReading& reading = {});

}  // namespace voxshard
