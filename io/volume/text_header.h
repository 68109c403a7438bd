// The text headers of NRRD and MetaImage: lines of bounded length, fields by name, numbers without a locale, and the
// names of data files, which come from outside and lead nowhere but to the header's own folder.
//
//   TextHeader header("ct.nrrd");
//   while (const auto line = header.line()) ...      // header.offset(): where the voxels begin
//   fs::path data = data_file_of("ct.nhdr", "ct.raw.gz");
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/channel_address.h"
#include "io/files/open_file.h"
#include "io/volume/axes.h"
#include "io/volume/voxel_source.h"

namespace voxshard {

/// Headers with a description per segment are some 100 KB long.
inline constexpr std::int64_t kMostHeaderBytes = 1 << 20;

class TextHeader {
 public:
  /// Errors: kInput: missing, no file, empty, not readable.
  explicit TextHeader(const std::filesystem::path& path);
  /// Returns the next line without "\n" or "\r\n"; none at the end of the file. Errors: kInput beyond kMostHeaderBytes.
  std::optional<std::string> line();
  /// Number of bytes of the lines so far.
  std::int64_t offset() const { return offset_; }
  std::int64_t file_bytes() const { return in_.bytes(); }

 private:
  std::filesystem::path path_;
  InputFile in_;
  std::int64_t offset_ = 0;
};

/// Fields of a header by name. Errors of all members: kInput naming the file and the field.
class HeaderFields {
 public:
  explicit HeaderFields(std::filesystem::path path) : path_(std::move(path)) {}
  /// Errors: the field is there already.
  void add(const std::string& name, const std::string& value);
  /// Returns the first of `names` that is there; null when none is.
  const std::string* find(std::initializer_list<const char*> names) const;
  /// Errors: missing.
  const std::string& at(const char* name) const;
  /// The numbers of a field, as find(); empty when it is missing. Errors: no number, NaN, infinity, more than 64.
  std::vector<double> numbers(std::initializer_list<const char*> names) const;
  /// One whole number within int64, or `otherwise`.
  std::int64_t integer(std::initializer_list<const char*> names, std::int64_t otherwise) const;
  /// The sizes of 1 to 16 axes. Errors: missing, not `count` of them, a size below 1.
  std::vector<std::int64_t> sizes(const char* name, std::int64_t count) const;
  Error error(const std::string& what) const;

 private:
  std::filesystem::path path_;
  std::map<std::string, std::string> fields_;
};

/// Returns `text` without blanks at its ends.
std::string trimmed(std::string_view text);
/// Returns a finite number, or none.
std::optional<double> finite_number(std::string_view text);

/// Returns FOLDER OF `header`/`name`. Errors: kInput E_NAME when the name is no plain file name.
std::filesystem::path data_file_of(const std::filesystem::path& header, const std::string& name);

/// The parts of a text header that all formats have.
struct TextVolume {
  std::filesystem::path path, data_file;
  std::vector<std::int64_t> dimensions;  // all, in the order of the file
  std::string type_name;                 // as the header calls it
  std::optional<VoxelType> type;         // none: not read
  int components = 1;
  Packing packing = Packing::kPlain;
  bool big_endian = false;
  std::int64_t begin = 0, skip_bytes = 0;          // as in VoxelSource; begin -1: the voxels end where the file does
  std::int64_t channel_bytes = 0, rest_bytes = 0;  // of other channels before and behind this one
  std::int64_t interleaved = 1, which = 0;         // as in VoxelSource
  Matrix34 lps_mm{};                               // identity where the header says nothing
  std::string form_used, warning;
  std::string problem;                  // reason why the volume is not read; else empty
  const char* problem_code = "E_READ";  // of this problem
};

/// Returns the number of axes without those of one value behind the third, which say nothing: 3 of (5, 4, 3, 1).
std::size_t axes_that_count(const std::vector<std::int64_t>& sizes);

/// Makes a volume of four axes one of its channels.
///   axis  along which they lie, from 0; none: the file has no such axis
/// Sets kOtherChannels as its problem when it does not hold the channels of the address there, or not along its first
/// or last axis.
void take_channel(const ChannelAddress& address, std::optional<std::size_t> axis, TextVolume& volume);

/// Returns the header in the form that is common to all formats: the geometry repaired, types and sizes checked.
VolumeHeader volume_header(const TextVolume& volume);

/// Returns the header's file, and that of the voxels where it is another; the header's alone when it cannot be read.
std::vector<std::filesystem::path> files_of_text_volume(const std::filesystem::path& path,
                                                        TextVolume (*read)(const std::filesystem::path&));

/// The warning about a header without axes.
inline constexpr const char* kNoAxesWarning =
    "W_FORMS its header does not say how it lies: its axes are taken for left, back and up; check the sides";

}  // namespace voxshard
