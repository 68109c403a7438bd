// Writes volumes through ITK's image IO classes: whole or not at all, and read back before they get their name, because
// ITK reports no full disk. Called by the formats that ITK writes.
//
//   write_with_itk("out.mha", volume, DiskType::kU8, ItkFormat::kMetaImage, check);
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "io/volume/volume.h"

namespace voxshard {

enum class ItkFormat : std::uint8_t { kNrrd, kMetaImage };

/// Writes atomically and compressed.
///   check  reads the written file; throws when it is not whole
/// Errors: kOutput as write_volume (volume.h). Threads: any number at once.
void write_with_itk(const std::filesystem::path& path, const Volume& volume, DiskType type, ItkFormat format,
                    const std::function<void(const std::filesystem::path&)>& check);

}  // namespace voxshard
