// The contents of a folder of DICOM studies: image series and files of labels, in folders or in archives, one for each
// study.
//
//   const StudyFiles found = find_studies("studies");
//   found.series[0].address                  // "studies/a/#series=ct_77dddbdf335a", "studies/b.zip/#series=ct_0c1a..."
//   found.labels[0].structures.series_uid    // of the image that its labels refer to
//
// Called by study_tree.h.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/dicom/dicom_series.h"
#include "io/dicom/structures.h"
#include "io/volume/volume_limits.h"

namespace voxshard {

/// A series, as a volume is named; its own paths may be those of files that are gone.
struct StudySeries {
  DicomSeries series;
  std::filesystem::path address;
};

/// A segmentation or structure set: a file, or an address in an archive that OpenedFile opens.
struct StudyLabels {
  std::filesystem::path address;
  StructureFile structures;
};

/// A file of labels or an archive that cannot be used; the reason names no file.
struct StudyProblem {
  std::filesystem::path address;
  std::string code, reason;
};

struct StudyFiles {
  std::vector<StudySeries> series;
  std::vector<StudyLabels> labels;
  std::vector<StudyProblem> problems;
  std::map<std::string, std::int64_t> left_out;  // other files by what they are; labels are not among them
};

/// Reads the headers of all files below a folder and of those in its archives, no pixel. Errors: kInput as
/// find_dicom_series; kOutput when archives cannot be unpacked.
StudyFiles find_studies(const std::filesystem::path& folder, const VolumeLimits& limits = {});

/// True for a folder with a DICOM file or an archive in it or in a folder in it.
bool may_hold_studies(const std::filesystem::path& folder);

}  // namespace voxshard
