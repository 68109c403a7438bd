// NIfTI as a row of the table of formats. The header check (nifti_header.h) decides whether a file is read and gives
// its geometry; ITK's NiftiImageIO reads and writes the scalars, without ITK's pipeline.
//
//   nifti_format().read("ct.nii.gz", DType::kF32)
#include <itkMetaDataObject.h>
#include <itkNiftiImageIO.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>

#include "io/files/atomic_file.h"
#include "io/volume/nifti.h"
#include "io/volume/nifti_header.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// NiftiImageIO that continues where ITK 5.2 refuses an sform: the geometry comes from our own header check. One thread
/// at a time reads a header: ITK 5.2 keeps the name of the previous file in a static string.
class TolerantNiftiIO : public itk::NiftiImageIO {
 public:
  using Self = TolerantNiftiIO;
  using Pointer = itk::SmartPointer<Self>;
  itkFactorylessNewMacro(Self);

  void ReadImageInformation() override {
    static std::mutex one_at_a_time;
    const std::scoped_lock lock(one_at_a_time);
    try {
      NiftiImageIO::ReadImageInformation();
    } catch (const itk::ExceptionObject& e) {
      // Orientation is the last thing that ITK sets; scalar type and scaling are known by then.
      if (std::string(e.GetDescription()).find("orthonormal") == std::string::npos) throw;
    }
  }
};

/// Throws std::bad_alloc when `bytes` cannot be allocated: niftilib holds the scalars twice and does not report that a
/// read failed for lack of memory.
void require_memory(std::int64_t bytes) { std::vector<char>().reserve(static_cast<std::size_t>(bytes)); }

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
    require_memory(2 * header.voxel_bytes());
    throw input_error(path, std::string("cannot be read by ITK (") + e.GetDescription() + ")", "export it again");
  }
}

