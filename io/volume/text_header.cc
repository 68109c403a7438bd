// Lines, fields and numbers of text headers.
//
//   HeaderFields f("ct.nrrd"); f.add("sizes", "512 512 90"); f.sizes("sizes", 3)   // {512, 512, 90}
#include "io/volume/text_header.h"

#include <charconv>
#include <cmath>

#include "io/files/file_error.h"
#include "io/files/file_name.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBlanks = " \t\r\n\v\f";

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(kBlanks) - first + 1));
}

std::optional<double> finite_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

TextHeader::TextHeader(const fs::path& path) : path_(path), in_(path) {
  require_volume_file(path);
  if (!in_) throw input_error(path, in_.problem(), "check the path and its permissions");
}

std::optional<std::string> TextHeader::line() {
  std::string text;
  int c = in_.get();
  if (c == std::char_traits<char>::eof()) return std::nullopt;
  for (; c != std::char_traits<char>::eof(); c = in_.get()) {
    if (++offset_ > kMostHeaderBytes)
      throw input_error(path_, "has a header of more than a MiB of text", "export it again", "E_LIMIT");
    if (c == '\n') break;
    text += static_cast<char>(c);
  }
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

Error HeaderFields::error(const std::string& what) const {
  return input_error(path_, "has a header " + what, "export it again");
}

void HeaderFields::add(const std::string& name, const std::string& value) {
  if (!fields_.emplace(name, value).second) throw error("with two fields \"" + shown_name(name) + "\"");
}

const std::string* HeaderFields::find(std::initializer_list<const char*> names) const {
  for (const char* name : names)
    if (const auto at = fields_.find(name); at != fields_.end()) return &at->second;
  return nullptr;
}

const std::string& HeaderFields::at(const char* name) const {
  const std::string* value = find({name});
  if (value == nullptr) throw error(std::string("without the field \"") + name + "\"");
  return *value;
}

std::vector<double> HeaderFields::numbers(std::initializer_list<const char*> names) const {
  constexpr std::size_t kMost = 64;
  const std::string* text = find(names);
  std::vector<double> values;
  if (text == nullptr) return values;
  for (const std::string_view word : words_of(*text)) {
    const auto value = finite_number(word);
    if (!value || values.size() == kMost)
      throw error(std::string("whose field \"") + *names.begin() + "\" is \"" + shown_name(*text) +
                  "\", expected numbers");
    values.push_back(*value);
  }
  return values;
}

std::int64_t HeaderFields::integer(std::initializer_list<const char*> names, std::int64_t otherwise) const {
  const std::string* text = find(names);
  if (text == nullptr) return otherwise;
  const auto value = whole_number(trimmed(*text));
  if (!value)
    throw error(std::string("whose field \"") + *names.begin() + "\" is \"" + shown_name(*text) +
                "\", expected a whole number");
  return *value;
}

std::vector<std::int64_t> HeaderFields::sizes(const char* name, std::int64_t count) const {
  std::vector<std::int64_t> sizes;
  for (const std::string_view word : words_of(at(name))) {
    const auto size = whole_number(word);
    if (!size || *size < 1 || sizes.size() == 16)
      throw error(std::string("whose field \"") + name + "\" is \"" + shown_name(at(name)) +
                  "\", expected voxels along each axis");
    sizes.push_back(*size);
  }
  if (static_cast<std::int64_t>(sizes.size()) != count)
    throw error("with " + std::to_string(sizes.size()) + " sizes of " + std::to_string(count) + " dimensions");
  return sizes;
}

fs::path data_file_of(const fs::path& header, const std::string& name) {
  if (const std::string problem = name_problem(name, kMostFileNameBytes); !problem.empty())
    throw input_error(header, "names the data file \"" + shown_name(name) + "\", which " + problem,
                      "give the name of one file in the same folder", "E_NAME");
  return header.parent_path() / name;
}

std::size_t axes_that_count(const std::vector<std::int64_t>& sizes) {
  std::size_t count = sizes.size();
  while (count > 3 && sizes[count - 1] == 1) --count;
  return count;
}

void take_channel(const ChannelAddress& address, std::optional<std::size_t> axis, TextVolume& v) {
  const std::string expected = ", expected " + std::to_string(address.channels) + " channels";
  const auto refuse = [&](const std::string& what) { v.problem = what, v.problem_code = kOtherChannels; };
  if (!axis)
    return refuse("has no axis of channels" + expected + "; give one file per channel, or correct the description");
  const std::int64_t have = v.dimensions.at(*axis);
  if (have != address.channels)
    return refuse("has " + std::to_string(have) + " along the axis of its channels" + expected +
                  "; split it, or correct the description");
  const bool first = *axis == 0;
  if (!first && *axis + 1 != v.dimensions.size())
    return refuse("has its channels between its axes of space" + expected +
                  " along the first axis or the last; export it again");
  const std::int64_t voxel = v.type ? voxel_type_bytes(*v.type) : 0;
  if (product_bytes(v.dimensions, voxel) < 0) return refuse("promises more bytes than a file can have" + expected);
  v.dimensions.erase(v.dimensions.begin() + static_cast<std::ptrdiff_t>(*axis));
  if (first) {
    v.interleaved = address.channels, v.which = address.channel;
    return;
  }
  const std::int64_t bytes = product_bytes(v.dimensions, voxel);
  v.channel_bytes = address.channel * bytes, v.rest_bytes = (address.channels - 1 - address.channel) * bytes;
}

VolumeHeader volume_header(const TextVolume& v) {
  VolumeInfo info;
  std::array<std::int64_t, 3> size{};
  for (std::size_t a = 0; a < 3; ++a) size[a] = a < v.dimensions.size() ? v.dimensions[a] : 1;
  const AxesPlacement placed = orthogonal_geometry(v.lps_mm, size);
  info.geometry = placed.geometry;
  info.orientation = orientation_code(placed.geometry);
  info.scalar_type = v.type ? voxel_type_name(*v.type) : v.type_name;
  info.components = v.components;
  info.dimensions = v.dimensions;
  info.shear_degrees = placed.shear_degrees;
  info.shear_shift_mm = placed.shear_shift_mm;
  info.form_used = v.form_used;
  info.big_endian = v.big_endian;
  info.voxel_bytes = product_bytes(v.dimensions, v.type ? voxel_type_bytes(*v.type) * v.components : 0);
  std::error_code error;
  const auto bytes = fs::file_size(v.data_file, error);
  info.file_bytes = error ? 0 : static_cast<std::int64_t>(bytes);
  info.compressed = v.packing != Packing::kPlain;
  info.warning =
      v.warning.empty() && !placed.sheared ? shear_warning(info.shear_degrees, info.shear_shift_mm) : v.warning;
  info.problem = v.problem, info.problem_code = v.problem_code;
  if (info.problem.empty() && v.components != 1)
    info.problem = "holds " + std::to_string(v.components) +
                   " numbers per voxel (colour or vector), expected one; export a scalar volume";
  if (info.problem.empty() && !v.type)
    info.problem = "has voxels of the type " + shown_name(v.type_name) + "; export it as int16 or float32";
  if (info.problem.empty()) {
    info.problem = placed.problem;
    if (placed.sheared) info.problem_code = kShearCode;
  }
  info.readable = info.problem.empty();
  VoxelSource source{.named = v.path,
                     .file = v.data_file,
                     .packing = v.packing,
                     .begin = v.begin,
                     .skip_bytes = v.skip_bytes,
                     .rest_bytes = v.rest_bytes,
                     .interleaved = v.interleaved,
                     .which = v.which,
                     .type = v.type.value_or(VoxelType::kF32),
                     .big_endian = v.big_endian};
  if (source.begin < 0)
    source.begin = std::max<std::int64_t>(0, info.file_bytes - v.channel_bytes - v.rest_bytes -
                                                 std::max<std::int64_t>(0, info.voxel_bytes) * v.interleaved);
  (v.packing == Packing::kPlain ? source.begin : source.skip_bytes) += v.channel_bytes;
  return {info, source};
}

std::vector<fs::path> files_of_text_volume(const fs::path& path, TextVolume (*read)(const fs::path&)) {
  const fs::path file = file_of_channel(path);
  try {
    const TextVolume volume = read(path);
    if (volume.data_file != file) return {file, volume.data_file};
  } catch (const Error&) {  // reading the volume will say what is wrong
  }
  return {file};
}

}  // namespace voxshard
