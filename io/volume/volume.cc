// Finds the format of a file and calls its functions.
//
//   read_image("ct.nii.gz")   // NIfTI reads it
#include "io/volume/volume.h"

#include <algorithm>
#include <new>

#include "io/files/content_hash.h"
#include "io/files/now_reading.h"
#include "io/volume/archive.h"
#include "io/volume/dicom.h"
#include "io/volume/meta_image.h"
#include "io/volume/nifti.h"
#include "io/volume/nrrd.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns the ending of the format that a name has, or null.
const char* ending_of(const fs::path& path, const VolumeFormat& format) {
  const std::string name = path.filename().string();
  for (const char* ending : format.endings)
    if (name.ends_with(ending)) return ending;
  return nullptr;
}

const VolumeFormat& format_of(const fs::path& path, const VolumeFormats& formats) {
  for (const VolumeFormat& format : formats.rows)
    if (format.matches(path)) return format;
  throw unknown_volume(path, formats);
}

std::optional<std::string> address_id(const fs::path& path, const VolumeFormats& formats) {
  for (const VolumeFormat& format : formats.rows)
    if (auto id = format.address_id != nullptr ? format.address_id(path) : std::nullopt) return id;
  return std::nullopt;
}

/// Reads a volume as the type that `dtype_of` chooses by its header.
template <class DTypeOf>
Volume read_as(DTypeOf dtype_of, const fs::path& path, const VolumeFormats& formats) {
  const NowReading reading(path);
  const VolumeFormat& format = format_of(path, formats);
  const VolumeInfo info = format.read_header(path);
  require_within(formats.limits, info, path);
  try {
    return format.read(path, dtype_of(info));
  } catch (const std::bad_alloc&) {
    throw input_error(path, "takes " + bytes_text(reading_bytes(info)) + " to read, which the system refused",
                      "use fewer threads, or crop the volume", "E_MEMORY");
  }
}

}  // namespace

const VolumeFormats& volume_formats() {
  static const VolumeFormats kFormats = volume_formats_with(IrregularSlices::kReject);
  return kFormats;
}

VolumeFormats volume_formats_with(IrregularSlices irregular) {
  std::vector<VolumeFormat> rows = {nifti_format(irregular), nrrd_format(irregular), meta_image_format(irregular),
                                    dicom_format(irregular)};
  rows.push_back(archive_format(rows));
  return {.rows = std::move(rows)};
}

VolumeFormats formats_within(VolumeFormats formats, const VolumeLimits& limits) {
  formats.limits = limits;
  for (VolumeFormat& format : formats.rows)
    if (format.within != nullptr) format = VolumeFormat(format.within(limits));
  return formats;
}

Volume read_image(const fs::path& path, const VolumeFormats& formats) {
  return read_as([](const VolumeInfo&) { return DType::kF32; }, path, formats);
}

Volume read_label(const fs::path& path, const VolumeFormats& formats) {
  return read_as([](const VolumeInfo&) { return DType::kI32; }, path, formats);
}

Volume read_small_label(const fs::path& path, const VolumeFormats& formats) {
  return read_as([](const VolumeInfo& info) { return info.stores_bytes ? DType::kU8 : DType::kI32; }, path, formats);
}

VolumeInfo read_volume_info(const fs::path& path, const VolumeFormats& formats) {
  const NowReading reading(path);
  return format_of(path, formats).read_header(path);
}

VolumeInfo check_volume(const fs::path& path, const VolumeFormats& formats) {
  const NowReading reading(path);
  const VolumeFormat& format = format_of(path, formats);
  VolumeInfo info = format.read_header(path);
  if (!info.readable) return info;
  try {
    require_within(formats.limits, info, path);
    if (format.check != nullptr) format.check(path);
  } catch (const Error& e) {
    info.readable = false;
    info.problem = e.what();
    info.problem_code = e.code();
  }
  return info;
}

