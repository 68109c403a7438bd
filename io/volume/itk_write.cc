// ITK's NiftiImageIO, NrrdImageIO and MetaImageIO as writers, without ITK's pipeline.
//
//   write_with_itk("a.nii.gz", volume, DiskType::kI16, ItkFormat::kNifti, check);
#include "io/volume/itk_write.h"

#include <itkMetaDataObject.h>
#include <itkMetaImageIO.h>
#include <itkNiftiImageIO.h>
#include <itkNrrdImageIO.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "io/files/atomic_file.h"
#include "io/files/open_file.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

Error does_not_fit(const fs::path& path, const Volume& volume, std::int64_t index) {
  return output_error(path, "the voxel at " + voxel_name(volume.geometry, index) + " does not fit the type on disk",
                      "choose a wider type");
}

std::vector<char> disk_bytes(const fs::path& path, const Volume& volume, DiskType type) {
  std::vector<char> bytes;
  const auto convert = [&](const auto* values, auto zero) {
    using T = decltype(zero);
    constexpr bool kRounds = std::is_integral_v<T> && std::is_floating_point_v<std::decay_t<decltype(*values)>>;
    bytes.resize(static_cast<std::size_t>(volume.voxels.count()) * sizeof(T));
    for (std::int64_t i = 0; i < volume.voxels.count(); ++i) {
      const auto stored_as = static_cast<double>(values[i]);
      const double value = kRounds ? std::nearbyint(stored_as) : stored_as;
      if (!(value >= std::numeric_limits<T>::lowest() && value <= std::numeric_limits<T>::max()))
        throw does_not_fit(path, volume, i);
      const T stored = static_cast<T>(value);
      std::memcpy(bytes.data() + i * static_cast<std::int64_t>(sizeof(T)), &stored, sizeof(T));
    }
  };
  const DType dtype = volume.voxels.dtype();
  ensure(dtype == DType::kF32 || dtype == DType::kI32 || dtype == DType::kU8, "images are f32, and labels i32 or u8");
  with_scalar(type, [&](auto zero) {
    if (dtype == DType::kF32)
      convert(volume.voxels.as<float>(), zero);
    else if (dtype == DType::kI32)
      convert(volume.voxels.as<std::int32_t>(), zero);
    else
      convert(volume.voxels.as<std::uint8_t>(), zero);
  });
  return bytes;
}

/// Returns the voxels in memory when the file stores the same bytes; null when they have to be converted. Errors:
/// kOutput for a voxel that is not finite.
const char* bytes_as_they_are(const fs::path& path, const Volume& volume, DiskType type) {
  if (volume.voxels.dtype() == DType::kU8 && type == DiskType::kU8)
    return reinterpret_cast<const char*>(volume.voxels.data());
  if (volume.voxels.dtype() != DType::kF32 || type != DiskType::kF32) return nullptr;
  const auto* values = volume.voxels.as<float>();
  const std::int64_t n = volume.voxels.count();
  std::int64_t bad = 0;
  for (std::int64_t i = 0; i < n; ++i) bad += !std::isfinite(values[i]);
  if (bad > 0)
    throw does_not_fit(path, volume,
                       std::find_if(values, values + n, [](float x) { return !std::isfinite(x); }) - values);
  return reinterpret_cast<const char*>(values);
}

/// Returns the IO class of a format, set to write. NrrdIO keeps its state in globals: see write_bytes().
itk::ImageIOBase::Pointer itk_io(ItkFormat format) {
  if (format == ItkFormat::kNrrd) {
    auto io = itk::NrrdImageIO::New();
    io->UseCompressionOn();
    return io.GetPointer();
  }
  if (format == ItkFormat::kMetaImage) {
    auto io = itk::MetaImageIO::New();
    io->UseCompressionOn();
    return io.GetPointer();
  }
  auto io = itk::NiftiImageIO::New();
  auto& header = io->GetMetaDataDictionary();  // without these ITK 5.2 writes sform code 2
  itk::EncapsulateMetaData<std::string>(header, "qform_code_name", "NIFTI_XFORM_SCANNER_ANAT");
  itk::EncapsulateMetaData<std::string>(header, "sform_code_name", "NIFTI_XFORM_SCANNER_ANAT");
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
  const char* in_place = bytes_as_they_are(path, volume, type);
  const auto made = in_place != nullptr ? std::vector<char>() : disk_bytes(path, volume, type);
  const fs::path temporary = make_temporary_file(path).path;  // ITK opens by name
  try {
    write_bytes(temporary, volume.geometry, type, format, in_place != nullptr ? in_place : made.data());
    check(temporary);
  } catch (const std::exception&) {
    discard_file(temporary);
    throw output_error(path, "the file did not reach the disk whole",
                       "check that the folder exists, is writable and has space");
  }
  commit_file(temporary, path);
}

}  // namespace voxshard
