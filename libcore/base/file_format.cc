#include "libcore/base/file_format.h"

#include <algorithm>

namespace voxshard {
namespace {

/// The file may come from elsewhere: control characters and long texts do not get into messages.
bool can_be_shown(std::string_view format) {
  constexpr std::size_t kMostBytes = 40;
  return format.size() <= kMostBytes &&
         std::ranges::all_of(format, [](char c) { return c >= ' ' && c <= '~' && c != '"'; });
}

}  // namespace

std::string format_problem(std::string_view format) {
  if (format == kFileFormat) return "";
  const std::string found = format.empty()         ? "names no format, as files of older versions"
                            : can_be_shown(format) ? "has the format \"" + std::string(format) + "\""
                                                   : "has an unknown format";
  return found + "; this program reads \"" + std::string(kFileFormat) + "\" alone";
}

}  // namespace voxshard
