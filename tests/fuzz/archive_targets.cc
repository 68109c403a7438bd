// Readers of zip and tar archives.
#include "io/volume/volume.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/archive_files.h"
#include "tests/io/dicom_files.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Lists an archive and reads its volumes, as the commands do.
void read_archive(const fs::path& path) {
  constexpr std::size_t kMost = 4;
  const FoundVolumes found = find_volumes(path);
  for (std::size_t i = 0; i < std::min(kMost, found.volumes.size()); ++i) {
    const fs::path& address = found.volumes[i].path;
    const VolumeInfo info = check_volume(address);
    if (!info.readable || voxels_of(info.geometry) > (std::int64_t{1} << 22)) continue;
    const Volume volume = read_image(address);
    ensure(same_geometry(info.geometry, volume.geometry, 0), "a volume lies where its header says");
  }
}

void archive_of_study(std::string_view bytes) {
  static std::uint64_t number = 0;  // what was unpacked of a file is kept while its name, size and time are the same
  const fs::path path = scratch_file("study" + std::to_string(number++) + ".zip", bytes);
  try {
    read_archive(path);
  } catch (const Error&) {
    fs::remove(path);
    throw;
  }
  fs::remove(path);
}

std::string small_nifti() {
  Volume volume{.geometry = {.size = {4, 3, 2}}, .voxels = Tensor(DType::kI32, {2, 3, 4})};
  for (std::int64_t i = 0; i < volume.voxels.count(); ++i)
    volume.voxels.as<std::int32_t>()[i] = static_cast<std::int32_t>(i % 3);
  const fs::path path = scratch_file("packed.nii", "");
  write_volume(path, volume, DiskType::kI16);
  return read_bytes(path);
}

/// Returns archives of every kind with a DICOM slice, a NIfTI file and entries that are passed over.
std::vector<std::string> archive_seeds() {
  const std::vector<PackedEntry> entries = {{"study/1.dcm", dicom_bytes({}, {1, 2, 3, 4})},
                                            {"a.nii", small_nifti()},
                                            {"notes.txt", "text"},
                                            {.name = "link", .link_to = "a.nii"}};
  std::vector<std::string> seeds;
  for (const char* kind : {"zip", "tar", "tar.gz", "tar.xz", "tar.zst", "tar.bz2"})
    seeds.push_back(archive_bytes(kind, entries));
  return seeds;
}

}  // namespace

std::vector<FuzzTarget> archive_targets() { return {{"archive", archive_seeds, archive_of_study}}; }

}  // namespace voxshard
