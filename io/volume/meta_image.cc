// The fields of a MetaImage header, with a table of its types.
//
//   meta_image_format().read("ct.mha", DType::kF32)
#include "io/volume/meta_image.h"

#include <algorithm>
#include <utility>

#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "io/volume/itk_write.h"
#include "io/volume/text_header.h"
#include "io/volume/upright.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Sizes are those of MET_ValueTypeSize (metaTypes.h): MET_LONG has 4 bytes on every machine.
constexpr std::pair<const char*, VoxelType> kMetaTypes[] = {
    {"MET_CHAR", VoxelType::kI8},        {"MET_UCHAR", VoxelType::kU8},  {"MET_SHORT", VoxelType::kI16},
    {"MET_USHORT", VoxelType::kU16},     {"MET_INT", VoxelType::kI32},   {"MET_UINT", VoxelType::kU32},
    {"MET_LONG", VoxelType::kI32},       {"MET_ULONG", VoxelType::kU32}, {"MET_LONG_LONG", VoxelType::kI64},
    {"MET_ULONG_LONG", VoxelType::kU64}, {"MET_FLOAT", VoxelType::kF32}, {"MET_DOUBLE", VoxelType::kF64}};

bool truth_of(const HeaderFields& fields, std::initializer_list<const char*> names, bool otherwise) {
  const std::string* text = fields.find(names);
  if (text == nullptr) return otherwise;
  const std::string word = lower_case(*text);
  if (word != "true" && word != "false" && word != "1" && word != "0")
    throw fields.error(std::string("whose field ") + *names.begin() + " is \"" + shown_name(*text) +
                       "\", expected True or False");
  return word == "true" || word == "1";
}

/// Reads the lines up to ElementDataFile, behind which the voxels may follow.
void read_meta_fields(TextHeader& header, HeaderFields& fields, const fs::path& path) {
  bool first = true;
  while (const auto line = header.line()) {
    const std::size_t equals = line->find('=');
    const std::string name = trimmed(std::string_view(*line).substr(0, equals));
    if (equals == std::string::npos || name.empty()) {
      if (trimmed(*line).empty() && !first) continue;
      if (first) break;
      throw fields.error("with a line that is no field: \"" + shown_name(*line) + "\"");
    }
    first = false;
    fields.add(name, trimmed(std::string_view(*line).substr(equals + 1)));
    if (name == "ElementDataFile") return;
  }
  if (first)
    throw input_error(path, "is not a MetaImage file (it does not begin with a line \"NAME = VALUE\")",
                      "export it again");
  throw fields.error("without the field \"ElementDataFile\"");
}

///   count  of the axes: 3, or more with one of channels or of one value, which lie in no direction of space
void place_meta_image(const HeaderFields& fields, std::size_t count, TextVolume& v) {
  auto spacing = fields.numbers({"ElementSpacing", "ElementSize"});
  auto origin = fields.numbers({"Offset", "Position", "Origin"});
  auto axes = fields.numbers({"TransformMatrix", "Orientation", "Rotation"});
  v.form_used = axes.empty() ? "none (spacing only)" : "TransformMatrix";
  if (axes.empty()) {
    for (std::size_t i = 0; i < count * count; ++i) axes.push_back(i % (count + 1) == 0 ? 1 : 0);
    v.warning = kNoAxesWarning;
  }
  if (origin.empty()) origin.resize(count);
  if (spacing.empty()) spacing.resize(count, 1);
  if (spacing.size() != count || origin.size() != count || axes.size() != count * count)
    throw fields.error("whose spacing, offset and matrix do not have " + std::to_string(count) + ", " +
                       std::to_string(count) + " and " + std::to_string(count * count) + " numbers");
  // ITK normalises no axis: a matrix that is no rotation would scale the spacing as well.
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t r = 0; r < 3; ++r) v.lps_mm[r][a] = axes[count * a + r] * spacing[a];
  for (std::size_t r = 0; r < 3; ++r) v.lps_mm[r][3] = origin[r];
}

/// Sets where the voxels are, and packed how. `offset`: of the first byte behind the header.
void find_meta_voxels(const HeaderFields& fields, std::int64_t offset, TextVolume& v) {
  if (truth_of(fields, {"CompressedData"}, false)) v.packing = Packing::kZlib;
  const std::string& name = fields.at("ElementDataFile");
  if (lower_case(name) == "local") {
    v.begin = offset;
  } else if (lower_case(name).starts_with("list") || name.find('%') != std::string::npos) {
    v.problem = "has its voxels in several files, expected one; export it as one .mha";
    return;
  } else {
    v.data_file = data_file_of(v.path, name);
  }
  const std::int64_t skip = fields.integer({"HeaderSize"}, 0);
  if (skip < -1 || skip > kMostHeaderBytes || (skip != 0 && v.packing != Packing::kPlain))
    v.problem = "has a HeaderSize that is not read; export it again";
  else
    v.begin = skip == -1 ? -1 : v.begin + skip;
}

