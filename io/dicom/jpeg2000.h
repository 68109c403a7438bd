// Decodes JPEG 2000 through OpenJPEG.
//
//   const auto image = decode_jpeg2000(stream, [&](const Jpeg2000Image& header) { require_size_of(header); });
//   if (!image) throw ...;
//
// Called by dicom_codec.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace voxshard {

struct Jpeg2000Image {
  std::int64_t columns = 0, rows = 0;
  std::int64_t components = 0;
  int bits = 0;  // per sample of the first component
  bool is_signed = false;
  std::vector<std::int32_t> samples;  // of the first component, row by row
};

/// Returns the image of a codestream or of a JP2 file; none where it is damaged or cut, has a palette or thousands of
/// tiles. `check` is called with the header before memory is allocated for it, and throws where the image is not the
/// expected one.
std::optional<Jpeg2000Image> decode_jpeg2000(std::string_view file,
                                             const std::function<void(const Jpeg2000Image&)>& check);

}  // namespace voxshard
