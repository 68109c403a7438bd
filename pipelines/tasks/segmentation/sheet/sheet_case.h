// A predicted case of a contact sheet: the volume of each class, and slices of its three planes with the labels and,
// where there is one, the image in 8 bits.
//
//   Json one = sheet_case({.id = "liver_03", .labels = "pred/liver_03.nii.gz"}, names, {.planes = 24, .side = 128});
//   one["volumes"];        // [{"class": "liver", "voxels": 215342, "ml": 1453.2}, ...]
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "io/volume/volume.h"

namespace voxshard {

struct SheetCase {
  std::string id;
  std::filesystem::path labels;
  std::filesystem::path image;  // empty: there is none
};

/// The most planes along each axis, and samples along a row or column of a plane; no planes: no slices.
struct SheetLimits {
  std::int64_t planes = 24, side = 128;
};

/// Returns the most bytes of a case of this size within these limits, as text.
std::int64_t most_bytes(const SheetLimits& limits, const Shape& size);

/// Returns {"case", "size", "spacing_mm", "volumes", "image", "low", "high", "planes"}: sizes and spacing along x, y, z
/// of LPS; ml to the last digit of voxels times spacing; "image" null or the code of why it is not shown (E_GEOMETRY:
/// it is on another grid); planes as planes_json() has them, and "start", the one with the most labelled voxels. They
/// are evenly spaced between the first and the last labelled one. Image bytes 0 to 255 are the values `low` to `high`,
/// the 0.5 and 99.5 percentiles of the samples.
///   names  of the classes; [0] is the background
/// Errors: kInput when the label map cannot be read.   Cost: one volume at a time is in memory, and a turned copy where
/// its axes are not those of LPS.
nlohmann::ordered_json sheet_case(const SheetCase& item, const std::vector<std::string>& names,
                                  const SheetLimits& limits, const VolumeFormats& formats);

}  // namespace voxshard
