// Reading and checking the 348 or 540 bytes of a NIfTI header, in both byte orders. Field offsets are those of nifti1.h
// and nifti2.h; the geometry rules are in nifti_placement.cc.
//
//   read_nifti_header("ct.nii.gz").scalar_type()   // "int16"
#include "io/volume/nifti_header.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "io/volume/nifti.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Larger than any file; the sum of two does not overflow.
constexpr double kMostBytes = 0x1p60;

struct TypeRow {
  int code;
  const char* name;
  int bytes, components;
  std::optional<VoxelType> scalar = {};  // none: not read
};
constexpr TypeRow kTypes[] = {
    {2, "uint8", 1, 1, VoxelType::kU8},
    {4, "int16", 2, 1, VoxelType::kI16},
    {8, "int32", 4, 1, VoxelType::kI32},
    {16, "float32", 4, 1, VoxelType::kF32},
    {32, "complex64", 8, 2},
    {64, "float64", 8, 1, VoxelType::kF64},
    {128, "rgb24", 3, 3},
    {256, "int8", 1, 1, VoxelType::kI8},
    {512, "uint16", 2, 1, VoxelType::kU16},
    {768, "uint32", 4, 1, VoxelType::kU32},
    {1024, "int64", 8, 1, VoxelType::kI64},
    {1280, "uint64", 8, 1, VoxelType::kU64},
    {1536, "float128", 16, 1},
    {1792, "complex128", 16, 2},
    {2048, "complex256", 32, 2},
    {2304, "rgba32", 4, 4},
};

/// Meanings of the values along the 5th axis by the header's intent code (nifti1.h; CIFTI-2: 3000 to 3099).
struct IntentRow {
  int first, last;
  const char* values;
};
constexpr IntentRow kIntents[] = {
    {1001, 1001, "estimates"},
    {1004, 1005, "a matrix"},
    {1006, 1006, "a displacement"},
    {1007, 1007, "a vector"},
    {1008, 1008, "points"},
    {1009, 1009, "triangles"},
    {1010, 1010, "a quaternion"},
    {2001, 2001, "a time series"},
    {2003, 2004, "colours"},
    {2006, 2018, "a displacement or its coefficients"},
    {3000, 3099, "a matrix of CIFTI"},
};

/// Meanings of the 4th axis by its unit, bits 3 to 5 of xyzt_units.
struct FourthUnitRow {
  int unit;
  const char* meaning;
  bool is_spectrum;
};
constexpr FourthUnitRow kFourthUnits[] = {{8, "points in time, whose unit is seconds", false},
                                          {16, "points in time, whose unit is milliseconds", false},
                                          {24, "points in time, whose unit is microseconds", false},
                                          {32, "frequencies", true},
                                          {40, "chemical shifts", true},
                                          {48, "angular frequencies", true}};

/// True when the header says that the 4th axis is none of time. A time is believed to be one only where nobody says
/// that there are channels: the Decathlon's files of channels have the unit of seconds.
bool is_spectrum(const NiftiHeader& h) {
  return std::any_of(std::begin(kFourthUnits), std::end(kFourthUnits),
                     [&](const FourthUnitRow& row) { return row.is_spectrum && row.unit == h.fourth_unit; });
}

/// Returns the meaning of dimension `axis` (3: the 4th): nifti1.h says that the 4th is time and the 5th holds values.
std::string meaning_of_axis(const NiftiHeader& h, std::size_t axis) {
  if (axis == 3) {
    for (const FourthUnitRow& row : kFourthUnits)
      if (row.unit == h.fourth_unit) return row.meaning;
    return "points in time, or channels";
  }
  for (const IntentRow& row : kIntents)
    if (axis == 4 && h.intent >= row.first && h.intent <= row.last) return row.values;
  return axis == 4 ? "values of a voxel" : "further values";
}

const TypeRow* type_row(int code) {
  for (const TypeRow& row : kTypes)
    if (row.code == code) return &row;
  return nullptr;
}

/// Reads numbers out of header bytes in the file's byte order.
struct Fields {
  const unsigned char* bytes;
  bool swap;
  template <class T>
  T at(std::size_t offset) const {
    unsigned char raw[sizeof(T)];
    for (std::size_t i = 0; i < sizeof(T); ++i) raw[i] = bytes[offset + (swap ? sizeof(T) - 1 - i : i)];
    T value;
    std::memcpy(&value, raw, sizeof(T));
    return value;
  }
};

/// Errors: as require_volume_file, and a file that is compressed against its name.
void require_file(const fs::path& path) {
  require_volume_file(path);
  if (!path.string().ends_with(".gz") && !PackedFile(path, Packing::kGzipOrPlain).is_plain())
    throw input_error(path, "is compressed with gzip but its name does not end in .gz", "rename it to end in .gz");
}

