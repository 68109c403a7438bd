// A read-only memory map of a plain .nii, so that each core reads its own box of a cached volume and nothing else.
// Supports only the files of our own cache: little-endian NIfTI, 3-D, uncompressed; u8, i16, i32 or f32; slope is
// applied.
//
//   MappedVolume map = MappedVolume::open("cache/liver_03.nii");
//   map.read_box({{0, 16, 0}, {48, 16, 64}}, view);   // (D, H, W) coordinates
#pragma once

#include <filesystem>
#include <memory>

#include "io/volume/volume.h"

namespace voxshard {

/// File name ending of volumes that can be mapped.
inline constexpr const char* kMappedEnding = ".nii";

class MappedVolume {
 public:
  /// Errors: kInput when the file is missing, compressed, truncated, or of another type.
  static MappedVolume open(const std::filesystem::path& path);
  ~MappedVolume();
  MappedVolume(MappedVolume&&) noexcept;
  MappedVolume& operator=(MappedVolume&&) noexcept;

  const Geometry& geometry() const;
  DiskType type() const;
  /// Returns the type that reading the whole file would give: f32 for kF32 or where a slope applies, else i32.
  DType dtype() const;
  Shape shape() const;  // (D, H, W)

  /// Copies the voxels of `box` (inside the volume, (D, H, W) coordinates) to `dst`, converted to its type.
  ///   dst  extents D x H x W of the box, or (1, D, H, W, 1); any strides; its own box.begin does not matter
  /// Threads: any number at once. Cost: only the pages of the box are read.
  void read_box(const Box& box, const TensorView& dst) const;
  /// Asks the system to read the planes of `box` ahead; returns at once.
  void will_need(const Box& box) const;
  /// Releases the pages that reads have mapped; later reads map them again.
  void forget() const;
  /// Bytes of one voxel in the file.
  std::int64_t voxel_bytes() const;
  /// Bytes of the file that reads have copied so far.
  std::int64_t copied_bytes() const;

 private:
  struct Impl;
  explicit MappedVolume(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace voxshard
