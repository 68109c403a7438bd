// The peak memory of one case, from headers alone. It determines how many cases are in flight, and which are refused
// before anything is allocated.
//
//   const auto hold = gate.enter(preparing_case_plan(item, plan, formats));    // or E_BUDGET with what would fit
#pragma once

#include "io/datasets/dataset.h"
#include "io/volume/volume.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"

namespace voxshard {

/// Returns the memory for reading the channels, one after the other, and the label of a case; nothing for files whose
/// headers cannot be read or used, which is reported when they are read. Errors: kInput E_SIZE beyond formats.limits,
/// E_BUDGET beyond their memory_bytes.
ProcessPlan reading_case_plan(const Case& item, const VolumeFormats& formats);

/// Returns the memory for taking the fingerprint of a case: reading, and for nnU-Net's the volumes reoriented and the
/// sample. Errors: as above.
ProcessPlan fingerprint_case_plan(const Case& item, const PreparePlan& plan, const VolumeFormats& formats);

/// Returns the memory for preparing a case: the source, and each volume reoriented, resampled and written. Errors: as
/// above; they name the finest spacing that would fit.
ProcessPlan preparing_case_plan(const Case& item, const PreparePlan& plan, const VolumeFormats& formats);

/// The memory of a predicting process beside the image: held all the time, and the core set for the image's size, held
/// during prediction only.
struct Predicting {
  ProcessPlan held;              // base, weights, plans
  ProcessPlan cores;             // arenas and everything else of a core set
  std::int64_t sums = 0;         // classes whose probabilities are summed, f32 a voxel; 0: labels alone are kept
  std::int64_t sums_window = 0;  // bytes of the sums that are in memory at a time; 0: all of them
  ProcessPlan before = {};  // the core set of the case before, where it stays alive while this one is read and prepared
  ProcessPlan after = {};   // the core set, where it stays alive until the label map is written
  bool reads_again = false;      // the image, beside the sums, for a further model
  bool keeps_sums = false;       // until the label map is written, and while its voxels are numbered
  bool other_processes = false;  // the probabilities of their cores arrive here
  /// Finds a {host-memory} that would do for a plan over the budget; empty: the bytes of the plan would.
  std::function<std::optional<std::int64_t>(const ProcessPlan&)> would_do = {};
};
/// Returns the memory for predicting one image from the header of a channel: reading, preparing (all channels of the
/// plan are held at once), prediction, the label map and writing it. Errors:
/// kInput E_SIZE, E_BUDGET with a size that would fit; limits.memory_bytes is that of the process.
ProcessPlan predicting_plan(const VolumeInfo& info, const std::filesystem::path& path, const PreparePlan& plan,
                            const Predicting& process, const VolumeLimits& limits);

/// Returns the memory for reading and preparing an image ahead of its turn, from the header of a channel, beside all
/// that the process holds: also that of the prepared channels, which wait for the turn.
ProcessPlan preparing_ahead_plan(const VolumeInfo& info, const PreparePlan& plan);

/// The files of a case that is scored; `image` only when a threshold is scored too. Missing files and unusable headers
/// are reported when they are read. Errors of the plans: as above.
struct Evaluated {
  std::filesystem::path reference, prediction, image;
  bool surfaces = false;        // distances of surfaces are measured, of a class that may fill the volume
  const Case* drawn = nullptr;  // in place of `reference`: a case whose structures are drawn on its image
};
ProcessPlan evaluating_case_plan(const Evaluated& files, const VolumeFormats& formats);

/// Returns the memory for an image of slices: image, reference and prediction of all `cases` at once, and reoriented
/// copies of one of them. Errors: kInput E_BUDGET.
ProcessPlan image_plan(const std::vector<Evaluated>& cases, const VolumeFormats& formats);

}  // namespace voxshard
