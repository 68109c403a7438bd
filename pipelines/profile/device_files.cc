#include "pipelines/profile/device_files.h"

#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "libcore/base/error.h"
#include "libcore/device/builtin_devices.h"
#include "libcore/device/device_json.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> cores_from_text(std::string_view text) {
  std::int64_t cores = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cores);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return cores;
}

NamedDevice with_slice(DeviceSpec spec, std::string_view name, std::string_view cores_text) {
  const auto cores = cores_from_text(cores_text);
  if (!cores || spec.slice(*cores) == nullptr)
    throw Error(ErrorKind::kConfig, "[device] \"" + std::string(name) + "\": " + spec.name + " has no slice of " +
                                        std::string(cores_text) + " cores; it has " + spec.slice_names());
  return {std::move(spec), cores};
}

NamedDevice from_file(std::string_view name) {
  const std::size_t ending = name.rfind(".json");
  const fs::path path(name.substr(0, ending + 5));
  const std::string_view rest = name.substr(ending + 5);
  DeviceSpec spec = device_from_json(read_config(path), path.string(), path.stem().string());
  if (rest.empty()) return {std::move(spec), std::nullopt};
  return with_slice(std::move(spec), name, rest.substr(1));
}

NamedDevice from_host() {
  const fs::path path = host_device_path();
  if (!fs::exists(path))
    throw Error(ErrorKind::kConfig,
                "[device] this machine was not measured yet: there is no " + path.string() + "; run voxshard doctor");
  return {device_from_json(read_config(path), path.string(), "host"), std::nullopt};
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

std::string builtin_device_names() {
  std::string names;
  for (const BuiltinDevice& device : builtin_devices()) names += std::string(names.empty() ? "" : ", ") + device.name;
  return names;
}

NamedDevice device_from_name(std::string_view name) {
  if (name == "host") return from_host();
  if (name.ends_with(".json") || name.find(".json:") != std::string_view::npos) return from_file(name);
  for (const BuiltinDevice& device : builtin_devices()) {
    const std::string_view known = device.name;
    if (!name.starts_with(known)) continue;
    const std::string_view rest = name.substr(known.size());
    if (!rest.empty() && rest[0] != '-') continue;
    DeviceSpec spec = device_from_text(device.json, device.name + std::string(".json"), device.name);
    if (rest.empty()) return {std::move(spec), std::nullopt};
    return with_slice(std::move(spec), name, rest.substr(1));
  }
  throw Error(ErrorKind::kConfig,
              "[device] \"" + std::string(name) + "\" is not known; expected " + builtin_device_names() +
                  ", one of them with a slice like tpu-v3-32, host, or a file like mine.json or mine.json:16");
}

}  // namespace voxshard
