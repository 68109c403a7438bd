// How images are called that were cut out of others: `convert` writes the names, and who divides a data set reads
// them.
//
//   crop_name("BloodImage_00001", 12, 3)                              // "BloodImage_00001_00000012_003.png"
//   image_of_crop("WBC/BloodImage_00001_00000012_003.png")          // "BloodImage_00001_00000012"
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace voxshard {

/// Of box `box` of image `image` of a data set, whose file has this stem.
std::string crop_name(const std::string& stem, std::size_t image, std::size_t box);

/// What all crops of an image have in common, whatever their folder; none for a file of another name. Numbers of ten
/// millions and more are taken for dates.
std::optional<std::string> image_of_crop(const std::filesystem::path& file);

}  // namespace voxshard
