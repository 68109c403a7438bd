// The fields of an NRRD header, with tables of its words.
//
//   nrrd_format().read("ct.nrrd", DType::kF32)
#include "io/volume/nrrd.h"

#include <algorithm>
#include <bit>
#include <cctype>

#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "io/volume/itk_write.h"
#include "io/volume/text_header.h"
#include "io/volume/upright.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

struct NrrdType {
  VoxelType type;
  std::vector<std::string_view> names;
};
const std::vector<NrrdType>& nrrd_types() {
  using enum VoxelType;
  static const std::vector<NrrdType> kRows = {
      {kI8, {"signed char", "int8", "int8_t"}},
      {kU8, {"uchar", "unsigned char", "uint8", "uint8_t"}},
      {kI16, {"short", "short int", "signed short", "signed short int", "int16", "int16_t"}},
      {kU16, {"ushort", "unsigned short", "unsigned short int", "uint16", "uint16_t"}},
      {kI32, {"int", "signed int", "int32", "int32_t"}},
      {kU32, {"uint", "unsigned int", "uint32", "uint32_t"}},
      {kI64,
       {"longlong", "long long", "long long int", "signed long long", "signed long long int", "int64", "int64_t"}},
      {kU64, {"ulonglong", "unsigned long long", "unsigned long long int", "uint64", "uint64_t"}},
      {kF32, {"float"}},
      {kF64, {"double"}}};
  return kRows;
}

/// Spaces whose axes are sides of the body: signs that make them left, posterior, superior.
struct NrrdSpace {
  const char *name, *letters;
  std::array<double, 3> to_lps;
};
constexpr NrrdSpace kNrrdSpaces[] = {{"right-anterior-superior", "ras", {-1, -1, 1}},
                                     {"left-anterior-superior", "las", {1, -1, 1}},
                                     {"left-posterior-superior", "lps", {1, 1, 1}}};
/// Spaces of three axes that say nothing of the body; ITK takes them for LPS, and so do we.
constexpr const char* kOtherSpaces[] = {"scanner-xyz", "3d-right-handed", "3d-left-handed"};

constexpr std::pair<const char*, double> kNrrdUnits[] = {{"", 1},    {"mm", 1},   {"millimeter", 1}, {"millimeters", 1},
                                                         {"cm", 10}, {"m", 1000}, {"um", 1e-3}};

/// Kinds of an axis of space.
constexpr const char* kSpaceKinds[] = {"domain", "space", "???", "none", "unknown"};

constexpr std::pair<const char*, Packing> kNrrdEncodings[] = {
    {"raw", Packing::kPlain}, {"gzip", Packing::kGzip}, {"gz", Packing::kGzip}};

/// Returns the name of a field as it is looked up: lower case, without blanks.
std::string field_key(std::string_view name) {
  std::string key;
  for (const char c : name)
    if (std::isspace(static_cast<unsigned char>(c)) == 0) key += c;
  return lower_case(key);
}

/// Reads the lines up to the empty one. Returns true when there was an empty line: the voxels may follow.
bool read_nrrd_fields(TextHeader& header, HeaderFields& fields, const fs::path& path) {
  const auto magic = header.line();
  if (!magic || magic->size() != 8 || !magic->starts_with("NRRD000") || (*magic)[7] < '1' || (*magic)[7] > '5')
    throw input_error(path, "is not an NRRD file (it does not begin with NRRD0001 to NRRD0005)", "export it again");
  while (const auto line = header.line()) {
    if (line->empty()) return true;
    if (line->front() == '#') continue;
    const std::size_t colon = line->find(':');
    if (colon == std::string::npos) throw fields.error("with a line that is no field: \"" + shown_name(*line) + "\"");
    if (colon + 1 < line->size() && (*line)[colon + 1] == '=') continue;  // key:=value is not about the voxels
    fields.add(field_key(line->substr(0, colon)), trimmed(line->substr(colon + 1)));
  }
  return false;
}

