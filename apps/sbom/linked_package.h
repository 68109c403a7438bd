// A row of the header that the build makes of the libraries that the program links (apps/sbom/linked.cmake).
#pragma once

namespace voxshard {

/// A package of the system that built the program: "libnettle8", "3.8.1-2", "nettle", "3.8.1-2", "amd64",
/// "LGPL-2.1+", "libnettle.so.8", "", false. Without dpkg `package` and `source` are the name of the library, the rest
/// is empty.
struct LinkedPackage {
  const char *package, *version, *source, *source_version, *architecture;
  const char* licence;  // of its files in general, in Debian's short names; empty where it is not known
  const char* linked;   // names of its libraries that the program links or loads, between blanks
  const char* loaded;   // names of its libraries that only other libraries load
  bool compiled_in;     // true: all headers, which are compiled into the program
};

}  // namespace voxshard
