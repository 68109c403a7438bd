#include "apps/sbom/licences.h"

#include <sstream>

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

/// Short names of Debian's machine-readable copyright files, version 1.0, with the identifiers of SPDX.
struct ShortName {
  std::string_view debian;
  const char* spdx;
};
constexpr ShortName kShortNames[] = {
    {"Apache-2.0", "Apache-2.0"},
    {"BSD-2-Clause", "BSD-2-Clause"},
    {"BSD-2-clause", "BSD-2-Clause"},
    {"BSD-3-Clause", "BSD-3-Clause"},
    {"BSD-3-Clause-Clear", "BSD-3-Clause-Clear"},
    {"BSD-3-clause", "BSD-3-Clause"},
    {"CC0-1.0", "CC0-1.0"},
    {"Expat", "MIT"},
    {"FTL", "FTL"},
    {"GPL-2", "GPL-2.0-only"},
    {"GPL-2+", "GPL-2.0-or-later"},
    {"GPL-3", "GPL-3.0-only"},
    {"GPL-3+", "GPL-3.0-or-later"},
    {"ISC", "ISC"},
    {"LGPL-2", "LGPL-2.0-only"},
    {"LGPL-2+", "LGPL-2.0-or-later"},
    {"LGPL-2.1", "LGPL-2.1-only"},
    {"LGPL-2.1+", "LGPL-2.1-or-later"},
    {"LGPL-3", "LGPL-3.0-only"},
    {"LGPL-3+", "LGPL-3.0-or-later"},
    {"MIT", "MIT"},
    {"MPL-1.1", "MPL-1.1"},
    {"MPL-2.0", "MPL-2.0"},
    {"PostgreSQL", "PostgreSQL"},
    {"Qhull", "Qhull"},
    {"curl", "curl"},
    {"zlib", "Zlib"},
};

/// Returns the identifier of a short name, or the operator of "and" and "or"; none of any other word.
std::optional<std::string> spdx_word(std::string_view word, bool wants_name) {
  if (!wants_name && word == "and") return "AND";
  if (!wants_name) return word == "or" ? std::optional<std::string>("OR") : std::nullopt;
  for (const ShortName& row : kShortNames)
    if (row.debian == word) return row.spdx;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> spdx_of_debian(std::string_view licence) {
  std::istringstream words{std::string(licence)};
  std::string expression;
  bool wants_name = true;
  for (std::string word; words >> word; wants_name = !wants_name) {
    const auto spdx = spdx_word(word, wants_name);
    if (!spdx) return std::nullopt;
    expression += (expression.empty() ? "" : " ") + *spdx;
  }
  return wants_name ? std::nullopt : std::optional(expression);
}

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