/// One vector: "(1,0,0)"; none for "none". Errors: kInput when it is neither.
std::vector<std::optional<std::array<double, 3>>> vectors_of(const HeaderFields& fields, const char* name) {
  const std::string* text = fields.find({name});
  std::vector<std::optional<std::array<double, 3>>> vectors;
  if (text == nullptr) return vectors;
  const auto wrong = [&] {
    return fields.error(std::string("whose field \"") + name + "\" is \"" + shown_name(*text) +
                        "\", expected vectors of three numbers");
  };
  std::string_view rest = *text;
  while (!(rest = rest.substr(std::min(rest.find_first_not_of(" \t"), rest.size()))).empty()) {
    if (vectors.size() == 16) throw wrong();
    if (rest.starts_with("none")) {
      vectors.emplace_back();
      rest.remove_prefix(4);
      continue;
    }
    const std::size_t end = rest.find(')');
    if (rest.front() != '(' || end == std::string_view::npos) throw wrong();
    std::array<double, 3> vector{};
    std::string_view inner = rest.substr(1, end - 1);
    for (int i = 0; i < 3; ++i) {
      const std::size_t comma = i < 2 ? inner.find(',') : inner.size();
      if (comma == std::string_view::npos) throw wrong();
      const auto value = finite_number(trimmed(inner.substr(0, comma)));
      if (!value) throw wrong();
      vector[i] = *value;
      inner.remove_prefix(std::min(comma + 1, inner.size()));
    }
    vectors.emplace_back(vector);
    rest.remove_prefix(end + 1);
  }
  return vectors;
}

/// The words of a field in quotes: {"mm", "mm", "mm"}.
std::vector<std::string> quoted_words(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = text.find('"'); at != std::string::npos && words.size() < 16;) {
    const std::size_t end = text.find('"', at + 1);
    if (end == std::string::npos) break;
    words.push_back(text.substr(at + 1, end - at - 1));
    at = text.find('"', end + 1);
  }
  return words;
}

/// Returns the kinds of the axes; empty when the header does not say them.
std::vector<std::string> kinds_of(const HeaderFields& fields) {
  std::vector<std::string> kinds;
  const std::string* text = fields.find({"kinds"});
  std::string word;
  for (const char c : text == nullptr ? std::string() : *text + " ")
    if (c != ' ' && c != '\t')
      word += c;
    else if (!word.empty())
      kinds.push_back(std::exchange(word, ""));
  return kinds;
}

/// Returns the reason why the axes are not three of space; empty when they are.
std::string axes_problem(const std::vector<std::int64_t>& sizes, const std::vector<std::string>& kinds) {
  std::string others;
  for (std::size_t a = 0; a < kinds.size() && a < axes_that_count(sizes); ++a)
    if (std::ranges::find(kSpaceKinds, lower_case(kinds[a])) == std::end(kSpaceKinds))
      others += (others.empty() ? "" : ", ") + std::string("axis ") + std::to_string(a + 1) + " is of kind " +
                shown_name(kinds[a]) + " with " + std::to_string(sizes[a]) + " values";
  if (axes_that_count(sizes) == 3 && others.empty()) return "";
  return "has " + std::to_string(sizes.size()) + " dimensions" + (others.empty() ? "" : " (" + others + ")") +
         ", expected three of space; split it into one file per volume, or export a scalar volume";
}

/// Kinds of an axis of channels; colours and points in time are none.
constexpr const char* kChannelKinds[] = {"list", "vector", "2-vector", "3-vector", "4-vector"};

/// Returns the axis of a 4-D volume along which its channels lie: the one of a kind of its own, else the one without a
/// direction in space, else the last. None: there is no such axis, or it is that of something else.
std::optional<std::size_t> channel_axis(const TextVolume& v, const std::vector<std::string>& kinds,
                                        const std::vector<std::optional<std::array<double, 3>>>& directions) {
  if (v.dimensions.size() != 4) return std::nullopt;
  std::vector<std::size_t> found;
  bool of_channels = true;
  for (std::size_t a = 0; a < std::min<std::size_t>(4, kinds.size()); ++a)
    if (const std::string kind = lower_case(kinds[a]); std::ranges::find(kSpaceKinds, kind) == std::end(kSpaceKinds)) {
      found.push_back(a);
      of_channels = std::ranges::find(kChannelKinds, kind) != std::end(kChannelKinds);
    }
  for (std::size_t a = 0; found.empty() && a < std::min<std::size_t>(4, directions.size()); ++a)
    if (!directions[a]) found.push_back(a);
  if (found.empty() && directions.empty()) found.push_back(3);
  return found.size() == 1 && of_channels ? std::optional(found.front()) : std::nullopt;
}

