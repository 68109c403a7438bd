// A published step made ready for pricing, and the constants of a device that are fitted to such steps: what the rows
// give for them, all together and with one left out.
//
//   const PlannedStep step = plan_step(row);
//   refit(spec, figure, steps, "retinanet-2560-v3-64")     // spec with that constant chosen by its other rows
#pragma once

#include <string>
#include <vector>

#include "libcore/device/tpu/tpu_device.h"
#include "libcore/train/optimizer.h"
#include "pipelines/model_runs/model_spec.h"

namespace voxshard {

/// One published step.
struct PublishedStep {
  std::string name;  // "unet3d-128-v3-8"; device files name rows that they were fitted to
  ModelSpec spec;
  Shape extents;  // N and the spatial axes
  OptimizerKind optimizer = OptimizerKind::kAdam;
  std::string device;  // a slice: "tpu-v3-8"
  double seconds = 0;
  std::string source;
  std::string correction;  // what the source prints in its place and why that is not taken; empty: it stands there
};

/// Its program as the original's compiler would have run it: with what its fusions make again not kept, and nothing
/// recomputed beyond that if it fits.
struct PlannedStep {
  std::string name;
  double published_seconds = 0;
  Recompute recompute = Recompute::kNone;  // the least with which the step fits, as XLA rematerialises what does not
  Program program;
  Feed feed;
  std::int64_t core_bytes = 0;       // of the fullest core, in the smallest tiles, optimizer included
  std::int64_t kept_core_bytes = 0;  // the same, were the results that are fused kept for the backward pass
};

/// A training step lowered for a TPU.
struct TpuStep {
  Lowered lowered;
  std::int64_t kept_core_bytes = 0;  // of the fullest core, were the results that are fused kept for the backward pass
};

/// The one road of `explain --stage passes` and of both tables of `bench tpu-tables`: nothing recomputed but what the
/// device's fusions make again, whatever spec.cut.recompute says, and whether it fits or not. `graph`: of the model,
/// for training. Errors: kConfig from the partition.
TpuStep lower_for_tpu(const Graph& graph, const Cut& cut, OptimizerKind optimizer, const TpuSpec& device);

PlannedStep plan_step(const PublishedStep& row, const TpuSpec& device);
StepPrice price_of(const PlannedStep& step, const TpuSpec& device);

/// `device` with the constant of `figure` chosen so that the geometric mean of emulated / published over the steps that
/// it is fitted to, without `left_out`, is one. As it is where none remains or the constant is none that can be
/// refitted.
TpuSpec refit(const TpuSpec& device, const Figure& figure, const std::vector<PlannedStep>& steps,
              const std::string& left_out);
/// What that makes of the residuals, for those who read them.
inline constexpr const char* kFitMethod =
    "the logarithms of emulated / published of its two rows add to zero, so that their residuals are opposite by "
    "construction: "
    "they show one number, how far the pair is apart";
/// All constants that are fitted, one after the other, each by its rows.
TpuSpec refit_all(const TpuSpec& device, const std::vector<PlannedStep>& steps);
/// Below this rate of unpacking (bytes/s of a host) the step waits for its hosts.
double least_unpack_bytes_s(const PlannedStep& step, const TpuSpec& device);
/// The constant's value in a device, in its figure's unit.
double value_of(const TpuSpec& device, const Figure& figure);

}  // namespace voxshard