void read_common(NiftiHeader& h, const Fields& f) {
  const bool two = h.version == 2;
  const auto count = two ? f.at<std::int64_t>(16) : f.at<std::int16_t>(40);
  if (count < 1 || count > 7) return;  // refused by the caller: no dimensions
  for (int i = 1; i <= count; ++i)
    h.dimensions.push_back(two ? f.at<std::int64_t>(16 + 8 * i) : f.at<std::int16_t>(40 + 2 * i));
  h.datatype = f.at<std::int16_t>(two ? 12 : 70);
  for (int i = 0; i < 8; ++i)
    h.pixdim[i] = two ? f.at<double>(104 + 8 * i) : static_cast<double>(f.at<float>(76 + 4 * i));
  h.vox_offset = two ? static_cast<double>(f.at<std::int64_t>(168)) : static_cast<double>(f.at<float>(108));
  h.slope = two ? f.at<double>(176) : static_cast<double>(f.at<float>(112));
  h.intercept = two ? f.at<double>(184) : static_cast<double>(f.at<float>(116));
  h.qform_code = two ? f.at<std::int32_t>(344) : f.at<std::int16_t>(252);
  h.sform_code = two ? f.at<std::int32_t>(348) : f.at<std::int16_t>(254);
  for (int i = 0; i < 3; ++i) {
    h.quaternion[i] = two ? f.at<double>(352 + 8 * i) : static_cast<double>(f.at<float>(256 + 4 * i));
    h.qoffset[i] = two ? f.at<double>(376 + 8 * i) : static_cast<double>(f.at<float>(268 + 4 * i));
    for (int j = 0; j < 4; ++j)
      h.sform[i][j] = two ? f.at<double>(400 + 32 * i + 8 * j) : static_cast<double>(f.at<float>(280 + 16 * i + 4 * j));
  }
  h.intent = two ? f.at<std::int32_t>(504) : f.at<std::int16_t>(68);
  const int all_units = two ? f.at<std::int32_t>(500) : f.at<std::uint8_t>(123), units = all_units & 7;
  h.fourth_unit = all_units & 56;
  h.unit_mm = units == 1 ? 1000.0 : units == 3 ? 0.001 : 1.0;  // metre, micrometre; millimetre or unknown
}

NiftiHeader parse(const fs::path& path, const unsigned char* bytes, int length) {
  const std::int32_t first = length >= 4 ? Fields{bytes, false}.at<std::int32_t>(0) : 0;
  const std::int32_t swapped = length >= 4 ? Fields{bytes, true}.at<std::int32_t>(0) : 0;
  const bool swap = swapped == 348 || swapped == 540;
  const std::int32_t size = swap ? swapped : first;
  if (size != 348 && size != 540)
    throw input_error(path, "is not a NIfTI file (its header length is not 348 or 540)", "convert it to NIfTI first");
  if (length < size)
    throw input_error(path,
                      "ends inside its header (" + std::to_string(length) + " of " + std::to_string(size) + " bytes)",
                      "copy or export the file again");
  NiftiHeader h;
  h.version = size == 540 ? 2 : 1;
  h.big_endian = swap == (std::endian::native == std::endian::little);
  const std::string magic(reinterpret_cast<const char*>(bytes) + (size == 540 ? 4 : 344), 3);
  const std::string digit = size == 540 ? "2" : "1";
  if (magic != "n+" + digit && magic != "ni" + digit)
    throw input_error(
        path,
        "is not a NIfTI file (no n+" + digit + " or ni" + digit + " mark; an ANALYZE 7.5 header has no orientation)",
        "convert it to NIfTI first");
  h.single_file = magic[1] == '+';
  read_common(h, {bytes, swap});
  if (h.dimensions.empty()) throw input_error(path, "has an impossible number of dimensions", "export the file again");
  for (auto extent : h.dimensions)
    if (extent < 1)
      throw input_error(path, "has a dimension of " + std::to_string(extent) + " voxels", "export the file again");
  return h;
}

}  // namespace

std::int64_t NiftiHeader::voxel_bytes() const { return product_bytes(dimensions, bytes_per_voxel()); }

std::int64_t NiftiHeader::data_begin() const {
  const double least = single_file ? (version == 2 ? 540 : 348) : 0;
  return static_cast<std::int64_t>(std::isfinite(vox_offset) ? std::clamp(vox_offset, least, kMostBytes) : least);
}

std::string NiftiHeader::scalar_type() const {
  const TypeRow* row = type_row(datatype);
  return row ? row->name : "type " + std::to_string(datatype);
}

int NiftiHeader::components() const { return type_row(datatype) ? type_row(datatype)->components : 1; }
int NiftiHeader::bytes_per_voxel() const { return type_row(datatype) ? type_row(datatype)->bytes : 0; }

bool NiftiHeader::is_scaled() const {
  return std::isfinite(slope) && slope != 0 && std::isfinite(intercept) && (slope != 1 || intercept != 0);
}

