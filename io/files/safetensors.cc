// Example of a file with one tensor of two floats: 8 bytes length (72), then
// {"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}} padded with spaces, then 8 bytes of data.
// The header is untrusted input: lengths are checked before memory is allocated.
#include "io/files/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <set>
#include <span>

#include <nlohmann/json.hpp>

#include "io/files/atomic_file.h"
#include "io/files/content_hash.h"
#include "io/files/open_file.h"
#include "io/files/structured_text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the file form is little-endian");

// Keys in __metadata__. Both hold hashes by content_hash.h: the first of each tensor's bytes, as JSON {name: hash}; the
// second of the header, in which zeros take the place of this hash itself.
constexpr const char* kTensorHashes = "xxh3_128";
constexpr const char* kHeaderHash = "xxh3_128_header";
const std::string kNoHash(32, '0');
constexpr std::uint64_t kHeaderLimit = 100'000'000;  // the limit of the reference implementation
constexpr TextLimits kHeaderLimits{.bytes = kHeaderLimit, .depth = 8, .values = 10'000'000};

struct TypeName {
  DType type;
  const char* name;
};
constexpr TypeName kTypeNames[] = {
    {DType::kF32, "F32"}, {DType::kBF16, "BF16"}, {DType::kF64, "F64"}, {DType::kI32, "I32"}, {DType::kU8, "U8"}};

const char* name_of(DType type) {
  for (const TypeName& row : kTypeNames)
    if (row.type == type) return row.name;
  return "?";
}

[[noreturn]] void refuse(const fs::path& path, const std::string& what) {
  throw Error(ErrorKind::kCheckpoint, "[checkpoint] " + path.string() + ": " + what +
                                          "; the file is damaged or no safetensors file: use another checkpoint");
}

/// One entry of the header, checked on its own.
struct Entry {
  std::string name;
  DType type = DType::kF32;
  Shape shape;
  std::uint64_t begin = 0, end = 0;
};

std::uint64_t whole_number(const json& value, const fs::path& path, const std::string& name) {
  if (!value.is_number_unsigned())
    refuse(path, "tensor \"" + name + "\" has a size or offset that is not a whole number");
  return value.get<std::uint64_t>();
}

Entry read_entry(const std::string& name, const json& value, std::uint64_t data_bytes, const fs::path& path) {
  Entry entry{.name = name, .shape = {}};
  if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") || !value.contains("data_offsets"))
    refuse(path, "tensor \"" + name + "\" lacks dtype, shape or data_offsets");
  const json &type = value["dtype"], &shape = value["shape"], &offsets = value["data_offsets"];
  const auto row =
      std::find_if(std::begin(kTypeNames), std::end(kTypeNames), [&](const TypeName& t) { return type == t.name; });
  if (row == std::end(kTypeNames))
    refuse(path, "tensor \"" + name + "\" has an element type other than F32, BF16, F64, I32, U8");
  entry.type = row->type;
  if (!shape.is_array() || shape.size() > kMaxAxes)
    refuse(path, "tensor \"" + name + "\" has a shape of more than 6 axes");
  if (!offsets.is_array() || offsets.size() != 2) refuse(path, "tensor \"" + name + "\" has no two data_offsets");
  // Multiplied in double first: 2^40 per axis over 6 axes would overflow 64 bits, even when a later extent is 0.
  double estimate = static_cast<double>(dtype_bytes(entry.type)), widest = estimate;
  for (const json& extent : shape) {
    const std::uint64_t e = whole_number(extent, path, name);
    if (e > (std::uint64_t{1} << 40)) refuse(path, "tensor \"" + name + "\" has an impossible extent");
    entry.shape.push_back(static_cast<std::int64_t>(e));
    estimate *= static_cast<double>(e);
    widest *= static_cast<double>(std::max<std::uint64_t>(e, 1));
  }
  if (widest > 0x1p60) refuse(path, "tensor \"" + name + "\" has an impossible shape");
  if (estimate > static_cast<double>(data_bytes)) refuse(path, "tensor \"" + name + "\" is larger than the file");
  std::uint64_t bytes = static_cast<std::uint64_t>(dtype_bytes(entry.type));
  for (auto e : entry.shape) bytes *= static_cast<std::uint64_t>(e);
  entry.begin = whole_number(offsets[0], path, name);
  entry.end = whole_number(offsets[1], path, name);
  if (entry.begin > entry.end || entry.end > data_bytes)
    refuse(path, "tensor \"" + name + "\" lies outside the file's " + std::to_string(data_bytes) + " data bytes");
  if (entry.end - entry.begin != bytes) refuse(path, "tensor \"" + name + "\" has offsets that do not match its shape");
  return entry;
}

