// File name endings of videos; FFmpeg determines the actual format from the contents.
#pragma once

#include <array>
#include <string_view>

namespace voxshard {

/// Endings of files that are read, in lower case.
inline constexpr std::array<std::string_view, 29> kVideoEndings = {
    ".mp4", ".m4v",  ".mov", ".mkv",   ".webm", ".avi",  ".mpg", ".mpeg", ".mpe", ".ts",
    ".mts", ".m2ts", ".wmv", ".asf",   ".flv",  ".ogv",  ".3gp", ".3g2",  ".mxf", ".y4m",
    ".nut", ".ivf",  ".vob", ".mjpeg", ".mjpg", ".h264", ".264", ".h265", ".hevc"};

/// Endings of files that are written.
inline constexpr std::array<std::string_view, 3> kWrittenVideoEndings = {".mp4", ".mov", ".mkv"};

}  // namespace voxshard