/// Returns the reason why the header is not that of one scalar volume stored as numbers; empty when it is.
///   sizes  of all axes but one of channels
std::string meta_problem(const HeaderFields& fields, const std::vector<std::int64_t>& sizes) {
  if (const std::string* kind = fields.find({"ObjectType"}); kind != nullptr && lower_case(*kind) != "image")
    return "holds an object of the type " + shown_name(*kind) + ", expected Image";
  if (axes_that_count(sizes) != 3)
    return "has " + std::to_string(sizes.size()) +
           " dimensions, expected a 3-D volume; split it into one file per volume";
  if (!truth_of(fields, {"BinaryData"}, true)) return "holds its voxels as text, expected binary data; export it again";
  const auto slope = fields.numbers({"ElementToIntensityFunctionSlope"}),
             shift = fields.numbers({"ElementToIntensityFunctionOffset"});
  if ((!slope.empty() && slope[0] != 1) || (!shift.empty() && shift[0] != 0))
    return "has an intensity function, which readers apply or ignore; export it with its values as they are meant";
  return "";
}

/// Takes a channel of a file that holds several along a 4th axis, or as the numbers of each voxel.
void take_meta_channel(const ChannelAddress& address, TextVolume& v) {
  const bool within_voxels = v.dimensions.size() == 3 && v.components > 1;
  if (within_voxels) v.dimensions.insert(v.dimensions.begin(), std::exchange(v.components, 1));
  const bool one_axis = v.dimensions.size() == 4 && v.components == 1;
  take_channel(address, one_axis ? std::optional<std::size_t>(within_voxels ? 0 : 3) : std::nullopt, v);
}

TextVolume meta_volume(const fs::path& path) {
  const auto address = channel_in(path);
  TextHeader header(file_of_channel(path));
  HeaderFields fields(path);
  read_meta_fields(header, fields, path);
  TextVolume v{
      .path = path, .data_file = file_of_channel(path), .lps_mm = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}}};
  const std::int64_t count = fields.integer({"NDims"}, 0);
  if (count < 1 || count > 10) throw fields.error("with an impossible number of dimensions (NDims)");
  v.dimensions = fields.sizes("DimSize", count);
  const std::int64_t channels = fields.integer({"ElementNumberOfChannels"}, 1);
  if (channels < 1 || channels > 1024) throw fields.error("with an impossible number of channels");
  v.components = static_cast<int>(channels);
  v.type_name = fields.at("ElementType");
  for (const auto& [name, type] : kMetaTypes)
    if (v.type_name == name) v.type = type;
  v.big_endian = truth_of(fields, {"BinaryDataByteOrderMSB", "ElementByteOrderMSB"}, false);
  find_meta_voxels(fields, header.offset(), v);
  if (address) take_meta_channel(*address, v);
  if (v.problem.empty()) v.problem = meta_problem(fields, v.dimensions);
  if (v.problem.empty()) place_meta_image(fields, static_cast<std::size_t>(count), v);
  return v;
}

VolumeHeader meta_header(const fs::path& path) { return volume_header(meta_volume(path)); }

}  // namespace

VolumeFormat meta_image_format(IrregularSlices irregular) {
  return {.name = "MetaImage",
          .endings = {".mha"},
          .expected = ".mha, or .mhd with its data file",
          .matches =
              [](const fs::path& path) {
                const fs::path ending = file_of_channel(path).extension();
                return ending == ".mha" || ending == ".mhd";
              },
          .read_header = [=](const fs::path& path) { return upright_info(meta_header(path), irregular); },
          .read = [=](const fs::path& path, DType dtype) { return read_upright(meta_header(path), dtype, irregular); },
          .write =
              [](const fs::path& path, const Volume& volume, DiskType type) {
                write_with_itk(path, volume, type, ItkFormat::kMetaImage,
                               [](const fs::path& file) { require_whole(meta_header(file)); });
              },
          .check = [=](const fs::path& path) { check_upright(meta_header(path), irregular); },
          .files = [](const fs::path& path) { return files_of_text_volume(path, meta_volume); }};
}

}  // namespace voxshard
