// Parses JSON into a TpuSpec. A file has the sections core, chip, host, pod and slices; each figure is
//
//   "clock": {"value": 940, "unit": "MHz", "kind": "published", "source": "Hot Chips 2020"}
//   "unpack_rate": {"value": 334, "unit": "MB/s", "kind": "fitted", "mechanism": "…", "fitted_to": ["row"]}
//
// with one fixed unit per key. In older files without core.strip_rows, core.pass_rate and core.fused_tensors a tile is
// loaded once, passes run at the memory's rate and fusions read two tensors. Opens no file:
// pipelines/profile/device_files.h does.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "libcore/device/tpu/tpu_spec.h"

namespace voxshard {

/// `file` is named in errors; `name` becomes the device's name.
/// Errors: kConfig for a missing or unknown key, another unit, kind or type, a value that is not positive, a slice
/// whose numbers contradict each other. Larger slices than the listed ones are added by doubling x and y in turn, up to
/// the pod; an axis as long as the pod's wraps round.
TpuSpec tpu_from_json(const nlohmann::json& json, const std::string& file, const std::string& name);

}  // namespace voxshard
