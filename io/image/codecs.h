// OpenCV's readers and writers of pictures. Its library for them is loaded with the first picture, not with the
// program: it brings some 70 others (GDAL, poppler and theirs), which would take more than half of the start of every
// command.
//
//   const cv::Mat bgr = decoded_picture(bytes);  // blue first
//   const std::string file = encoded_picture(".png", bgr);
#pragma once

#include <string>

namespace cv {
class Mat;
}

namespace voxshard {

/// Returns the decoded image: upright, blue first, three channels of 8 or 16 bits; empty when it cannot be decoded.
/// Errors: kConfig where the library cannot be loaded; std::bad_alloc.   Threads: any number at once.
cv::Mat decoded_picture(const std::string& bytes);

/// Returns an image of 8 bits, blue first, as the bytes of a file with this ending (".png", ".jpg", ".tif"); JPEG with
/// quality 95. Errors: kConfig where the library cannot be loaded.   Threads: any number at once.
std::string encoded_picture(const std::string& ending, const cv::Mat& bgr);

}  // namespace voxshard
