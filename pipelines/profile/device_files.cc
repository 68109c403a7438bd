#include "pipelines/profile/device_files.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "libcore/base/cpu.h"
#include "libcore/base/parallel.h"
#include "libcore/base/text.h"
#include "libcore/device/builtin_devices.h"
#include "libcore/device/host/host_device.h"
#include "libcore/device/tpu/tpu_device.h"
#include "libcore/device/tpu/tpu_json.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> cores_from_text(std::string_view text) {
  std::int64_t cores = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cores);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return cores;
}

/// A kind of device that a file may describe; a new kind is a row.
struct DeviceKind {
  bool (*matches)(const nlohmann::json& json);
  std::shared_ptr<const Device> (*read)(const nlohmann::json& json, const std::string& file, const std::string& name);
};

constexpr DeviceKind kKinds[] = {
    {[](const nlohmann::json& json) { return json.is_object() && json.contains("measured_host"); },
     [](const nlohmann::json& json, const std::string& file, const std::string& name) -> std::shared_ptr<const Device> {
       return std::make_shared<HostDevice>(name, host_rates_from_json(json, file));
     }},
    {[](const nlohmann::json&) { return true; },
     [](const nlohmann::json& json, const std::string& file, const std::string& name) -> std::shared_ptr<const Device> {
       return std::make_shared<TpuDevice>(tpu_from_json(json, file, name));
     }}};

std::string slice_names(const Device& device) {
  return joined(device.slices(), ", ", [](std::int64_t cores) { return std::to_string(cores); });
}

NamedDevice with_slice(std::shared_ptr<const Device> device, std::string_view name, std::string_view cores_text) {
  const auto cores = cores_from_text(cores_text);
  const std::vector<std::int64_t> slices = device->slices();
  if (!cores || std::find(slices.begin(), slices.end(), *cores) == slices.end())
    throw Error(ErrorKind::kConfig, "[device] \"" + std::string(name) + "\": " + device->name() + " has no slice of " +
                                        std::string(cores_text) + " cores; it has " + slice_names(*device));
  return {std::move(device), cores};
}

bool is_file_name(std::string_view name) {
  return name.ends_with(".json") || name.find(".json:") != std::string_view::npos;
}

NamedDevice from_file(std::string_view name) {
  const std::size_t ending = name.rfind(".json");
  const fs::path path(name.substr(0, ending + 5));
  const std::string_view rest = name.substr(ending + 5);
  auto device = device_from_json(read_config(path), path.string(), path.stem().string());
  return rest.empty() ? NamedDevice{std::move(device)} : with_slice(std::move(device), name, rest.substr(1));
}

bool has_host_file() {
  std::error_code unseen;
  return fs::exists(host_device_path(), unseen);
}

NamedDevice from_host() {
  const fs::path path = host_device_path();
  if (const std::string problem = host_device_problem(); !problem.empty()) throw Error(ErrorKind::kConfig, problem);
  if (!has_host_file())
    throw Error(ErrorKind::kConfig,
                "[device] this machine was not measured yet: there is no " + path.string() + "; run voxshard doctor");
  return {device_from_json(read_config(path), path.string(), "host")};
}

}  // namespace

fs::path host_device_path() {
  auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const auto file = variable("VOXSHARD_HOST_DEVICE"); !file.empty()) return file;
  if (const auto folder = variable("XDG_CONFIG_HOME"); !folder.empty())
    return fs::path(folder) / "voxshard" / "host.json";
  if (const auto home = variable("HOME"); !home.empty()) return fs::path(home) / ".config" / "voxshard" / "host.json";
  throw Error(
      ErrorKind::kConfig,
      "[device] no folder for the measurement of this machine: HOME is not set; set VOXSHARD_HOST_DEVICE to a file");
}

bool is_host_measured() { return has_host_file() && host_device_problem().empty(); }

