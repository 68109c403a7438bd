#include "apps/sbom/licences.h"

namespace voxshard {
namespace {

constexpr LibraryRow kLibraries[] = {
    {"cli11", "BSD-3-Clause", "options of the command line"},
    {"dcmtk", "BSD-3-Clause AND Apache-2.0", "DICOM"},
    {"ffmpeg", "GPL-2.0-or-later", "video; GPL for parts that Debian builds in"},
    {"gcc", "GPL-3.0-or-later WITH GCC-exception-3.1", "C++ library, OpenMP"},
    {"glibc", "LGPL-2.1-or-later", "C library"},
    {"highway", "Apache-2.0", "vector instructions"},
    {"insighttoolkit5", "Apache-2.0", "volumes: writing, resampling"},
    {"libarchive", "BSD-2-Clause", "zip and tar"},
    {"libdeflate", "MIT", "gzip, written"},
    {"libexif", "LGPL-2.1-or-later", "orientation of pictures"},
    {"libisal", "BSD-3-Clause", "gzip, read; checksums"},
    {"nettle", "LGPL-3.0-or-later OR GPL-2.0-or-later", "SHA-256, HMAC, base64"},
    {"nlohmann-json3", "MIT", "JSON"},
    {"onednn", "Apache-2.0", "convolutions, matrix products"},
    {"opencv", "Apache-2.0", "pictures: reading, writing, resizing"},
    {"openjpeg2", "BSD-2-Clause", "JPEG 2000 of DICOM"},
    {"openmpi", "BSD-3-Clause-Open-MPI", "ranks"},
    {"protobuf", "BSD-3-Clause", "TFRecord, TensorBoard"},
    {"pugixml", "MIT", "XML of annotations"},
    {"tiff", "libtiff", "TIFF: sizes, pages"},
    {"tomlplusplus", "MIT", "TOML"},
    {"xxhash", "BSD-2-Clause", "hashes of content"},
    {"xz-utils", kOwnLicence, "xz in archives"},
    {"yaml-cpp", "MIT", "YAML"},
    {"zlib", "Zlib", "deflated streams"},
};

}  // namespace

std::optional<LibraryRow> library_row(std::string_view source) {
  const std::size_t dash = source.rfind('-');
  const bool numbered = dash != std::string_view::npos && dash + 1 < source.size() &&
                        source.find_first_not_of("0123456789", dash + 1) == std::string_view::npos;
  const std::string_view plain = numbered ? source.substr(0, dash) : source;
  for (const LibraryRow& row : kLibraries)
    if (row.source == plain) return row;
  return std::nullopt;
}

}  // namespace voxshard
