// Maps a name to a device: a built-in one, a file of the user, or this machine.
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
  std::optional<std::int64_t> cores = {};  // of the slice in the name
};

/// Errors: kConfig for an unknown name or slice, with the existing ones; for a missing or invalid file; for `host` when
/// this machine was not measured yet.
NamedDevice device_from_name(std::string_view name);

/// True when a word asks for a device that may be absent: "auto", "auto:NAME".
bool is_auto_device(std::string_view word);

struct FoundDevice {
  std::string name;  // for device_from_name; empty: this machine, not measured
  std::string note;  // the absent device and its replacement; may be empty
};
/// Resolves "auto:NAME" to NAME if there is such a device, and "auto" to this machine as measured. An absent device
/// falls back to this machine as measured, then to this machine without a measurement. Errors: kConfig for an existing
/// but invalid file.
FoundDevice found_device(std::string_view word);

/// Returns the name with the path of its file, if it has one, made absolute, so that it can be stored.   example:
/// "mine.json:16" -> "/home/me/mine.json:16"
std::string absolute_device_name(const std::string& name);

/// Returns a device from the content of `file`: a TPU (tpu_json.h), or the rates written by `voxshard doctor`
/// (host_rates.h). Errors: kConfig.
std::shared_ptr<const Device> device_from_json(const nlohmann::json& json, const std::string& file,
                                               const std::string& name);
/// The same from text. Errors: kConfig also when the text is no JSON.
std::shared_ptr<const Device> device_from_text(std::string_view text, const std::string& file, const std::string& name);

/// True when a readable measurement of this machine exists for the instruction set in use. Errors: those of
/// host_device_path().
bool is_host_measured();
/// Returns a sentence on why an existing measurement cannot be used: a folder without read permission, or another
/// instruction set than the one in use; else empty. Errors: the same.
std::string host_device_problem();

/// Returns this machine with `threads` workers, or fewer if it has fewer; null when it was not measured yet. Errors:
/// kConfig, also for a host_device_problem().
std::shared_ptr<const Device> host_device(int threads);

/// Returns the file that `voxshard doctor` writes and `host` reads: $VOXSHARD_HOST_DEVICE, else voxshard/host.json in
/// $XDG_CONFIG_HOME, else in ~/.config. Errors: kConfig when there is no home folder.
std::filesystem::path host_device_path();

/// Returns the names of the devices of data/devices: "tpu-v2, tpu-v3".
std::string builtin_device_names();

}  // namespace voxshard