std::string host_device_problem() {
  std::error_code error;
  const fs::path path = host_device_path();
  if (fs::status(path, error).type() == fs::file_type::none)
    return "[device] " + path.string() + " cannot be looked for: " + error.message() +
           "; this machine counts as not measured. Set VOXSHARD_HOST_DEVICE to a file that you may read";
  if (!has_host_file()) return "";
  const std::string in_force = instruction_set_name(instruction_set());
  try {
    const HostRates rates = host_rates_from_json(read_config(path), path.string());
    if (rates.instruction_set == in_force) return "";
    return "[device] " + path.string() + " was measured with " + rates.instruction_set + ", in force is " + in_force +
           ": this machine counts as not measured. Run voxshard doctor again, or set VOXSHARD_HOST_DEVICE to a file "
           "of " +
           in_force;
  } catch (const Error&) {  // damaged: reported when it is read
    return "";
  }
}

bool is_auto_device(std::string_view word) { return word == "auto" || word.starts_with("auto:"); }

FoundDevice found_device(std::string_view word) {
  const std::string_view asked = word.substr(std::min(word.size(), std::string_view("auto:").size()));
  FoundDevice found;
  if (!asked.empty() && asked != "host") {
    const std::size_t ending = asked.rfind(".json");
    std::error_code unseen;
    const bool there = is_file_name(asked) && fs::exists(asked.substr(0, ending + 5), unseen);
    try {
      static_cast<void>(device_from_name(asked));
      return {.name = std::string(asked), .note = ""};
    } catch (const Error& e) {
      if (there) throw;
      found.note = "device " + std::string(asked) + " is absent, falling back to this machine: " + e.what();
    }
  }
  const std::string problem = host_device_problem();
  if (problem.empty() && has_host_file())
    found.name = "host";
  else
    found.note += std::string(found.note.empty() || problem.empty() ? "" : "; ") + problem,
        found.note += std::string(found.note.empty() ? "" : "; ") +
                      "this machine was not measured yet, run voxshard doctor: plans go by the clock of tpu-v3";
  return found;
}

std::string absolute_device_name(const std::string& name) {
  return is_file_name(name) ? fs::absolute(name).lexically_normal().string() : name;
}

std::shared_ptr<const Device> device_from_json(const nlohmann::json& json, const std::string& file,
                                               const std::string& name) {
  return std::find_if(std::begin(kKinds), std::end(kKinds), [&](const DeviceKind& kind) { return kind.matches(json); })
      ->read(json, file, name);
}

std::shared_ptr<const Device> device_from_text(std::string_view text, const std::string& file,
                                               const std::string& name) {
  const TextSource source{.path = file, .kind = ErrorKind::kConfig, .tag = "[device] ", .limits = kConfigLimits};
  return device_from_json(parse_json(text, source), file, name);
}

std::shared_ptr<const Device> host_device(int threads) {
  if (const std::string problem = host_device_problem(); !problem.empty()) throw Error(ErrorKind::kConfig, problem);
  if (!has_host_file()) return nullptr;
  const fs::path path = host_device_path();
  HostRates rates = host_rates_from_json(read_config(path), path.string());
  rates.threads = std::min(threads, hardware_workers());
  return std::make_shared<HostDevice>("host", std::move(rates));
}

std::string builtin_device_names() {
  return joined(builtin_devices(), ", ", [](const BuiltinDevice& device) { return device.name; });
}

NamedDevice device_from_name(std::string_view name) {
  if (name == "host") return from_host();
  if (is_file_name(name)) return from_file(name);
  for (const BuiltinDevice& device : builtin_devices()) {
    const std::string_view known = device.name;
    if (!name.starts_with(known)) continue;
    const std::string_view rest = name.substr(known.size());
    if (!rest.empty() && rest[0] != '-') continue;
    auto found = device_from_text(device.json, device.name + std::string(".json"), device.name);
    return rest.empty() ? NamedDevice{std::move(found)} : with_slice(std::move(found), name, rest.substr(1));
  }
  throw Error(ErrorKind::kConfig,
              "[device] \"" + std::string(name) + "\" is not known; expected " + builtin_device_names() +
                  ", one of them with a slice like tpu-v3-32, host, or a file like mine.json or mine.json:16");
}

}  // namespace voxshard
