// What the objects that are made of a DICOM series take over from it: patient, study and frame of reference by an
// allow-list, the slices with the UIDs of their files, and a date.
//
//   const SourceSeries source = read_source_series(series);
//   if (const std::string why = unfit_reason(source, labels.geometry); why.empty())
//     write_segmentation("liver.seg.dcm", {source, labels.voxels, classes, key}, terms);
//
// Headers are read again when an object is made: nothing of them is held while a case is predicted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/dicom/dicom_series.h"
#include "io/volume/geometry.h"
#include "libcore/tensor/tensor.h"

class DcmDataset;

namespace voxshard {

/// A file of the series, as other objects refer to it.
struct SourceInstance {
  std::string sop_class, uid;  // empty where the file has none
};

struct SourceSeries {
  DicomSeries series;
  std::vector<SourceInstance> instances;  // of series.files, in their order
  std::shared_ptr<DcmDataset> patient;    // what is kept of patient and study, with the character set of its texts
  std::string date = {}, time = {};       // of the series, else of its study: "20240131", "110000"
  std::string position_reference = {};    // of the frame of reference (0020,1040); may be empty
  bool is_utf8 = false;                   // texts may hold any character (ISO_IR 192)
};

/// Reads what is taken over from the first file of a series, and the UIDs of all its files. Cost: the headers of all
/// files. Errors: kInput for a file that cannot be opened any more.
SourceSeries read_source_series(DicomSeries series);

/// Returns which UIDs are empty that objects refer to: those of the study, the series, its frame of reference and its
/// files; empty: none.
std::string lacking_uids(const SourceSeries& source);

/// Returns why no object can be made on the slices of a series for labels on that grid; empty: it can. The labels must
/// lie on the slices voxel for voxel: those of a series that was resampled do not. No UID may lack (lacking_uids) or be
/// invalid.
std::string unfit_reason(const SourceSeries& source, const Geometry& labels);

/// A label map on the slices of a series.
struct SeriesLabels {
  const SourceSeries& source;
  const Tensor& labels;                     // (D, H, W) i32 on the grid of the slices: slice, row, column
  const std::vector<std::string>& classes;  // by label, the background first
  std::string key;                          // a hash of the labels and what they were made of: UIDs are made of it
};

/// The rectangle of a slice that holds the pixels of one class, and their number.
struct ClassExtent {
  std::int64_t first_row = 0, last_row = -1, first_column = 0, last_column = -1;  // inclusive
  std::int64_t pixels = 0;
};
/// Returns it for each label from 0 to `classes` - 1; other labels are passed over.
///   slice    (rows, columns) i32
std::vector<ClassExtent> class_extents(const std::int32_t* slice, std::int64_t rows, std::int64_t columns,
                                       std::size_t classes);

}  // namespace voxshard
