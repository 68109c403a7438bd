// Sorts DICOM files into series, each a volume: slices in the order of their positions along the normal of the image
// plane, and the grid that these positions make. Spacing comes from positions, never from SliceThickness or
// SpacingBetweenSlices, which are wrong in many files.
//
//   const auto found = find_dicom_series("study");           // walks the folder and reads headers
//   found->series[0].grid.spacing                             // {0.45, 0.45, 5}, mm
//   found->series[0].problem                                  // "lacks 2 slices between ..."; empty: a whole volume
//
// Called by io/volume/dicom.cc, which reads the voxels.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>

#include "io/dicom/dicom_header.h"

namespace voxshard {

struct DicomFile {
  std::filesystem::path path;
  std::size_t frames = 1;  // those of other series included
  std::int64_t bytes = 0;
  int bits = 0;            // of its stored values, as DicomHeader: files of one series may differ
  bool is_signed = false;  // likewise
};

/// The place of a slice in its file, and along the series.
struct DicomSlice {
  std::size_t file = 0;        // index in DicomSeries::files
  std::size_t frame = 0;       // in that file
  double along_mm = 0;         // position along the normal
  std::array<double, 3> at{};  // centre of the first voxel, mm, LPS
  double slope = 1, intercept = 0;
  std::optional<std::array<std::int64_t, 2>> padding = {};  // as in DicomHeader; none but of values in HU
  bool in_hu = false;                                       // of a CT with a slope, an intercept and no other unit
};

/// A regular grid in DICOM's LPS world, in mm; as Geometry in io/volume/geometry.h.
struct DicomGrid {
  std::array<std::int64_t, 3> size{};  // columns, rows, slices
  std::array<double, 3> origin{}, spacing{1, 1, 1};
  std::array<double, 9> direction{1, 0, 0, 0, 1, 0, 0, 0, 1};  // row-major; the columns are x, y, z
};

struct DicomSeries {
  std::string key;                 // 12 hexadecimal digits, from its UIDs and what its slices have in common
  std::filesystem::path folder;    // the deepest folder that holds all of its files
  std::vector<DicomFile> files;    // sorted by path
  std::vector<DicomSlice> slices;  // along z; without a usable order in the order of their files
  DicomHeader common;              // the header of the first slice
  DicomGrid grid;
  std::string problem;  // why it is no regular volume, with the numbers; else empty
  const char* problem_code = "E_READ";
  std::string warning;  // "W_UIDS ..." about a usable series, one or several (libcore/base/coded_text.h); else empty
  std::string unit;     // of the values of a PET, "SUV (g/ml)" or as stored; empty for others
  std::optional<std::array<double, 2>> acquired_s;  // when its first and last file were scanned; none: one does not say
  std::string beside;  // why it may lack slices that no distance shows: files beside it that cannot be read; or empty
};

struct DicomFolder {
  std::vector<DicomSeries> series;                     // by folder, then by key
  std::map<std::string, std::int64_t> left_out;        // files that hold no slice of a volume, by what they are
  std::vector<std::filesystem::path> structure_files;  // of them: segmentations and structure sets, by path
  std::set<std::string> labelled;                      // UIDs of the series that these refer to; never printed
  std::vector<std::pair<std::filesystem::path, std::string>> unreadable;  // and why
};

/// Sorts the slices of headers into series: one for each series UID, plane orientation, size, pixel spacing, kernel and
/// thickness, and for each acquisition, or else each temporal position, where slices would else coincide.
DicomFolder sort_dicom_series(std::vector<DicomHeader> headers);

/// The most files of a folder that are looked at, and the deepest folder within it.
struct DicomWalk {
  std::int64_t most_files = 1'000'000;
  int deepest = 16;
  std::int64_t* not_entered = nullptr;  // counts folders that are too deep or cannot be read; may be null
};
/// Calls body(file) for every file of a folder and the folders in it that is not hidden, until it returns false. Links
/// to folders are not followed. Errors: kInput as find_dicom_series.
void walk_folder(const std::filesystem::path& folder, const DicomWalk& walk,
                 const std::function<bool(const std::filesystem::directory_entry&)>& body);
/// Finds the series of a folder and the folders in it. Links to folders are not followed. Errors: kInput for a folder
/// that cannot be read or has more files than `walk` allows. The folders that were looked at last are kept in memory
/// for as long as names, sizes and times of their files stay the same. Threads: any number at once.
std::shared_ptr<const DicomFolder> find_dicom_series(const std::filesystem::path& folder, const DicomWalk& walk = {});
/// True when a folder, or a folder in it, holds a DICOM file. Cost: looks at files until it finds one.
bool holds_dicom(const std::filesystem::path& folder, const DicomWalk& walk = {});

}  // namespace voxshard
