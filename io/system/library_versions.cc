#include <itkVersion.h>
#include <xxhash.h>
#include <zlib.h>

#include <toml++/toml.h>
#include <nlohmann/json.hpp>
#include <opencv2/core/version.hpp>

#include "io/system/machine.h"

extern "C" {
#include <libavutil/avutil.h>
}

namespace voxshard {

std::vector<std::pair<std::string, std::string>> io_library_versions() {
  auto dotted = [](int a, int b, int c) {
    return std::to_string(a) + "." + std::to_string(b) + "." + std::to_string(c);
  };
  return {
      {"ITK", itk::Version::GetITKVersion()},
      {"OpenCV", CV_VERSION},
      {"zlib", zlibVersion()},
      {"xxHash", dotted(XXH_VERSION_MAJOR, XXH_VERSION_MINOR, XXH_VERSION_RELEASE)},
      {"FFmpeg", av_version_info()},
      {"nlohmann-json", dotted(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
      {"toml++", dotted(TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH)}};
}

}  // namespace voxshard
