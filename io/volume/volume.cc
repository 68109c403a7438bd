// Reading and writing volumes with ITK's NiftiImageIO, without its pipeline: the header check (nifti_header.h) decides
// whether a file is read and where it lies, ITK delivers the scalars.
//
//   Volume ct = read_image("ct.nii.gz");
#include "io/volume/volume.h"

#include <itkMetaDataObject.h>
#include <itkNiftiImageIO.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "io/files/atomic_file.h"
#include "io/volume/nifti_header.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Component = itk::IOComponentEnum;

/// NiftiImageIO that also goes on where ITK 5.2 refuses a sform: the geometry is taken from our own header check.
class TolerantNiftiIO : public itk::NiftiImageIO {
 public:
  using Self = TolerantNiftiIO;
  using Pointer = itk::SmartPointer<Self>;
  itkFactorylessNewMacro(Self);

  void ReadImageInformation() override {
    try {
      NiftiImageIO::ReadImageInformation();
    } catch (const itk::ExceptionObject& e) {
      // Orientation is the last thing that ITK sets; scalar type and scaling are known by then.
      if (std::string(e.GetDescription()).find("orthonormal") == std::string::npos) throw;
    }
  }
};

/// The scalars as they are on disk, in this machine's byte order. Slope and intercept are left to us: ITK 5.2 adds the
/// intercept even where slope 0 says that there is no scaling, and scales in single precision.
std::unique_ptr<char[]> read_scalars(const fs::path& path, const NiftiHeader& header) {
  try {
    auto io = TolerantNiftiIO::New();
    io->SetFileName(path.string());
    io->ReadImageInformation();
    io->SetRescaleSlope(1);
    io->SetRescaleIntercept(0);
    const unsigned axes = io->GetNumberOfDimensions();
    std::int64_t bytes = header.bytes_per_voxel();
    itk::ImageIORegion region(axes);
    for (unsigned a = 0; a < axes; ++a) {
      region.SetSize(a, io->GetDimensions(a));
      bytes *= static_cast<std::int64_t>(io->GetDimensions(a));
    }
    ensure(bytes == header.voxel_bytes() && io->GetNumberOfComponents() == 1, "ITK sees the volume as we do");
    io->SetIORegion(region);
    auto scalars = std::make_unique<char[]>(static_cast<std::size_t>(bytes));
    io->Read(scalars.get());
    return scalars;
  } catch (const itk::ExceptionObject& e) {
    throw input_error(path, std::string("cannot be read by ITK (") + e.GetDescription() + ")", "export it again");
  }
}

/// Calls body(const T*) with the scalars' own type, by the codes of nifti1.h.
template <class Body>
void visit(int datatype, const char* p, Body body) {
  switch (datatype) {
    case 2:
      return body(reinterpret_cast<const std::uint8_t*>(p));
    case 4:
      return body(reinterpret_cast<const std::int16_t*>(p));
    case 8:
      return body(reinterpret_cast<const std::int32_t*>(p));
    case 16:
      return body(reinterpret_cast<const float*>(p));
    case 64:
      return body(reinterpret_cast<const double*>(p));
    case 256:
      return body(reinterpret_cast<const std::int8_t*>(p));
    case 512:
      return body(reinterpret_cast<const std::uint16_t*>(p));
    case 768:
      return body(reinterpret_cast<const std::uint32_t*>(p));
    case 1024:
      return body(reinterpret_cast<const std::int64_t*>(p));
    case 1280:
      return body(reinterpret_cast<const std::uint64_t*>(p));
    default:
      ensure(false, "a scalar type that the header check let through");
  }
}

/// Calls body(index, value) for every voxel with the header's scaling applied.
template <class Body>
void for_each_voxel(const NiftiHeader& h, const char* scalars, Body body) {
  const std::int64_t count = h.voxel_bytes() / h.bytes_per_voxel();
  const bool scaled = h.is_scaled();
  visit(h.datatype, scalars, [&](const auto* in) {
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = static_cast<double>(in[i]);
      body(i, scaled ? value * h.slope + h.intercept : value);
    }
  });
}

