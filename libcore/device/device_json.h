// JSON text to a DeviceSpec. A file has the sections core, chip, host, pod and slices; each figure is
//
//   "clock": {"value": 940, "unit": "MHz", "kind": "published", "source": "Hot Chips 2020"}
//   "unpack_rate": {"value": 334, "unit": "MB/s", "kind": "fitted", "mechanism": "…", "fitted_to": ["row"]}
//
// with one fixed unit per key. Or it has "measured_host": true and is what `voxshard doctor` wrote (host_rates.h).
// Opens no file: pipelines/profile/device_files.h does.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "libcore/device/device_spec.h"

namespace voxshard {

/// `file` is named in errors, `name` becomes the device's.
/// Errors: kConfig for a missing or unknown key, another unit, kind or type, a value that is not positive, a slice
/// whose numbers contradict each other. Slices larger than the listed ones follow by doubling x and y in turn, up to
/// the pod; an axis as long as the pod wraps round.
DeviceSpec device_from_json(const nlohmann::json& json, const std::string& file, const std::string& name);

/// The same from text. Errors: also kConfig when it is no JSON.
DeviceSpec device_from_text(std::string_view text, const std::string& file, const std::string& name);

}  // namespace voxshard
