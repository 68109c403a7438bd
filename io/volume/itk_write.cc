// ITK's NrrdImageIO and MetaImageIO as writers, without ITK's pipeline.
//
//   write_with_itk("a.nrrd", volume, DiskType::kI16, ItkFormat::kNrrd, check);
#include "io/volume/itk_write.h"

#include <itkMetaImageIO.h>
#include <itkNrrdImageIO.h>

#include <mutex>
#include <vector>

#include "io/files/atomic_file.h"
#include "io/files/open_file.h"
#include "io/volume/disk_voxels.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns the voxels as the file stores them, which ITK wants in one piece.
std::vector<char> disk_bytes(const fs::path& path, const Volume& volume, DiskType type) {
  std::vector<char> bytes;
  with_scalar(type, [&](auto zero) { bytes.reserve(static_cast<std::size_t>(volume.voxels.count()) * sizeof zero); });
  for_each_disk_piece(path, volume, type,
                      [&](const char* piece, std::int64_t count) { bytes.insert(bytes.end(), piece, piece + count); });
  return bytes;
}

/// Returns the IO class of a format, set to write. NrrdIO keeps its state in globals: see write_bytes().
itk::ImageIOBase::Pointer itk_io(ItkFormat format) {
  if (format == ItkFormat::kNrrd) {
    auto io = itk::NrrdImageIO::New();
    io->UseCompressionOn();
    return io.GetPointer();
  }
  auto io = itk::MetaImageIO::New();
  io->UseCompressionOn();
  return io.GetPointer();
}

void write_bytes(const fs::path& path, const Geometry& g, DiskType type, ItkFormat format, const char* bytes) {
  using enum itk::CommonEnums::IOComponent;
  constexpr itk::IOComponentEnum kComponents[] = {UCHAR, SHORT, USHORT, INT, FLOAT};  // in the order of DiskType
  const auto io = itk_io(format);
  io->SetFileName(path.string());
  io->SetNumberOfDimensions(3);
  itk::ImageIORegion region(3);
  for (unsigned a = 0; a < 3; ++a) {
    io->SetDimensions(a, static_cast<itk::SizeValueType>(g.size[a]));
    region.SetSize(a, static_cast<itk::SizeValueType>(g.size[a]));
    io->SetSpacing(a, g.spacing[a]);
    io->SetOrigin(a, g.origin[a]);
    io->SetDirection(a, std::vector<double>{g.direction[a], g.direction[3 + a], g.direction[6 + a]});
  }
  io->SetIORegion(region);
  io->SetPixelType(itk::IOPixelEnum::SCALAR);
  io->SetNumberOfComponents(1);
  io->SetComponentType(kComponents[static_cast<int>(type)]);
  if (format != ItkFormat::kNrrd) return io->Write(bytes);
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  io->Write(bytes);
}

}  // namespace

void write_with_itk(const fs::path& path, const Volume& volume, DiskType type, ItkFormat format,
                    const std::function<void(const fs::path&)>& check) {
  const std::vector<char> bytes = disk_bytes(path, volume, type);
  const fs::path temporary = make_temporary_file(path).path;  // ITK opens by name
  try {
    write_bytes(temporary, volume.geometry, type, format, bytes.data());
    check(temporary);
  } catch (const std::exception&) {
    discard_file(temporary);
    throw output_error(path, "the file did not reach the disk whole",
                       "check that the folder exists, is writable and has space");
  }
  commit_file(temporary, path);
}

}  // namespace voxshard
