// `voxshard verify`: checks that the partitioned model computes the same as the uncut one. See
// libcore/check/equivalence.h.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "libcore/check/equivalence.h"
#include "pipelines/engine/run_context.h"
#include "pipelines/model_runs/model_spec.h"

namespace voxshard {

struct VerifyOptions {
  ModelSpec spec;
  Shape extents;  // N and the spatial axes
  std::uint64_t seed = 0;
  std::vector<Dims> grids;  // partitions to check instead of the model's own
  Oracles oracle = Oracles::kSampled;
};

struct GridReport {
  Mesh mesh;
  EquivalenceReport report;
};

/// The first difference over all grids, the sums of their counts and their largest ratios; the losses are those of the
/// last grid.
struct VerifyReport : EquivalenceReport {
  std::vector<GridReport> grids;
};

/// Returns the partitions to check by default: slabs, halves along every axis, uneven parts, and cuts between samples
/// if there are several. Errors: kConfig when no axis can be cut.
std::vector<Dims> grids_to_verify(const Shape& extents);

/// Verifies the model. With several ranks each holds and runs the whole uncut network, within its share of its host's
/// free memory, and its cores of the cut one; the report is the same on all ranks. Errors: those of the model; kBudget.
VerifyReport run_verify(const VerifyOptions& options, const RunContext& context);
/// Returns "equal"; "equal as far as checked" when some kernel had no reference, which is no failure; or "different".
std::string verdict(const EquivalenceReport& report);
/// Returns {"equal", "verdict", "not_checked", "first_difference" (with its core, and with several ranks its rank),
/// "kernels", "layers", "end_to_end", "grids", "tolerance"}.
nlohmann::ordered_json to_json(const VerifyReport& report);

}  // namespace voxshard
