// Prepares published steps for pricing, and fits the constants of a device to such steps: to all rows, or with one left
// out.
//
//   const PlannedStep step = plan_step(row);
//   refit(spec, figure, steps, "retinanet-2560-v3-64")     // spec with that constant fitted to its other rows
#pragma once

#include <string>
#include <vector>

#include "libcore/device/tpu/tpu_device.h"
#include "libcore/train/optimizer.h"
#include "pipelines/model_runs/model_spec.h"

namespace voxshard {

/// One published step.
struct PublishedStep {
  std::string name;  // "unet3d-128-v3-8"; device files name the rows to which they were fitted
  ModelSpec spec;
  Shape extents;  // N and the spatial axes
  OptimizerKind optimizer = OptimizerKind::kAdam;
  std::string device;  // a slice: "tpu-v3-8"
  double seconds = 0;
  std::string source;
  // the value printed in the source and why it is not used; empty: `seconds` is the printed value
  std::string correction;
};

/// A published step with its program as the original's compiler would have run it: results that fusions recompute are
/// not kept, and nothing else is recomputed if the step fits.
struct PlannedStep {
  std::string name;
  double published_seconds = 0;
  Recompute recompute = Recompute::kNone;  // the least with which the step fits, like XLA's rematerialisation
  Program program;
  Feed feed;
  std::int64_t core_bytes = 0;       // of the fullest core, in the smallest tiles, optimizer included
  std::int64_t kept_core_bytes = 0;  // the same if fused results were kept for the backward pass
};

/// A training step lowered for a TPU.
struct TpuStep {
  Lowered lowered;
  std::int64_t kept_core_bytes = 0;  // of the fullest core if fused results were kept for the backward pass
};

/// Lowers a step for a TPU; used by `explain --stage passes` and both tables of `bench tpu-tables`. Only values that
/// the device's fusions recompute are recomputed, whatever spec.cut.recompute is and even if the step does not fit.
/// `graph`: the model's graph for training. Errors: kConfig from the partition.
TpuStep lower_for_tpu(const Graph& graph, const Cut& cut, OptimizerKind optimizer, const TpuSpec& device);

PlannedStep plan_step(const PublishedStep& row, const TpuSpec& device);
StepPrice price_of(const PlannedStep& step, const TpuSpec& device);

/// Returns `device` with the constant of `figure` chosen so that the geometric mean of emulated / published over the
/// steps to which it is fitted, without `left_out`, is one. Unchanged if no step remains or the constant cannot be
/// refitted.
TpuSpec refit(const TpuSpec& device, const Figure& figure, const std::vector<PlannedStep>& steps,
              const std::string& left_out);
/// An explanation of the effect on the residuals, for readers of the table.
inline constexpr const char* kFitMethod =
    "the logarithms of emulated / published of its two rows add to zero, so that their residuals are opposite by "
    "construction: "
    "they show one number, how far the pair is apart";
/// Refits all fitted constants, one after the other, each to its rows.
TpuSpec refit_all(const TpuSpec& device, const std::vector<PlannedStep>& steps);
/// Returns the unpacking rate (bytes/s of a host) below which the step waits for its hosts.
double least_unpack_bytes_s(const PlannedStep& step, const TpuSpec& device);
/// Returns the constant's value in a device, in its figure's unit.
double value_of(const TpuSpec& device, const Figure& figure);

}  // namespace voxshard
