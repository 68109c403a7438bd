#include "libcore/device/tpu/tpu_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

using Json = nlohmann::json;

/// The rule that a key of the file must follow: the format as data.
struct FigureRule {
  const char* section;
  const char* key;
  const char* unit;
  bool whole;    // a count
  double scale;  // unit -> bytes, bytes/s, Hz, s
  void (*set)(TpuSpec&, double);
  bool optional = false;  // a file may omit it; the default then has no effect on prices
};

std::int64_t whole(double value) { return static_cast<std::int64_t>(std::llround(value)); }

constexpr FigureRule kRules[] = {
    {"core", "memory", "GiB", false, 0x1p30, [](TpuSpec& d, double v) { d.core_bytes = whole(v); }},
    {"core", "reserved", "MiB", false, 0x1p20, [](TpuSpec& d, double v) { d.reserved_bytes = whole(v); }},
    {"core", "matrix_units", "units", true, 1, [](TpuSpec& d, double v) { d.matrix_units = whole(v); }},
    {"core", "matrix_tile", "rows", true, 1, [](TpuSpec& d, double v) { d.matrix_tile = whole(v); }},
    {"core", "strip_rows", "rows", true, 1, [](TpuSpec& d, double v) { d.strip_rows = whole(v); }, true},
    {"core", "clock", "MHz", false, 1e6, [](TpuSpec& d, double v) { d.clock_hz = v; }},
    {"core", "vector_rate", "Gflop/s", false, 1e9, [](TpuSpec& d, double v) { d.vector_flops_s = v; }},
    {"core", "memory_rate", "GB/s", false, 1e9, [](TpuSpec& d, double v) { d.memory_bytes_s = v; }},
    {"core", "pass_rate", "GB/s", false, 1e9, [](TpuSpec& d, double v) { d.pass_bytes_s = v; }, true},
    {"core", "fused_tensors", "tensors", true, 1, [](TpuSpec& d, double v) { d.fused_tensors = whole(v); }, true},
    {"core", "dispatch", "us", false, 1e-6, [](TpuSpec& d, double v) { d.dispatch_s = v; }},
    {"chip", "cores", "cores", true, 1, [](TpuSpec& d, double v) { d.cores_per_chip = whole(v); }},
    {"chip", "links", "links", true, 1, [](TpuSpec& d, double v) { d.links_per_chip = whole(v); }},
    {"chip", "link_rate", "GB/s", false, 1e9, [](TpuSpec& d, double v) { d.link_bytes_s = v; }},
    {"chip", "hop_latency", "us", false, 1e-6, [](TpuSpec& d, double v) { d.hop_s = v; }},
    {"chip", "core_path_rate", "GB/s", false, 1e9, [](TpuSpec& d, double v) { d.core_path_bytes_s = v; }},
    {"host", "chips_x", "chips", true, 1, [](TpuSpec& d, double v) { d.host_chips_x = whole(v); }},
    {"host", "chips_y", "chips", true, 1, [](TpuSpec& d, double v) { d.host_chips_y = whole(v); }},
    {"host", "unpack_rate", "MB/s", false, 1e6, [](TpuSpec& d, double v) { d.unpack_bytes_s = v; }},
    {"host", "transfer_rate", "GB/s", false, 1e9, [](TpuSpec& d, double v) { d.transfer_bytes_s = v; }},
    {"host", "network_rate", "GB/s", false, 1e9, [](TpuSpec& d, double v) { d.network_bytes_s = v; }},
    {"pod", "chips_x", "chips", true, 1, [](TpuSpec& d, double v) { d.pod_chips_x = whole(v); }},
    {"pod", "chips_y", "chips", true, 1, [](TpuSpec& d, double v) { d.pod_chips_y = whole(v); }},
};
constexpr const char* kSections[] = {"core", "chip", "host", "pod"};

