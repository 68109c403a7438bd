// `voxshard verify`: does the partitioned model compute what the uncut one does? See libcore/train/equivalence.h.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "libcore/train/equivalence.h"
#include "pipelines/runs/model_spec.h"
#include "pipelines/runs/report.h"

namespace voxshard {

struct VerifyOptions {
  ModelSpec spec;
  Shape extents;  // N and the spatial axes
  std::uint64_t seed = 0;
  int threads = 1;
  Transport* transport = nullptr;  // a test's own; null: in process
};

EquivalenceReport run_verify(const VerifyOptions& options);
/// {"equal", "first_difference", "layers", "end_to_end", "tolerance"}.
nlohmann::ordered_json to_json(const EquivalenceReport& report);

}  // namespace voxshard
