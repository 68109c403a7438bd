// Writing NIfTI-1 with ITK's NiftiImageIO.
//
//   write_nifti("out.nii.gz", organs, DiskType::kU8);
#include <itkMetaDataObject.h>
#include <itkNiftiImageIO.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "io/files/atomic_file.h"
#include "io/volume/nifti.h"
#include "io/volume/nifti_header.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Component = itk::IOComponentEnum;

struct DiskRow {
  Component component;
  std::int64_t bytes;
  double low, high;
};

DiskRow disk_row(DiskType type) {
  switch (type) {
    case DiskType::kU8:
      return {Component::UCHAR, 1, 0, 255};
    case DiskType::kI16:
      return {Component::SHORT, 2, -32768, 32767};
    case DiskType::kU16:
      return {Component::USHORT, 2, 0, 65535};
    case DiskType::kI32:
      return {Component::INT, 4, -2147483648.0, 2147483647.0};
    case DiskType::kF32:
      break;
  }
  return {Component::FLOAT, 4, -std::numeric_limits<float>::max(), std::numeric_limits<float>::max()};
}

void put(char* at, DiskType type, double value) {
  auto as = [&](auto v) { std::memcpy(at, &v, sizeof v); };
  switch (type) {
    case DiskType::kU8:
      return as(static_cast<std::uint8_t>(value));
    case DiskType::kI16:
      return as(static_cast<std::int16_t>(value));
    case DiskType::kU16:
      return as(static_cast<std::uint16_t>(value));
    case DiskType::kI32:
      return as(static_cast<std::int32_t>(value));
    case DiskType::kF32:
      return as(static_cast<float>(value));
  }
}

std::unique_ptr<char[]> disk_bytes(const fs::path& path, const Volume& volume, DiskType type) {
  const DiskRow row = disk_row(type);
  const TensorView view = volume.voxels.view();
  const std::int64_t count = volume.voxels.count();
  auto bytes = std::make_unique<char[]>(static_cast<std::size_t>(count * row.bytes));
  for (std::int64_t i = 0; i < count; ++i) {
    double value = load(view, i);
    if (type != DiskType::kF32) value = std::nearbyint(value);
    if (!(value >= row.low && value <= row.high))
      throw output_error(path, "the voxel at " + voxel_name(volume.geometry, i) + " does not fit the type on disk",
                         "choose a wider type");
    put(bytes.get() + i * row.bytes, type, value);
  }
  return bytes;
}

void write_with_itk(const fs::path& path, const Geometry& g, Component component, const char* bytes) {
  auto io = itk::NiftiImageIO::New();
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
  io->SetComponentType(component);
  auto& header = io->GetMetaDataDictionary();  // without these ITK 5.2 writes sform code 2
  itk::EncapsulateMetaData<std::string>(header, "qform_code_name", "NIFTI_XFORM_SCANNER_ANAT");
  itk::EncapsulateMetaData<std::string>(header, "sform_code_name", "NIFTI_XFORM_SCANNER_ANAT");
  io->Write(bytes);
}

}  // namespace

void write_nifti(const fs::path& path, const Volume& volume, DiskType type) {
  for (auto extent : volume.geometry.size)
    if (extent < 1 || extent > 32767)
      throw output_error(path, "NIfTI-1 holds 1 to 32767 voxels an axis, not " + std::to_string(extent),
                         "crop or resample it");
  const auto bytes = disk_bytes(path, volume, type);
  const fs::path temporary = temporary_path(path);
  try {
    write_with_itk(temporary, volume.geometry, disk_row(type).component, bytes.get());
    require_promised_bytes(read_nifti_header(temporary), temporary);  // ITK does not report a full disk
  } catch (const std::exception&) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw output_error(path, "the file did not reach the disk whole",
                       "check that the folder exists, is writable and has space");
  }
  commit_file(temporary, path);
}

}  // namespace voxshard
