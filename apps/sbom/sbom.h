// The software bill of materials: what the program consists of, for the people who let it into a hospital. The rows
// come from the build (linked.cmake): names and versions are those of the packages of the system that linked the
// program.
//
//   spdx_document()            // voxshard --sbom: SPDX 2.3
//   third_party()              // voxshard help third-party
//
// The rule: every library that the program's link line names or that it loads by itself (OpenCV's codecs), every
// library that is compiled in from headers, and every library that these load in turn on the system of the build (ldd).
// Plugins that a library opens by itself while it runs (Open MPI's transports) are not in it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace voxshard {

/// A package of the system with libraries of the program.
struct ThirdParty {
  std::string package, version;             // "libnettle8", "3.8.1-2"; without a package manager the version is empty
  std::string source, source_version;       // Debian source package
  std::string architecture;                 // "amd64"
  std::string licence;                      // SPDX expression; "NOASSERTION" where none is known
  std::string use;                          // what voxshard takes it for; empty: other libraries take it
  std::vector<std::string> linked, loaded;  // names of libraries: of the program, and those that only these load
  bool compiled_in = false;                 // all headers
  bool direct() const { return compiled_in || !linked.empty(); }
};

/// Returns all packages: first those that the program links or compiles in, each part by name.
std::vector<ThirdParty> third_party();

/// Returns the SPDX 2.3 document. It is the same for the same program and libraries: its namespace ends with the
/// SHA-256 of the rest, and the time of its creation is that of SOURCE_DATE_EPOCH in the build, else the beginning of
/// 1970.
nlohmann::ordered_json spdx_document();

}  // namespace voxshard
