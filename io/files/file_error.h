// Errors about a file, in one form.
//
//   throw input_error(path, "is empty (0 bytes)", "copy it again");
#pragma once

#include <filesystem>
#include <string>

#include "libcore/base/error.h"

namespace voxshard {

/// "[input] PATH: what; action".
inline Error input_error(const std::filesystem::path& path, const std::string& what, const std::string& action,
                         const char* code = default_code(ErrorKind::kInput)) {
  return Error(ErrorKind::kInput, code, "[input] " + path.string() + ": " + what + "; " + action);
}

/// "[output] cannot write PATH: what; action".
inline Error output_error(const std::filesystem::path& path, const std::string& what, const std::string& action) {
  return Error(ErrorKind::kOutput, "[output] cannot write " + path.string() + ": " + what + "; " + action);
}

}  // namespace voxshard
