// Reads and writes 3-D medical volumes. Each file format is a row in a table. Functions take the table, with limits on
// the volumes that are read, as an argument; the default is the table of all formats that this build knows.
//
//   Volume ct = read_image("liver_03.nii.gz");         // f32, Hounsfield units, (D, H, W)
//   Volume organs = read_label("liver_03_seg.nii.gz"); // i32
//   write_volume("out.nii.gz", organs, DiskType::kU8);
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/files/file_error.h"
#include "io/volume/geometry.h"
#include "io/volume/volume_limits.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

struct Volume {
  Geometry geometry;
  Tensor voxels;  // (D, H, W) = (z, y, x); f32 for images, i32 or u8 for labels
};

/// The scalar type of a written file.
enum class DiskType : std::uint8_t { kU8, kI16, kU16, kI32, kF32 };
/// Returns "uint8", "int16", "float32".
const char* disk_type_name(DiskType type);

/// The contents of a header, for `voxshard info`. No voxel is read.
struct VolumeInfo {
  Geometry geometry;                     // the first three dimensions, as read_image would use them
  std::string orientation;               // "LPS"
  std::string scalar_type;               // on disk: "int16", "float32", "rgb24", "complex64" ...
  int components = 1;                    // 3 for RGB, 2 for complex
  std::vector<std::int64_t> dimensions;  // all of them, in file order x, y, z, t ...
  double slope = 1, intercept = 0;       // as applied: slope 0 or NaN becomes 1, 0
  int qform_code = 0, sform_code = 0;
  bool forms_agree = true;    // false when both exist and their corners differ by more than 0.1 mm
  double forms_gap_mm = 0;    // the largest distance between them over the corners of the volume
  double shear_degrees = 0;   // shear of the used axes, before it was repaired
  double shear_shift_mm = 0;  // how far the repair moves the corner of the volume that it moves most
  std::string form_used;      // "sform", "qform", "sform (nearest rotation)", "space directions" (NRRD),
                              // "TransformMatrix" (MetaImage) or "none (spacing only)"
  int nifti_version = 0;      // 1 or 2; 0 for other formats
  bool big_endian = false;
  std::int64_t voxel_bytes = 0;         // uncompressed, as the header promises
  std::int64_t file_bytes = 0;          // on disk
  bool compressed = false;              // file_bytes may be less than voxel_bytes
  bool readable = true;                 // true: read_image would read it, as far as the header can tell
  std::string problem;                  // reason why it is not readable, else empty
  std::string problem_code = "E_READ";  // code of the problem
  std::string warning;                  // warning about a readable file: "W_FORMS ..."; else empty
  bool stores_bytes = false;            // read_label may be asked for u8: voxels are uint8, not scaled or resampled
  std::int64_t extra_bytes = 0;         // that reading takes beside the volume
  std::string unit = {};                // of the values where a header tells it: "SUV by body weight (g/ml)"
  std::vector<std::pair<int, std::string>> labels = {};  // classes of a file of labels that names them
};

/// The volumes of a folder whose format is not told by the endings of file names.
struct FoundVolume {
  std::string id;              // "ct_77dddbdf335a"
  std::filesystem::path path;  // as read_image takes it
  std::string better = {};     // id of the best reconstruction of the same scan (io/dicom/same_scan.h), and why;
                               // empty for the best one, and for a scan with one reconstruction
};
struct FoundVolumes {
  std::vector<FoundVolume> volumes;
  std::string left_out;  // "1 localizer, 2 secondary capture": files that are no part of a volume; may be empty
};

/// One file format: a file of its own and a row in the table.
struct VolumeFormat {
  const char* name;                  // "NIfTI"
  std::vector<const char*> endings;  // of files that are written and looked for in folders; new files get the last
  const char* expected;              // names that are read, for messages: ".nii, .nii.gz, or a .hdr/.img pair"
  std::function<bool(const std::filesystem::path& path)> matches;  // true when the name is one of this format
  /// Errors: kInput for files without a usable header; the reason why `read` would refuse a file is in `problem`.
  std::function<VolumeInfo(const std::filesystem::path& path)> read_header;
  /// `dtype`: kF32 for an image, kI32 for a label map, kU8 for one that stores_bytes. Errors: as read_image and
  /// read_label.
  std::function<Volume(const std::filesystem::path& path, DType dtype)> read;
  /// Writes atomically; the same volume gives the same bytes. Errors: as write_volume. Null: the format is only read.
  std::function<void(const std::filesystem::path& path, const Volume& volume, DiskType type)> write;
  /// Reads every byte that `read` needs, without keeping it. Errors: as read. Null: the format has no check but `read`.
  std::function<void(const std::filesystem::path& path)> check = nullptr;
  /// True for a file that holds volumes as a folder does. Null: there is no such file.
  std::function<bool(const std::filesystem::path& path)> holds = nullptr;
  /// Finds the volumes of a folder and the folders in it, or of a file that `holds` them. Null: `endings` tell them.
  /// Errors: kInput.
  std::function<FoundVolumes(const std::filesystem::path& folder)> find = nullptr;
  /// Returns the id in the address of a volume that is no file of its own, from its name alone; none for other paths.
  /// Null: there are no such volumes.
  std::function<std::optional<std::string>(const std::filesystem::path& path)> address_id = nullptr;
  /// Returns all files that `read` reads. Null: the file itself. Errors: as read_header.
  std::function<std::vector<std::filesystem::path>(const std::filesystem::path& path)> files = nullptr;
  /// Returns the hashes of these files where they lie in a temporary place and may be gone. Null: they stay.
  std::function<std::map<std::filesystem::path, std::string>(const std::filesystem::path& path)> hashes = nullptr;
  /// Returns the same format with limits on what is read before a header is. Null: `read_header` alone decides.
  std::function<VolumeFormat(const VolumeLimits& limits)> within = nullptr;
};

