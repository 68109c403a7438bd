// The third-party libraries that voxshard itself calls: licence and use by Debian source package. apps/README.md holds
// the table; licences are those of the packages' /usr/share/doc/*/copyright for the parts that are linked.
//
//   library_row("gcc-12")->licence     // "GPL-3.0-or-later WITH GCC-exception-3.1": the row of "gcc"
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace voxshard {

struct LibraryRow {
  std::string_view source;  // Debian source package, without a version at its end
  const char* licence;      // SPDX licence expression
  const char* use;          // what voxshard takes it for
};

/// Returns the row of a Debian source package; none for packages that only other libraries load.
std::optional<LibraryRow> library_row(std::string_view source);

/// Returns Debian's short names of licences ("LGPL-2+ and Expat") as an SPDX expression ("LGPL-2.0-or-later AND MIT");
/// none where one of them has no name in the list of SPDX, or where commas or exceptions say more.
std::optional<std::string> spdx_of_debian(std::string_view licence);

/// A licence of the table that is not in the list of SPDX, with a text that explains it.
inline constexpr const char* kOwnLicence = "LicenseRef-liblzma";
inline constexpr const char* kOwnLicenceText =
    "liblzma of XZ Utils: in the public domain up to version 5.4, under 0BSD from version 5.6 on.";

}  // namespace voxshard
