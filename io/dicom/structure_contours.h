// The contours of an RT structure set, as the file has them.
//
//   for (const StructureContours& roi : read_structure_contours("RS.dcm", {4, 7}))
//     roi.contours[0][0]                       // {-12.5, 80.25, 40}, mm in DICOM's LPS world
//
// Called by io/structures, which fills them.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <set>
#include <vector>

class DcmTagKey;

namespace voxshard {

class DicomValues;

using Contour = std::vector<std::array<double, 3>>;  // closed: the last point is joined to the first

struct StructureContours {
  int number = 0;  // ROINumber
  std::vector<Contour> contours;
};

/// The most contours and points that are read of a file, and the largest coordinate in mm.
inline constexpr std::int64_t kMostContours = 1'000'000, kMostContourPoints = std::int64_t{1} << 25;
inline constexpr double kMostCoordinateMm = 1e6;

/// Returns the closed planar contours of chosen structures, in the order of the file; contours of less than three
/// points are left out, as are points and open contours. Errors: kInput for a file that is cut, coordinates that are no
/// numbers, of more than kMostCoordinateMm or not three to a point; E_LIMIT for more contours or points than are read.
std::vector<StructureContours> read_structure_contours(const std::filesystem::path& path, const std::set<int>& numbers);

// Helpers for the list of structures.
/// True for a contour whose inside is part of the structure (DICOM PS3.3 C.8.8.6.1). Coordinates are not read.
bool encloses_voxels(const DicomValues& contour);
/// Returns ROINumber or a reference to it. Errors: kInput when it is no whole number.
int structure_number(const DicomValues& item, const DcmTagKey& tag, const std::filesystem::path& path);

}  // namespace voxshard
