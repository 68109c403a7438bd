// The image file formats that are read and written, with the endings of their names.
#pragma once

#include <array>
#include <string_view>

namespace voxshard {

struct ImageFileFormat {
  const char* name;                         // "JPEG"
  std::array<std::string_view, 2> endings;  // in lower case; the second may be empty
};

/// In the order of ImageFormat.
inline constexpr std::array<ImageFileFormat, 3> kImageFileFormats = {{
    {"PNG", {".png", ""}},
    {"JPEG", {".jpg", ".jpeg"}},
    {"TIFF", {".tif", ".tiff"}},
}};

}  // namespace voxshard