std::optional<std::pair<fs::path, fs::path>> nifti_files(const fs::path& path) {
  const std::string name = path.string();
  auto other = [&](const std::string& from, const std::string& to) {
    return fs::path(name.substr(0, name.size() - from.size()) + to);
  };
  for (const std::string gz : {"", ".gz"}) {
    if (name.ends_with(".nii" + gz)) return {{path, path}};
    if (name.ends_with(".hdr" + gz)) return {{path, other(".hdr" + gz, ".img" + gz)}};
    if (name.ends_with(".img" + gz)) return {{other(".img" + gz, ".hdr" + gz), path}};
  }
  return std::nullopt;
}

NiftiHeader read_nifti_header(const fs::path& path) {
  const auto files = nifti_files(path);
  if (!files) throw unknown_volume(path, {.rows = {nifti_format()}});
  const auto [header_file, data_file] = *files;
  require_file(path);
  if (header_file != path) require_file(header_file);
  char bytes[540] = {};
  const auto length =
      static_cast<int>(PackedFile(header_file, Packing::kGzipOrPlain).read(bytes, std::int64_t{sizeof bytes}));
  NiftiHeader h = parse(header_file, reinterpret_cast<const unsigned char*>(bytes), length);
  h.header_file = header_file;
  h.data_file = h.single_file ? header_file : data_file;
  if (!h.single_file && header_file == data_file)
    throw input_error(path, "says that its voxels are in a separate .img file", "give the .hdr/.img pair");
  if (h.single_file && path != header_file)
    throw input_error(header_file, "says that it holds the voxels itself", "rename it to end in .nii");
  return h;
}

std::string volume_problem(const NiftiHeader& h) {
  if (h.bytes_per_voxel() == 0) return "has the unknown scalar " + h.scalar_type() + "; export it as int16 or float32";
  if (h.components() != 1)
    return "holds " + h.scalar_type() +
           " voxels (colour or complex), expected one number per voxel; export a scalar volume";
  if (h.scalar_type() == "float128") return "holds 128-bit floats, expected at most 64 bits; export it as float32";
  for (std::size_t i = 3; i < h.dimensions.size(); ++i)
    if (h.dimensions[i] != 1)
      return "has " + std::to_string(h.dimensions.size()) + " dimensions (" + std::to_string(h.dimensions[i]) +
             " along the " + std::to_string(i + 1) + "th: " + meaning_of_axis(h, i) +
             "), expected a 3-D volume; split it into one file per volume";
  // Checked also where the qform is used: a damaged sform puts the rest of the header in doubt, and other readers use
  // it. ITK 5.2 decomposes it in any case; it calls abort() on numbers beyond the first limit, and may loop forever
  // beyond the second (seen at 2^24).
  constexpr double kMostSform = 1e12, kMostRatio = 1e6;
  double shortest = kMostSform, longest = 0;  // steps along the voxel axes that are not 0, mm
  for (std::size_t j = 0; j < 4 && h.sform_code > 0; ++j) {
    for (const auto& row : h.sform)  // number by number: libstdc++'s hypot(0, 0, NaN) is 0
      if (!(std::abs(row[j]) <= kMostSform))
        return "has an sform with numbers that are not finite or beyond 1e12; set it again";
    const double step = std::hypot(h.sform[0][j], h.sform[1][j], h.sform[2][j]);
    if (j < 3 && step > 0) shortest = std::min(shortest, step), longest = std::max(longest, step);
  }
  if (longest > kMostRatio * shortest)
    return "has an sform whose axes differ by more than a million times; set it again";
  if (const std::string problem = unreadable_number(h); !problem.empty()) return problem;
  return place(h).problem;
}

std::string channels_problem(const NiftiHeader& h, std::int64_t channels) {
  const std::string expected = ", expected " + std::to_string(channels) + " channels along a 4th axis; ";
  if (h.dimensions.size() < 4)
    return "has no 4th axis" + expected + "give one file per channel, or correct the description";
  for (std::size_t i = 4; i < h.dimensions.size(); ++i)
    if (h.dimensions[i] != 1)
      return "has " + std::to_string(h.dimensions[i]) + " along the " + std::to_string(i + 1) +
             "th axis: " + meaning_of_axis(h, i) + expected + "split it";
  if (h.dimensions[3] == channels && !is_spectrum(h)) return "";
  return "has " + std::to_string(h.dimensions[3]) + " along the 4th axis: " + meaning_of_axis(h, 3) + expected +
         "split it, or correct the description";
}

VoxelSource nifti_voxels(const NiftiHeader& h, const fs::path& path) {
  VoxelSource s{.named = path, .file = h.data_file, .big_endian = h.big_endian};
  const bool packed = h.data_file.extension() == ".gz";
  s.packing = packed ? Packing::kGzipOrPlain : Packing::kPlain;
  (packed ? s.skip_bytes : s.begin) = h.data_begin();
  if (const TypeRow* row = type_row(h.datatype)) s.type = row->scalar.value_or(s.type);
  if (h.is_scaled()) s.slope = h.slope, s.intercept = h.intercept;
  return s;
}

}  // namespace voxshard