std::string voxel_name(const Geometry& g, std::int64_t index) {
  const std::int64_t x = index % g.size[0], y = index / g.size[0] % g.size[1], z = index / (g.size[0] * g.size[1]);
  return "(x, y, z) = (" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

/// Throws when there are bad voxels.
void refuse(const NonFinite& bad, const fs::path& path, const Geometry& g, const std::string& what,
            const std::string& action) {
  if (bad.count == 0) return;
  throw input_error(path, std::to_string(bad.count) + " voxels " + what + ", the first at " + voxel_name(g, bad.first),
                    action);
}

void count_bad(NonFinite& bad, std::int64_t index) {
  if (bad.count++ == 0) bad.first = index;
}

/// A file that passed all checks of its header and bytes.
struct CheckedFile {
  NiftiHeader header;
  Geometry geometry;
};

CheckedFile checked(const fs::path& path) {
  const NiftiHeader header = read_nifti_header(path);
  const std::string problem = volume_problem(header);
  if (!problem.empty()) {
    const auto cut = problem.rfind("; ");
    throw input_error(path, problem.substr(0, cut), problem.substr(cut + 2));
  }
  const NonFinite bad = require_promised_bytes(header, path, true);
  const Geometry geometry = place(header).geometry;
  refuse(bad, path, geometry, "are NaN or infinite",
         "replace them, for example by -1000 HU (air), or 0 in a label map");
  return {header, geometry};
}

}  // namespace

Volume read_image(const fs::path& path) {
  const auto [header, geometry] = checked(path);
  const auto scalars = read_scalars(path, header);
  Volume volume{geometry, Tensor(DType::kF32, geometry.shape())};
  float* out = volume.voxels.as<float>();
  NonFinite large;
  for_each_voxel(header, scalars.get(), [&](std::int64_t i, double value) {
    out[i] = static_cast<float>(value);
    if (!std::isfinite(out[i])) count_bad(large, i);
  });
  refuse(large, path, geometry, "are beyond 32-bit floats", "check the scaling in the header");
  return volume;
}

Volume read_label(const fs::path& path) {
  const auto [header, geometry] = checked(path);
  const auto scalars = read_scalars(path, header);
  Volume volume{geometry, Tensor(DType::kI32, geometry.shape())};
  std::int32_t* out = volume.voxels.as<std::int32_t>();
  NonFinite fractions, large;
  for_each_voxel(header, scalars.get(), [&](std::int64_t i, double value) {
    if (!(std::floor(value) == value)) {
      count_bad(fractions, i);
    } else if (!(std::abs(value) <= 2147483647.0)) {
      count_bad(large, i);
    } else {
      out[i] = static_cast<std::int32_t>(value);
    }
  });
  refuse(fractions, path, geometry, "are not integers",
         "a label map holds whole numbers: is this the image, or was it interpolated?");
  refuse(large, path, geometry, "are outside 32-bit integers",
         "a label map holds small whole numbers: is this the image?");
  return volume;
}

namespace {

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

Error output_error(const fs::path& path, const std::string& what, const std::string& action) {
  return Error(ErrorKind::kOutput, "[output] cannot write " + path.string() + ": " + what + "; " + action);
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

void write_volume(const fs::path& path, const Volume& volume, DiskType type) {
  const std::string name = path.filename().string();
  if (!name.ends_with(".nii") && !name.ends_with(".nii.gz"))
    throw output_error(path, "the name of a volume must end in .nii or .nii.gz", "rename the output");
  ensure(volume.voxels.shape() == volume.geometry.shape(), "a volume's voxels have the shape of its geometry");
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

DiskType smallest_disk_type(const Volume& volume) {
  if (volume.voxels.dtype() != DType::kI32) return DiskType::kF32;
  std::int32_t low = 0, high = 0;
  const std::int32_t* v = volume.voxels.as<std::int32_t>();
  for (std::int64_t i = 0; i < volume.voxels.count(); ++i) low = std::min(low, v[i]), high = std::max(high, v[i]);
  for (DiskType type : {DiskType::kU8, DiskType::kI16, DiskType::kU16})
    if (low >= disk_row(type).low && high <= disk_row(type).high) return type;
  return DiskType::kI32;
}

}  // namespace voxshard