/// Millimetres per unit of each axis of space. Errors: kInput for a unit that is none of length.
std::array<double, 3> nrrd_units(const HeaderFields& fields) {
  std::array<double, 3> mm = {1, 1, 1};
  const std::string* text = fields.find({"spaceunits"});
  const auto words = text == nullptr ? std::vector<std::string>() : quoted_words(*text);
  for (std::size_t a = 0; a < std::min<std::size_t>(3, words.size()); ++a) {
    const auto row = std::ranges::find(kNrrdUnits, lower_case(words[a]), [](const auto& r) { return r.first; });
    if (row == std::end(kNrrdUnits)) throw fields.error("with the unknown space unit \"" + shown_name(words[a]) + "\"");
    mm[a] = row->second;
  }
  return mm;
}

/// Sets axes, origin and how they were derived, of a header whose first three axes are those of space.
///   channels  an axis beside these
void place_nrrd(const HeaderFields& fields, std::optional<std::size_t> channels, TextVolume& v) {
  const std::string* space = fields.find({"space"});
  auto directions = vectors_of(fields, "spacedirections");
  const auto origins = vectors_of(fields, "spaceorigin");
  const auto without_channels = [&](auto& values) {
    if (channels && *channels < values.size()) values.erase(values.begin() + static_cast<std::ptrdiff_t>(*channels));
  };
  without_channels(directions);
  if (directions.empty()) {
    auto spacings = fields.numbers({"spacings"});
    without_channels(spacings);
    for (std::size_t a = 0; a < std::min<std::size_t>(3, spacings.size()); ++a) v.lps_mm[a][a] = spacings[a];
    v.form_used = "none (spacing only)", v.warning = kNoAxesWarning;
    return;
  }
  if (directions.size() != v.dimensions.size() ||
      !std::all_of(directions.begin(), directions.begin() + 3, [](const auto& d) { return d.has_value(); })) {
    v.problem = "has axes without a direction in space; export a volume of three axes of space";
    return;
  }
  std::array<double, 3> sign = {1, 1, 1};
  const std::string name = space == nullptr ? "" : lower_case(*space);
  const auto row =
      std::ranges::find_if(kNrrdSpaces, [&](const NrrdSpace& s) { return name == s.name || name == s.letters; });
  if (row != std::end(kNrrdSpaces))
    sign = row->to_lps;
  else if (space == nullptr ? fields.integer({"spacedimension"}, 3) == 3
                            : std::ranges::find(kOtherSpaces, name) != std::end(kOtherSpaces))
    v.warning = "W_FORMS its space names no sides of the body and is taken for left, posterior, superior; check them";
  else
    v.problem = "lies in the space " + shown_name(space == nullptr ? "of other than 3 dimensions" : *space) +
                ", expected right-anterior-superior, left-anterior-superior or left-posterior-superior";
  const auto mm = nrrd_units(fields);
  v.form_used = "space directions";
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t a = 0; a < 3; ++a) v.lps_mm[r][a] = (*directions[a])[r] * sign[r] * mm[r];
    v.lps_mm[r][3] = !origins.empty() && origins[0] ? (*origins[0])[r] * sign[r] * mm[r] : 0;
  }
}