/// Returns the header as text, after its length has been checked against the file.
std::string read_header(std::istream& in, std::uint64_t file_bytes, const fs::path& path) {
  std::uint64_t length = 0;
  if (file_bytes < 8 || !in.read(reinterpret_cast<char*>(&length), 8)) refuse(path, "is shorter than 8 bytes");
  if (length > file_bytes - 8 || length > kHeaderLimit)
    refuse(path,
           "promises a header of " + std::to_string(length) + " bytes, the file has " + std::to_string(file_bytes));
  std::string text(static_cast<std::size_t>(length), '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(length)))
    refuse(path, "cannot be read to the end of its header");
  return text;
}

json parse_header(const std::string& text, const fs::path& path) {
  try {
    return parse_json(text, {.path = {}, .kind = ErrorKind::kCheckpoint, .limits = kHeaderLimits});
  } catch (const Error& e) {
    refuse(path, std::string("has a header that ") + e.what());
  }
}

std::map<std::string, std::string> read_metadata(const json& value, const fs::path& path) {
  std::map<std::string, std::string> metadata;
  if (!value.is_object()) refuse(path, "has __metadata__ that is not an object");
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) refuse(path, "has __metadata__ \"" + key + "\" that is not a text");
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

/// Takes both hashes out of the metadata and checks the one of the header. Returns those of the tensors; none when the
/// file has no hashes.
std::optional<json> take_hashes(std::map<std::string, std::string>& metadata, std::string text, const fs::path& path) {
  const auto hashes = metadata.extract(kTensorHashes), of_header = metadata.extract(kHeaderHash);
  if (hashes.empty() && of_header.empty()) return std::nullopt;
  if (hashes.empty() || of_header.empty()) refuse(path, "has lost one of its two hashes");
  const std::size_t at = text.find(of_header.mapped());
  if (of_header.mapped().size() != kNoHash.size() || at == std::string::npos)
    refuse(path, "has a hash of its header that is none");
  text.replace(at, kNoHash.size(), kNoHash);
  if (content_hash(text) != of_header.mapped()) refuse(path, "has a header that was altered after it was written");
  json parsed = parse_header(hashes.mapped(), path);
  if (!parsed.is_object()) refuse(path, "has hashes of its tensors that are none");
  return parsed;
}

std::span<const std::byte> bytes_of(const TensorView& view) {
  const std::int64_t bytes = element_count(view.extent()) * dtype_bytes(view.dtype);
  return {reinterpret_cast<const std::byte*>(view.data), static_cast<std::size_t>(bytes)};
}

}  // namespace

const Tensor* SafetensorsFile::find(const std::string& name) const {
  for (const NamedTensor& t : tensors)
    if (t.name == name) return &t.tensor;
  return nullptr;
}

void save_safetensors(const fs::path& path, const std::vector<NamedView>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object(), hashes = nlohmann::ordered_json::object();
  header["__metadata__"] = metadata;  // stands first
  std::int64_t at = 0;
  std::set<std::string> names{"__metadata__"};
  for (const NamedView& t : tensors) {
    ensure(names.insert(t.name).second, "tensors of a checkpoint have different names");
    ensure(t.view.is_dense(), "tensors of a checkpoint are dense");
    const std::int64_t bytes = element_count(t.view.extent()) * dtype_bytes(t.view.dtype);
    auto& entry = header[t.name];
    entry["dtype"] = name_of(t.view.dtype);
    entry["shape"] = std::vector<std::int64_t>(t.view.extent().begin(), t.view.extent().end());
    entry["data_offsets"] = {at, at + bytes};
    hashes[t.name] = content_hash(bytes_of(t.view));
    at += bytes;
  }
  constexpr auto kReplace = json::error_handler_t::replace;
  auto& about = header["__metadata__"];
  ensure(!about.contains(kTensorHashes) && !about.contains(kHeaderHash), "hashes are not given but made");
  about[kTensorHashes] = hashes.dump(-1, ' ', false, kReplace);
  about[kHeaderHash] = kNoHash;
  std::string text = header.dump(-1, ' ', false, kReplace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::string place = std::string("\"") + kHeaderHash + "\":\"";
  text.replace(text.find(place + kNoHash) + place.size(), kNoHash.size(), content_hash(text));
  const std::uint64_t length = text.size();
  write_file_atomically(path, [&](std::ostream& out) {
    out.write(reinterpret_cast<const char*>(&length), 8);
    out << text;
    for (const NamedView& t : tensors)
      out.write(reinterpret_cast<const char*>(t.view.data), static_cast<std::streamsize>(bytes_of(t.view).size()));
  });
}

void save_safetensors(const fs::path& path, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  std::vector<NamedView> views;
  for (const NamedTensor& t : tensors) views.push_back({t.name, t.tensor.view()});
  save_safetensors(path, views, metadata);
}

SafetensorsFile load_safetensors(const fs::path& path) {
  InputFile in(path);
  if (!in)
    throw Error(ErrorKind::kInput,
                "[checkpoint] " + path.string() + ": " + in.problem() + "; check the path and its permissions");
  const auto file_bytes = static_cast<std::uint64_t>(in.bytes());
  const std::string text = read_header(in, file_bytes, path);
  const json header = parse_header(text, path);
  if (!header.is_object()) refuse(path, "has a header that is not a JSON object");
  const std::uint64_t data_bytes = file_bytes - 8 - text.size();

  SafetensorsFile file;
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") {
      file.metadata = read_metadata(value, path);
    } else {
      entries.push_back(read_entry(name, value, data_bytes, path));
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != at) refuse(path, "tensor \"" + entry.name + "\" overlaps another or leaves a gap before it");
    at = entry.end;
  }
  if (at != data_bytes)
    refuse(path, "holds " + std::to_string(data_bytes) + " data bytes, its tensors " + std::to_string(at));
  const std::optional<json> hashes = take_hashes(file.metadata, text, path);
  file.has_hashes = hashes.has_value();
  if (hashes && hashes->size() != entries.size())
    refuse(path, "has tensors without a hash, or hashes without a tensor");
  for (const Entry& entry : entries) {
    Tensor tensor(entry.type, entry.shape);
    if (!in.read(reinterpret_cast<char*>(tensor.data()), static_cast<std::streamsize>(entry.end - entry.begin)))
      refuse(path, "ends inside tensor \"" + entry.name + "\"");
    if (hashes && hashes->value(entry.name, json()) != json(content_hash(bytes_of(tensor.view()))))
      refuse(path, "tensor \"" + entry.name + "\" has other bytes than were written: its hash differs");
    file.tensors.push_back({entry.name, std::move(tensor)});
  }
  return file;
}

}  // namespace voxshard
