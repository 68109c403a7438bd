// Which device a name means: one that is built in, a file of the user's, or this machine.
//
//   device_from_name("tpu-v3-32").device->core_bytes()    // built in, the slice of 32 cores
//   device_from_name("tpu-v3")                            // no slice chosen: cores is empty
//   device_from_name("mine.json:16"), device_from_name("host")
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/device/device.h"

namespace voxshard {

struct NamedDevice {
  std::shared_ptr<const Device> device;
  std::optional<std::int64_t> cores = {};  // of the slice that the name chose
};

/// Errors: kConfig for an unknown name or slice, with those that exist; for a file that is missing or wrong; for `host`
/// when this machine was not measured yet.
NamedDevice device_from_name(std::string_view name);

/// The name with its file, if it is one, as absolute path: for those who keep it.   example: "mine.json:16" ->
/// "/home/me/mine.json:16"
std::string absolute_device_name(const std::string& name);

/// A device from the content of `file`: a TPU (tpu_json.h), or what `voxshard doctor` wrote (host_rates.h). Errors: kConfig.
std::shared_ptr<const Device> device_from_json(const nlohmann::json& json, const std::string& file, const std::string& name);
/// The same from text. Errors: also kConfig when it is no JSON.
std::shared_ptr<const Device> device_from_text(std::string_view text, const std::string& file, const std::string& name);

/// This machine with `threads` workers, as far as it has them; null when it was not measured yet. Errors: kConfig.
std::shared_ptr<const Device> host_device(int threads);

/// Where `voxshard doctor` writes and `host` reads what this machine can do: $VOXSHARD_HOST_DEVICE, else
/// voxshard/host.json in $XDG_CONFIG_HOME, else in ~/.config. Errors: kConfig when there is no home folder.
std::filesystem::path host_device_path();

/// "tpu-v2, tpu-v3": the devices of data/devices.
std::string builtin_device_names();

}  // namespace voxshard