/// Sets where the voxels are, and packed how. `offset`: of the first byte behind the header.
void find_nrrd_voxels(const HeaderFields& fields, bool attached, std::int64_t offset, TextVolume& v) {
  const std::string& encoding = fields.at("encoding");
  const auto row = std::ranges::find(kNrrdEncodings, lower_case(encoding), [](const auto& r) { return r.first; });
  if (row == std::end(kNrrdEncodings)) {
    v.problem = "is encoded as " + shown_name(encoding) + ", expected raw or gzip; export it again";
    return;
  }
  v.packing = row->second;
  if (const std::string* name = fields.find({"datafile"})) {
    if (lower_case(*name).starts_with("list") || name->find('%') != std::string::npos) {
      v.problem = "has its voxels in several files, expected one; export it as one .nrrd";
      return;
    }
    v.data_file = data_file_of(v.path, *name);
  } else if (attached) {
    v.begin = offset;
  } else {
    throw fields.error("that ends without the empty line before the voxels, and without a \"data file\"");
  }
  const std::int64_t skip = fields.integer({"byteskip"}, 0);
  if (fields.integer({"lineskip"}, 0) != 0 || skip < -1 || skip > kMostHeaderBytes ||
      (skip == -1 && v.packing != Packing::kPlain))
    v.problem = "skips lines or bytes before its voxels in a way that is not read; export it again";
  else if (v.packing == Packing::kPlain)
    v.begin = skip == -1 ? -1 : v.begin + skip;
  else
    v.skip_bytes = skip;
}

/// Reads the header into the form of all formats.
TextVolume nrrd_volume(const fs::path& path) {
  const auto address = channel_in(path);
  TextHeader header(file_of_channel(path));
  HeaderFields fields(path);
  const bool attached = read_nrrd_fields(header, fields, path);
  TextVolume v{
      .path = path, .data_file = file_of_channel(path), .lps_mm = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}}};
  const std::int64_t count = fields.integer({"dimension"}, 0);
  if (count < 1 || count > 16) throw fields.error("with an impossible number of dimensions");
  v.dimensions = fields.sizes("sizes", count);
  v.type_name = fields.at("type");
  for (const NrrdType& row : nrrd_types())
    if (std::ranges::find(row.names, lower_case(v.type_name)) != row.names.end()) v.type = row.type;
  find_nrrd_voxels(fields, attached, header.offset(), v);
  auto kinds = kinds_of(fields);
  const auto channels =
      address ? channel_axis(v, kinds, vectors_of(fields, "spacedirections")) : std::optional<std::size_t>();
  if (address) take_channel(*address, channels, v);
  if (channels && *channels < kinds.size()) kinds.erase(kinds.begin() + static_cast<std::ptrdiff_t>(*channels));
  if (v.problem.empty()) v.problem = axes_problem(v.dimensions, kinds);
  if (v.problem.empty()) place_nrrd(fields, channels, v);
  const std::string* endian = fields.find({"endian"});
  const std::string order = endian == nullptr ? "" : lower_case(*endian);
  v.big_endian = order == "big";
  if (v.type && voxel_type_bytes(*v.type) > 1 && order != "big" && order != "little")
    throw fields.error("that does not say its byte order (endian: little or big)");
  return v;
}

VolumeHeader nrrd_header(const fs::path& path) { return volume_header(nrrd_volume(path)); }

}  // namespace

VolumeFormat nrrd_format(IrregularSlices irregular) {
  return {.name = "NRRD",
          .endings = {".nrrd"},
          .expected = ".nrrd, or .nhdr with its data file",
          .matches =
              [](const fs::path& path) {
                const fs::path ending = file_of_channel(path).extension();
                return ending == ".nrrd" || ending == ".nhdr";
              },
          .read_header = [=](const fs::path& path) { return upright_info(nrrd_header(path), irregular); },
          .read = [=](const fs::path& path, DType dtype) { return read_upright(nrrd_header(path), dtype, irregular); },
          .write =
              [](const fs::path& path, const Volume& volume, DiskType type) {
                write_with_itk(path, volume, type, ItkFormat::kNrrd,
                               [](const fs::path& file) { require_whole(nrrd_header(file)); });
              },
          .check = [=](const fs::path& path) { check_upright(nrrd_header(path), irregular); },
          .files = [](const fs::path& path) { return files_of_text_volume(path, nrrd_volume); }};
}

}  // namespace voxshard
