// The file names of images that were cut out of other images. `convert` writes the names; code that splits a data set
// reads them.
//
//   crop_name("BloodImage_00001", 12, 3)                              // "BloodImage_00001_00000012_003.png"
//   image_of_crop("WBC/BloodImage_00001_00000012_003.png")          // "BloodImage_00001_00000012"
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace voxshard {

/// Returns the name of the crop of box `box` of image `image` of a data set, whose file has this stem.
std::string crop_name(const std::string& stem, std::size_t image, std::size_t box);

/// Returns the part of the name that all crops of an image share, whatever their folder; none for a file that is not
/// named like a crop. An image number of ten million or more is taken for a date, so the file is no crop.
std::optional<std::string> image_of_crop(const std::filesystem::path& file);

}  // namespace voxshard