/// Reads one file and names it in errors.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Error wrong(const std::string& key, const std::string& what) const {
    return Error(ErrorKind::kConfig, "[device] " + file_ + ": " + key + ": " + what);
  }

  /// Throws when `json` is no object, when a key of `keys` is missing, or when it has a key that is in neither list.
  void require_keys(const Json& json, const std::string& key, const std::vector<std::string>& keys,
                    const std::vector<std::string>& optional = {}) const {
    if (!json.is_object()) throw wrong(key, "should be an object {…}, got " + json.dump());
    for (const auto& wanted : keys)
      if (!json.contains(wanted))
        throw wrong(key, "the key \"" + wanted + "\" is missing; it has " + joined(keys, ", "));
    for (const auto& [name, value] : json.items())
      if (std::find(keys.begin(), keys.end(), name) == keys.end() &&
          std::find(optional.begin(), optional.end(), name) == optional.end())
        throw wrong(key, "the key \"" + name + "\" is not known; expected " + joined(keys, ", ") +
                             (optional.empty() ? "" : "; may have " + joined(optional, ", ")));
  }

  std::string text(const Json& json, const std::string& key, const char* field) const {
    const Json& value = json.at(field);
    if (!value.is_string() || value.get<std::string>().empty())
      throw wrong(key, std::string("\"") + field + "\" should be a text that is not empty, got " + value.dump());
    return value;
  }

  Figure figure(const Json& json, const FigureRule& rule) const {
    Figure figure{.key = std::string(rule.section) + "." + rule.key, .unit = rule.unit};
    const std::string& key = figure.key;
    if (!json.is_object() || !json.contains("kind")) require_keys(json, key, {"value", "unit", "kind", "source"});
    figure.kind = text(json, key, "kind");
    const bool fitted = figure.kind == "fitted";
    constexpr const char* kKinds[] = {"published", "derived", "assumed", "measured", "fitted"};
    if (std::find(std::begin(kKinds), std::end(kKinds), figure.kind) == std::end(kKinds))
      throw wrong(key, "the kind \"" + figure.kind +
                           "\" is not known; expected published, derived, assumed, measured or fitted");
    if (fitted)
      require_keys(json, key, {"value", "unit", "kind", "mechanism", "fitted_to"});
    else
      require_keys(json, key, {"value", "unit", "kind", "source"});
    if (text(json, key, "unit") != rule.unit)
      throw wrong(key, "the unit is " + json.at("unit").dump() + "; expected \"" + rule.unit + "\"; convert the value");
    const Json& value = json.at("value");
    if (!value.is_number()) throw wrong(key, "the value should be a number, got " + value.dump());
    figure.value = value.get<double>();
    if (!(figure.value > 0) || !std::isfinite(figure.value * rule.scale))
      throw wrong(key, "the value should be positive, got " + value.dump());
    if (rule.whole && (figure.value != std::floor(figure.value) || figure.value > 1e6))
      throw wrong(key, "the value should be a whole number of at most a million, got " + value.dump());
    if (!fitted) {
      figure.source = text(json, key, "source");
      return figure;
    }
    figure.mechanism = text(json, key, "mechanism");
    const Json& rows = json.at("fitted_to");
    if (!rows.is_array() || rows.empty() ||
        !std::all_of(rows.begin(), rows.end(), [](auto& r) { return r.is_string(); }))
      throw wrong(key, "\"fitted_to\" should be a list of the names of rows, got " + rows.dump());
    figure.fitted_to = rows.get<std::vector<std::string>>();
    return figure;
  }

  std::int64_t count(const Json& json, const std::string& key, const char* field) const {
    const Json& value = json.at(field);
    if (!value.is_number_integer() || value.get<std::int64_t>() < 1 || value.get<std::int64_t>() > 1'000'000)
      throw wrong(key, std::string("\"") + field + "\" should be a positive whole number, got " + value.dump());
    return value;
  }

  bool flag(const Json& json, const std::string& key, const char* field) const {
    if (!json.at(field).is_boolean())
      throw wrong(key, std::string("\"") + field + "\" should be true or false, got " + json.at(field).dump());
    return json.at(field);
  }

  Slice slice(const Json& json, const std::string& key, const TpuSpec& device) const {
    require_keys(json, key, {"cores", "chips_x", "chips_y", "wrap_x", "wrap_y", "kind", "source"});
    for (const char* field : {"kind", "source"}) text(json, key, field);
    Slice slice{.cores = count(json, key, "cores"),
                .chips_x = count(json, key, "chips_x"),
                .chips_y = count(json, key, "chips_y"),
                .wrap_x = flag(json, key, "wrap_x"),
                .wrap_y = flag(json, key, "wrap_y")};
    if (slice.cores != slice.chips_x * slice.chips_y * device.cores_per_chip)
      throw wrong(key, "\"cores\" is " + std::to_string(slice.cores) + ", but " + std::to_string(slice.chips_x) +
                           " x " + std::to_string(slice.chips_y) + " chips of " +
                           std::to_string(device.cores_per_chip) + " cores are " +
                           std::to_string(slice.chips_x * slice.chips_y * device.cores_per_chip));
    if (slice.chips_x > device.pod_chips_x || slice.chips_y > device.pod_chips_y)
      throw wrong(key, "the slice is larger than the pod of " + std::to_string(device.pod_chips_x) + " x " +
                           std::to_string(device.pod_chips_y) + " chips");
    if (!device.slices.empty() && slice.cores <= device.slices.back().cores)
      throw wrong(key, "slices should be listed from small to large");
    return slice;
  }

 private:
  std::string file_;
};

