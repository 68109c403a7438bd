#include "io/dicom/structure_contours.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dctk.h>

#include <algorithm>

#include "io/dicom/dicom_file.h"
#include "io/dicom/dicom_values.h"
#include "io/files/file_error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMostContourBytes = std::uint32_t{64} << 20;

Error bad_contour(const fs::path& path, const std::string& what) {
  return input_error(path, "has a contour " + what, "export it again");
}

Error too_many(const fs::path& path, const std::string& what) {
  return input_error(path, "has more than " + what, "export the structures that are needed", "E_LIMIT");
}

/// Parses "x\y\z\x\y\z...".
Contour points_in(std::string_view text, std::int64_t most_points, const fs::path& path) {
  Contour points;
  std::array<double, 3> point{};
  std::size_t axis = 0;
  const char *at = text.data(), *end = text.data() + text.size();
  const auto skip_padding = [&] {
    while (at < end && (*at == ' ' || *at == '\0')) ++at;
  };
  for (skip_padding(); at < end;) {
    if (*at == '+') ++at;
    double& value = point[axis];
    const auto [after, error] = std::from_chars(at, end, value);
    if (error != std::errc()) throw bad_contour(path, "with coordinates that are no numbers");
    if (!(std::abs(value) <= kMostCoordinateMm))
      throw bad_contour(path, "with coordinates beyond " + std::to_string(static_cast<int>(kMostCoordinateMm)) + " mm");
    at = after;
    skip_padding();
    if (axis = (axis + 1) % 3; axis == 0) {
      if (std::ssize(points) == most_points)
        throw too_many(path, std::to_string(kMostContourPoints) + " points in its contours");
      points.push_back(point);
    }
    if (at == end) break;
    if (*at++ != '\\' || at == end) throw bad_contour(path, "with coordinates that are no numbers");
    skip_padding();
  }
  if (axis != 0) throw bad_contour(path, "whose coordinates are not three to a point");
  return points;
}

/// The bounds of a file, used up contour by contour.
struct Left {
  std::int64_t contours = kMostContours, points = kMostContourPoints;
};

void add_contour(const DicomValues& v, const fs::path& path, Left& left, StructureContours& to) {
  if (left.contours-- == 0) throw too_many(path, std::to_string(kMostContours) + " contours");
  if (!encloses_voxels(v)) return;
  Contour contour;
  const bool read = v.in_long_text(DCM_ContourData, kMostContourBytes,
                                   [&](std::string_view text) { contour = points_in(text, left.points, path); });
  if (!read) throw too_many(path, bytes_text(kMostContourBytes) + " of coordinates in a contour");
  if (v.number(DCM_NumberOfContourPoints).value_or(-1) != static_cast<double>(contour.size()))
    throw bad_contour(path, "whose coordinates are not as many as it says");
  left.points -= std::ssize(contour);
  to.contours.push_back(std::move(contour));
}

}  // namespace

bool encloses_voxels(const DicomValues& contour) {
  const std::string type = contour.text(DCM_ContourGeometricType);
  const auto points = contour.number(DCM_NumberOfContourPoints);
  return (type == "CLOSED_PLANAR" || type == "CLOSEDPLANAR_XOR") && points.value_or(3) >= 3;
}

int structure_number(const DicomValues& item, const DcmTagKey& tag, const fs::path& path) {
  const auto number = item.number(tag);
  if (!number || *number != std::floor(*number) || std::abs(*number) > 2147483647.0)
    throw input_error(path, "has a structure without a number", "export it again");
  return static_cast<int>(*number);
}

std::vector<StructureContours> read_structure_contours(const fs::path& path, const std::set<int>& numbers) {
  const OpenDicom open = open_dicom(path, kMostDicomText);
  if (!open.whole) throw input_error(path, "is truncated or damaged", "copy or export it again");
  std::vector<StructureContours> all;
  Left left;
  DicomValues(*open.file->getDataset()).in_each_item(DCM_ROIContourSequence, [&](const DicomValues& roi) {
    const int number = structure_number(roi, DCM_ReferencedROINumber, path);
    if (!numbers.contains(number)) return true;
    const bool twice = std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.number == number; });
    if (twice)
      throw input_error(path, "has contours of the structure " + std::to_string(number) + " in two places",
                        "export it again", "E_DUPLICATE");
    all.push_back({.number = number});
    roi.in_each_item(DCM_ContourSequence, [&](const DicomValues& contour) {
      add_contour(contour, path, left, all.back());
      return true;
    });
    return true;
  });
  return all;
}

}  // namespace voxshard