/// Calls body(const T*) with the scalars' own type, by the codes of nifti1.h.
template <class Body>
void visit(int datatype, const char* p, Body body) {
  const auto is = [&](int code, auto zero) {
    return code == datatype && (body(reinterpret_cast<const decltype(zero)*>(p)), true);
  };
  ensure(is(2, std::uint8_t{}) || is(4, std::int16_t{}) || is(8, std::int32_t{}) || is(16, 0.0F) || is(64, 0.0) ||
             is(256, std::int8_t{}) || is(512, std::uint16_t{}) || is(768, std::uint32_t{}) ||
             is(1024, std::int64_t{}) || is(1280, std::uint64_t{}),
         "a scalar type that the header check let through");
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

/// Throws when there are bad voxels.
void refuse(const NonFinite& bad, const fs::path& path, const Geometry& g, const std::string& what,
            const std::string& action, const char* code = "E_READ") {
  if (bad.count == 0) return;
  throw input_error(path, std::to_string(bad.count) + " voxels " + what + ", the first at " + voxel_name(g, bad.first),
                    action, code);
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
  if (!problem.empty()) throw Error(ErrorKind::kInput, "[input] " + path.string() + ": " + problem);
  const NonFinite bad = require_promised_bytes(header, path, true);
  const Geometry geometry = place(header).geometry;
  refuse(bad, path, geometry, "are NaN or infinite", "replace them, for example by -1000 HU (air), or 0 in a label map",
         "E_NAN");
  return {header, geometry};
}

Volume read_image_voxels(const fs::path& path) {
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

Volume read_label_voxels(const fs::path& path) {
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

/// Reads the header only; repairs are reported.
VolumeInfo read_info(const fs::path& path) {
  const NiftiHeader header = read_nifti_header(path);
  const NiftiPlacement placement = place(header);
  VolumeInfo info;
  info.geometry = placement.geometry;
  info.orientation = orientation_code(placement.geometry);
  info.scalar_type = header.scalar_type();
  info.components = header.components();
  info.dimensions = header.dimensions;
  if (header.is_scaled()) info.slope = header.slope, info.intercept = header.intercept;
  info.qform_code = header.qform_code;
  info.sform_code = header.sform_code;
  info.forms_gap_mm = placement.forms_gap_mm;
  info.forms_agree = placement.forms_gap_mm <= 0.1;
  info.shear_degrees = placement.shear_degrees;
  info.form_used = placement.form_used;
  info.nifti_version = header.version;
  info.big_endian = header.big_endian;
  info.voxel_bytes = header.voxel_bytes();
  std::error_code error;
  const auto size = fs::file_size(header.data_file, error);
  info.file_bytes = error ? 0 : static_cast<std::int64_t>(size);
  info.compressed = header.data_file.extension() == ".gz";
  if (!info.forms_agree)
    info.warning = "W_FORMS qform and sform differ by " + fixed_text(info.forms_gap_mm, 1) + " mm; the " +
                   info.form_used + " is used: check which of them is right";
  if (placement.form_used.starts_with("none"))
    info.warning =
        "W_FORMS neither qform nor sform says how it lies: its axes are taken for left, back and up; check the sides";
  info.problem = volume_problem(header);
  info.readable = info.problem.empty();
  return info;
}

Error does_not_fit(const fs::path& path, const Volume& volume, std::int64_t index) {
  return output_error(path, "the voxel at " + voxel_name(volume.geometry, index) + " does not fit the type on disk",
                      "choose a wider type");
}

std::vector<char> disk_bytes(const fs::path& path, const Volume& volume, DiskType type) {
  const TensorView view = volume.voxels.view();
  std::vector<char> bytes;
  with_scalar(type, [&](auto zero) {
    using T = decltype(zero);
    bytes.resize(static_cast<std::size_t>(volume.voxels.count()) * sizeof(T));
    for (std::int64_t i = 0; i < volume.voxels.count(); ++i) {
      const double value = std::is_integral_v<T> ? std::nearbyint(load(view, i)) : load(view, i);
      if (!(value >= std::numeric_limits<T>::lowest() && value <= std::numeric_limits<T>::max()))
        throw does_not_fit(path, volume, i);
      const T stored = static_cast<T>(value);
      std::memcpy(bytes.data() + i * static_cast<std::int64_t>(sizeof(T)), &stored, sizeof(T));
    }
  });
  return bytes;
}

/// Returns the voxels in memory when the file stores the same bytes; null when they have to be converted. Errors:
/// kOutput for a voxel that is not finite.
const char* bytes_as_they_are(const fs::path& path, const Volume& volume, DiskType type) {
  if (volume.voxels.dtype() != DType::kF32 || type != DiskType::kF32) return nullptr;
  const auto* values = volume.voxels.as<float>();
  for (std::int64_t i = 0; i < volume.voxels.count(); ++i)
    if (!std::isfinite(values[i])) throw does_not_fit(path, volume, i);
  return reinterpret_cast<const char*>(values);
}

void write_with_itk(const fs::path& path, const Geometry& g, DiskType type, const char* bytes) {
  using enum itk::CommonEnums::IOComponent;
  constexpr itk::IOComponentEnum kComponents[] = {UCHAR, SHORT, USHORT, INT, FLOAT};  // in the order of DiskType
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
  io->SetComponentType(kComponents[static_cast<int>(type)]);
  auto& header = io->GetMetaDataDictionary();  // without these ITK 5.2 writes sform code 2
  itk::EncapsulateMetaData<std::string>(header, "qform_code_name", "NIFTI_XFORM_SCANNER_ANAT");
  itk::EncapsulateMetaData<std::string>(header, "sform_code_name", "NIFTI_XFORM_SCANNER_ANAT");
  io->Write(bytes);
}

void write_nifti(const fs::path& path, const Volume& volume, DiskType type) {
  for (auto extent : volume.geometry.size)
    if (extent < 1 || extent > 32767)
      throw output_error(path, "NIfTI-1 holds 1 to 32767 voxels an axis, not " + std::to_string(extent),
                         "crop or resample it");
  const char* in_place = bytes_as_they_are(path, volume, type);
  const auto made = in_place != nullptr ? std::vector<char>() : disk_bytes(path, volume, type);
  const fs::path temporary = make_temporary_file(path).path;  // ITK opens by name
  try {
    write_with_itk(temporary, volume.geometry, type, in_place != nullptr ? in_place : made.data());
    require_promised_bytes(read_nifti_header(temporary), temporary);  // ITK does not report a full disk
  } catch (const std::exception&) {
    discard_file(temporary);
    throw output_error(path, "the file did not reach the disk whole",
                       "check that the folder exists, is writable and has space");
  }
  commit_file(temporary, path);
}

}  // namespace

VolumeFormat nifti_format() {
  return {.name = "NIfTI",
          .endings = {".nii", ".nii.gz"},
          .expected = ".nii, .nii.gz, or a .hdr/.img pair",
          .matches = [](const fs::path& path) { return nifti_files(path).has_value(); },
          .read_header = read_info,
          .read = [](const fs::path& path,
                     DType dtype) { return dtype == DType::kI32 ? read_label_voxels(path) : read_image_voxels(path); },
          .write = write_nifti,
          .check = [](const fs::path& path) { static_cast<void>(checked(path)); },
          .files =
              [](const fs::path& path) {
                const auto [header, data] = *nifti_files(path);
                return header == data ? std::vector{path} : std::vector{header, data};
              }};
}

}  // namespace voxshard
