// `voxshard verify`: does the partitioned model compute what the uncut one does? See libcore/check/equivalence.h.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "libcore/check/equivalence.h"
#include "pipelines/model_runs/model_spec.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

struct VerifyOptions {
  ModelSpec spec;
  Shape extents;  // N and the spatial axes
  std::uint64_t seed = 0;
  int threads = 1;
  std::int64_t host_budget_bytes = 0;  // of the uncut network that keeps every value; 0: what the machine has free
  std::vector<Dims> grids;             // partitions to check instead of the model's own
  Oracles oracle = Oracles::kSampled;
  Transport* transport = nullptr;  // to the other ranks; null: all cores are in this process
  Progress* progress = nullptr;    // null: says nothing
};

struct GridReport {
  Mesh mesh;
  EquivalenceReport report;
};

/// The first difference of all grids, their counts added up, their widest ratios; the losses are those of the last
/// grid.
struct VerifyReport : EquivalenceReport {
  std::vector<GridReport> grids;
};

/// Partitions to check when none is named: slabs, halves along every axis, uneven parts, and samples where there are
/// several. Errors: kConfig when no axis can be cut.
std::vector<Dims> grids_to_verify(const Shape& extents);

/// Of several ranks each holds and runs the whole uncut network itself, within its share of what its host has free, and
/// its cores of the cut one; the report is the same on all of them. Errors: those of the model; kBudget.
VerifyReport run_verify(const VerifyOptions& options);
/// "equal"; "equal as far as checked" where something was compared with nothing, which is no failure; "different".
std::string verdict(const EquivalenceReport& report);
/// {"equal", "verdict", "not_checked", "first_difference" (with its core, of several ranks also its rank), "kernels",
/// "layers", "end_to_end", "grids", "tolerance"}.
nlohmann::ordered_json to_json(const VerifyReport& report);

}  // namespace voxshard
