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

/// Whether a word asks for a device that may be absent: "auto", "auto:NAME".
bool is_auto_device(std::string_view word);

struct FoundDevice {
  std::string name;  // for device_from_name; empty: this machine, not measured
  std::string note;  // what was absent, and what is taken for it; may be empty
};
/// "auto:NAME" is NAME where there is such a device, "auto" this machine as measured; what is absent falls back, first
/// to this machine, then to it without a measurement. Errors: kConfig for a file that is there and wrong.
FoundDevice found_device(std::string_view word);

/// The name with its file, if it is one, as absolute path: for those who keep it.   example: "mine.json:16" ->
/// "/home/me/mine.json:16"
std::string absolute_device_name(const std::string& name);

/// A device from the content of `file`: a TPU (tpu_json.h), or what `voxshard doctor` wrote (host_rates.h). Errors:
/// kConfig.
std::shared_ptr<const Device> device_from_json(const nlohmann::json& json, const std::string& file,
                                               const std::string& name);
/// The same from text. Errors: also kConfig when it is no JSON.
std::shared_ptr<const Device> device_from_text(std::string_view text, const std::string& file, const std::string& name);

/// Whether this machine was measured, as far as its user may see, with the instruction set in force. Errors: those of
/// host_device_path().
bool is_host_measured();
/// Why it counts as not measured though it may have been, in a sentence: a folder that the user may not look into, or
/// another instruction set than the one in force; else empty. Errors: the same.
std::string host_device_problem();

/// This machine with `threads` workers, as far as it has them; null when it was not measured yet. Errors: kConfig, also
/// for a host_device_problem().
std::shared_ptr<const Device> host_device(int threads);

/// Where `voxshard doctor` writes and `host` reads what this machine can do: $VOXSHARD_HOST_DEVICE, else
/// voxshard/host.json in $XDG_CONFIG_HOME, else in ~/.config. Errors: kConfig when there is no home folder.
std::filesystem::path host_device_path();

/// "tpu-v2, tpu-v3": the devices of data/devices.
std::string builtin_device_names();

}  // namespace voxshard
