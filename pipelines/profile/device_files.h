// Which device a name means: one that is built in, a file of the user's, or this machine.
//
//   device_from_name("tpu-v3-32").spec.usable_bytes()     // built in, the slice of 32 cores
//   device_from_name("tpu-v3")                            // no slice chosen: cores is empty
//   device_from_name("mine.json:16"), device_from_name("host")
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/device/device_spec.h"

namespace voxshard {

struct NamedDevice {
  DeviceSpec spec;
  std::optional<std::int64_t> cores;  // of the slice that the name chose
};

/// Errors: kConfig for an unknown name or slice, with those that exist; for a file that is missing or wrong; for `host`
/// when this machine was not measured yet.
NamedDevice device_from_name(std::string_view name);

/// Where `voxshard doctor` writes and `host` reads what this machine can do: $VOXSHARD_HOST_DEVICE, else
/// voxshard/host.json in $XDG_CONFIG_HOME, else in ~/.config. Errors: kConfig when there is no home folder.
std::filesystem::path host_device_path();

/// "tpu-v2, tpu-v3": the devices of data/devices.
std::string builtin_device_names();

}  // namespace voxshard