void write_volume(const fs::path& path, const Volume& volume, DiskType type, const VolumeFormats& formats) {
  ensure(volume.voxels.shape() == volume.geometry.shape(), "a volume's voxels have the shape of its geometry");
  for (const VolumeFormat& format : formats.rows)
    if (ending_of(path, format)) return format.write(path, volume, type);
  throw output_error(path, "the name of a volume must end in " + volume_endings(formats), "rename the output");
}

bool is_volume_folder(const fs::path& path, const VolumeFormats& formats) {
  std::error_code error;
  return fs::is_directory(path, error) ||
         std::any_of(formats.rows.begin(), formats.rows.end(),
                     [&](const auto& format) { return format.holds != nullptr && format.holds(path); });
}

FoundVolumes find_volumes(const fs::path& folder, const VolumeFormats& formats) {
  FoundVolumes all;
  std::error_code error;
  const bool is_file = !fs::is_directory(folder, error);
  for (const VolumeFormat& format : formats.rows) {
    if (format.find == nullptr || (is_file ? format.holds == nullptr : format.holds != nullptr)) continue;
    if (is_file && !format.holds(folder)) continue;
    FoundVolumes found = format.find(folder);
    all.volumes.insert(all.volumes.end(), found.volumes.begin(), found.volumes.end());
    if (!found.left_out.empty()) all.left_out += (all.left_out.empty() ? "" : ", ") + found.left_out;
  }
  return all;
}

std::vector<fs::path> files_of_volume(const fs::path& path, const VolumeFormats& formats) {
  for (const VolumeFormat& format : formats.rows)
    if (format.matches(path)) return format.files != nullptr ? format.files(path) : std::vector{path};
  return {path};
}

std::string VolumeFiles::hash_of(const fs::path& file) const {
  const auto known = hashes.find(file);
  return known != hashes.end() ? known->second : file_hash(file);
}

VolumeFiles known_files_of_volume(const fs::path& path, const VolumeFormats& formats) {
  for (const VolumeFormat& format : formats.rows)
    if (format.hashes != nullptr && format.matches(path)) {
      VolumeFiles known{.files = {}, .hashes = format.hashes(path)};
      for (const auto& [file, hash] : known.hashes) known.files.push_back(file);
      return known;
    }
  return {.files = files_of_volume(path, formats), .hashes = {}};
}

bool is_volume_address(const fs::path& path, const VolumeFormats& formats) {
  return address_id(path, formats).has_value();
}

std::optional<std::string> volume_stem(const fs::path& path, const VolumeFormats& formats) {
  if (auto id = address_id(path, formats)) return id;
  const std::string name = path.filename().string();
  for (const VolumeFormat& format : formats.rows)
    if (const char* ending = ending_of(path, format))
      return name.substr(0, name.size() - std::string_view(ending).size());
  return std::nullopt;
}

std::string volume_format_name(const fs::path& path, const VolumeFormats& formats) {
  return format_of(path, formats).name;
}

const char* disk_type_name(DiskType type) {
  constexpr const char* kNames[] = {"uint8", "int16", "uint16", "int32", "float32"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string volume_endings(const VolumeFormats& formats) {
  std::string text;
  for (const VolumeFormat& format : formats.rows)
    for (const char* ending : format.endings) text += (text.empty() ? "" : " or ") + std::string(ending);
  return text;
}

Error unknown_volume(const fs::path& path, const VolumeFormats& formats) {
  return input_error(
      path, "is not named like a " + joined(formats.rows, " or ", std::mem_fn(&VolumeFormat::name)) + " volume",
      "expected " + joined(formats.rows, "; ", std::mem_fn(&VolumeFormat::expected)) +
          "; convert other formats to NIfTI first");
}

std::string voxel_name(const Geometry& g, std::int64_t index) {
  const std::int64_t x = index % g.size[0], y = index / g.size[0] % g.size[1], z = index / (g.size[0] * g.size[1]);
  return "(x, y, z) = (" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

}  // namespace voxshard
