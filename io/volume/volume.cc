// Which format a file is of, and the calls that ask it.
//
//   read_image("ct.nii.gz")   // NIfTI reads it
#include "io/volume/volume.h"

#include "io/files/now_reading.h"
#include "io/volume/nifti.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// The ending of the format's that a name has, or none.
const char* ending_of(const fs::path& path, const VolumeFormat& format) {
  const std::string name = path.filename().string();
  for (const char* ending : format.endings)
    if (name.ends_with(ending)) return ending;
  return nullptr;
}

const VolumeFormat& format_of(const fs::path& path, const VolumeFormats& formats) {
  for (const VolumeFormat& format : formats)
    if (format.matches(path)) return format;
  throw unknown_volume(path, formats);
}

}  // namespace

const VolumeFormats& volume_formats() {
  static const VolumeFormats kFormats = {nifti_format()};
  return kFormats;
}

Volume read_image(const fs::path& path, const VolumeFormats& formats) {
  const NowReading reading(path);
  return format_of(path, formats).read(path, DType::kF32);
}

Volume read_label(const fs::path& path, const VolumeFormats& formats) {
  const NowReading reading(path);
  return format_of(path, formats).read(path, DType::kI32);
}

VolumeInfo read_volume_info(const fs::path& path, const VolumeFormats& formats) {
  const NowReading reading(path);
  return format_of(path, formats).read_header(path);
}

void write_volume(const fs::path& path, const Volume& volume, DiskType type, const VolumeFormats& formats) {
  ensure(volume.voxels.shape() == volume.geometry.shape(), "a volume's voxels have the shape of its geometry");
  for (const VolumeFormat& format : formats)
    if (ending_of(path, format)) return format.write(path, volume, type);
  throw output_error(path, "the name of a volume must end in " + volume_endings(formats), "rename the output");
}

std::optional<std::string> volume_stem(const fs::path& path, const VolumeFormats& formats) {
  const std::string name = path.filename().string();
  for (const VolumeFormat& format : formats)
    if (const char* ending = ending_of(path, format))
      return name.substr(0, name.size() - std::string_view(ending).size());
  return std::nullopt;
}

std::string volume_endings(const VolumeFormats& formats) {
  std::string text;
  for (const VolumeFormat& format : formats)
    for (const char* ending : format.endings) text += (text.empty() ? "" : " or ") + std::string(ending);
  return text;
}

Error unknown_volume(const fs::path& path, const VolumeFormats& formats) {
  return input_error(path, "is not named like a " + joined(formats, " or ", std::mem_fn(&VolumeFormat::name)) + " volume",
                     "expected " + joined(formats, "; ", std::mem_fn(&VolumeFormat::expected)) + "; convert other formats to NIfTI first");
}

std::string voxel_name(const Geometry& g, std::int64_t index) {
  const std::int64_t x = index % g.size[0], y = index / g.size[0] % g.size[1], z = index / (g.size[0] * g.size[1]);
  return "(x, y, z) = (" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

}  // namespace voxshard