/// Doubles x and y in turn from the largest listed slice, the shorter axis first, up to the pod.
void add_larger_slices(TpuSpec& device) {
  for (Slice next = device.slices.back();;) {
    const bool room_x = 2 * next.chips_x <= device.pod_chips_x, room_y = 2 * next.chips_y <= device.pod_chips_y;
    if (!room_x && !room_y) return;
    (room_x && (next.chips_x <= next.chips_y || !room_y) ? next.chips_x : next.chips_y) *= 2;
    next.cores = next.chips_x * next.chips_y * device.cores_per_chip;
    next.wrap_x = next.chips_x == device.pod_chips_x;
    next.wrap_y = next.chips_y == device.pod_chips_y;
    device.slices.push_back(next);
  }
}

}  // namespace

const Slice* TpuSpec::slice(std::int64_t cores) const {
  for (const Slice& s : slices)
    if (s.cores == cores) return &s;
  return nullptr;
}

std::string TpuSpec::slice_names() const {
  return joined(slices, ", ", [](const Slice& s) { return std::to_string(s.cores); });
}

TpuSpec tpu_from_json(const Json& json, const std::string& file, const std::string& name) {
  const Reader reader(file);
  reader.require_keys(json, "the file", {"description", "core", "chip", "host", "pod", "slices"});
  reader.text(json, "the file", "description");
  TpuSpec device{.name = name};
  for (const char* section : kSections) {
    std::vector<std::string> keys, optional;
    for (const FigureRule& rule : kRules)
      if (std::string_view(rule.section) == section) (rule.optional ? optional : keys).push_back(rule.key);
    reader.require_keys(json.at(section), section, keys, optional);
  }
  for (const FigureRule& rule : kRules) {
    if (rule.optional && !json.at(rule.section).contains(rule.key)) continue;
    device.figures.push_back(reader.figure(json.at(rule.section).at(rule.key), rule));
    rule.set(device, device.figures.back().value * rule.scale);
  }
  if (device.pass_bytes_s == 0) device.pass_bytes_s = device.memory_bytes_s;
  if (device.reserved_bytes >= device.core_bytes)
    throw reader.wrong("core.reserved", "is not less than core.memory; nothing would be left for programs");
  if (device.links_per_chip != 4)
    throw reader.wrong("chip.links", "only 2-D tori are modelled; expected 4 links, up and down each axis, got " +
                                         std::to_string(device.links_per_chip));
  const Json& slices = json.at("slices");
  if (!slices.is_array() || slices.empty()) throw reader.wrong("slices", "should be a list of at least one slice");
  for (std::size_t i = 0; i < slices.size(); ++i)
    device.slices.push_back(reader.slice(slices[i], "slices[" + std::to_string(i) + "]", device));
  add_larger_slices(device);
  return device;
}

}  // namespace voxshard
