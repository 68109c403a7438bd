// Where a converted volume comes from and what was changed on the way, in a JSON beside it. It carries no name, UID or
// path of the source, unless the names are asked for.
//
//   ct.nii.gz  ct.json      {"program": "voxshard", "source": {"format": "DICOM", "files": 20, ...}, ...}
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "io/output/output_file.h"
#include "io/volume/volume.h"

namespace voxshard {

enum class Provenance { kNone, kWithoutNames, kWithNames };

/// Returns "ct.json" for "ct.nii.gz", in the same folder.
std::filesystem::path provenance_file(const std::filesystem::path& volume);

/// Describes such files for require_output_file.
OutputKind provenance_kind();

/// Returns program and version, format, number and hash of the source's files, the geometry and how it was found, what
/// was repaired or resampled with the numbers, and the scalar types.
///   kind  kWithNames: the path of the source too
/// Errors: kInput when a file cannot be read.
nlohmann::ordered_json provenance_of(const std::filesystem::path& source, const VolumeInfo& info, DiskType written,
                                     Provenance kind, const VolumeFormats& formats);

/// Writes that JSON beside a volume, unless `kind` is kNone. Errors: as above; kOutput.
void write_provenance(const std::filesystem::path& volume, const std::filesystem::path& source, const VolumeInfo& info,
                      DiskType written, Provenance kind, const VolumeFormats& formats);

}  // namespace voxshard