/// The formats that are read, and the limits on their volumes.
struct VolumeFormats {
  std::vector<VolumeFormat> rows;  // in the order in which they are tried
  VolumeLimits limits = {};
};
/// What becomes of a DICOM series whose slices are no regular volume (missing, at irregular distances, or with a tilted
/// gantry), and of a file whose axes are sheared.
enum class IrregularSlices : std::uint8_t { kReject, kResample };

/// Returns all formats that this build knows.
const VolumeFormats& volume_formats();
/// The same, with another choice about irregular slices than to reject them.
VolumeFormats volume_formats_with(IrregularSlices irregular);

/// Returns the formats with these limits, which then also hold for unpacking archives.
VolumeFormats formats_within(VolumeFormats formats, const VolumeLimits& limits);

/// Reads an image as f32, in Hounsfield units.
/// Errors: kInput names the file, what is wrong and what to do: missing, empty, truncated, damaged, of no known format,
/// NaN or infinite voxels (E_NAN; how many, the first), no scalar 3-D volume, beyond the limits (E_SIZE; from the
/// header alone), memory that the system refuses (E_MEMORY).
Volume read_image(const std::filesystem::path& path, const VolumeFormats& formats = volume_formats());

/// Reads a label map as i32. Errors: as read_image, and kInput when a value is no integer or outside i32.
Volume read_label(const std::filesystem::path& path, const VolumeFormats& formats = volume_formats());
/// Reads it as u8, a quarter of the memory, where the file stores bytes; else as i32.
Volume read_small_label(const std::filesystem::path& path, const VolumeFormats& formats = volume_formats());

/// Reads the header. Errors: kInput as read_image for files without a usable header.
VolumeInfo read_volume_info(const std::filesystem::path& path, const VolumeFormats& formats = volume_formats());

/// The same, with a check of every byte that read_image would read: a file that is truncated, damaged or beyond the
/// limits is then not `readable`. Cost: one pass over the file, little memory.
VolumeInfo check_volume(const std::filesystem::path& path, const VolumeFormats& formats = volume_formats());

/// Writes the format of the name's ending, atomically; the same volume gives the same bytes. f32 voxels are rounded
/// half to even for integer types. Errors: kOutput when the file cannot be written, its name has no known ending, or a
/// value does not fit `type`.
void write_volume(const std::filesystem::path& path, const Volume& volume, DiskType type,
                  const VolumeFormats& formats = volume_formats());

/// True for a folder, and for a file that holds volumes as a folder does: an archive.
bool is_volume_folder(const std::filesystem::path& path, const VolumeFormats& formats = volume_formats());
/// Finds the volumes of a folder and the folders in it in the formats whose files have no endings of their own, or all
/// volumes of an archive. Errors: kInput.
FoundVolumes find_volumes(const std::filesystem::path& folder, const VolumeFormats& formats = volume_formats());
/// Returns the files that hold a volume; the path itself when its format is unknown. Errors: kInput.
std::vector<std::filesystem::path> files_of_volume(const std::filesystem::path& path,
                                                   const VolumeFormats& formats = volume_formats());

/// The files that hold a volume with their hashes, by which a later call knows them again.
struct VolumeFiles {
  std::vector<std::filesystem::path> files;
  std::map<std::filesystem::path, std::string> hashes;  // of those that may be gone later: files of an archive

  /// Returns the hash of one of the files, which is read unless its hash is known. Errors: kInput.
  std::string hash_of(const std::filesystem::path& file) const;
};
/// Errors: kInput.
VolumeFiles known_files_of_volume(const std::filesystem::path& path, const VolumeFormats& formats = volume_formats());

/// True for the address of a volume that is no file of its own: "study/#series=ct_77dddbdf335a".
bool is_volume_address(const std::filesystem::path& path, const VolumeFormats& formats = volume_formats());
/// Returns the file's name without its format's ending, or the id in an address; none when the ending is unknown.
std::optional<std::string> volume_stem(const std::filesystem::path& path,
                                       const VolumeFormats& formats = volume_formats());
/// Returns "NIfTI", the name of the format that reads a path. Errors: kInput when none does.
std::string volume_format_name(const std::filesystem::path& path, const VolumeFormats& formats = volume_formats());
/// ".nii or .nii.gz"
std::string volume_endings(const VolumeFormats& formats = volume_formats());

// Helpers for the format files.
Error unknown_volume(const std::filesystem::path& path, const VolumeFormats& formats);
/// "(x, y, z) = (3, 0, 0)" for an index into the voxels.
std::string voxel_name(const Geometry& geometry, std::int64_t index);
/// Calls body(T{}) with the type T of a file's scalars.
template <class Body>
void with_scalar(DiskType type, Body body) {
  const auto is = [&](DiskType one, auto zero) { return one == type && (body(zero), true); };
  static_cast<void>(is(DiskType::kU8, std::uint8_t{}) || is(DiskType::kI16, std::int16_t{}) ||
                    is(DiskType::kU16, std::uint16_t{}) || is(DiskType::kI32, std::int32_t{}) ||
                    is(DiskType::kF32, 0.0F));
}

}  // namespace voxshard
