// A contact sheet as a file: a PNG with a mark of this program, so that a sheet only ever replaces an earlier sheet.
//
//   require_output_file("overlay.png", sheet_file());
//   write_sheet("overlay.png", overlay_sheet(cases, {}));
#pragma once

#include <filesystem>

#include "io/output/output_file.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

/// Writes (H, W, 3) u8, red first, whole or not at all. Errors: kOutput.
void write_sheet(const std::filesystem::path& path, const Tensor& rgb);

/// Describes files of write_sheet, for require_output_file.
OutputKind sheet_file();

}  // namespace voxshard
