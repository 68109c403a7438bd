// Messages for users of --device before a run: the place of the run, and warnings where the cut does not suit the
// device.
//
//   running_on({tpu_v3, 32}, mesh)    // "Running on tpu-v3-32, emulated on this machine: 32 cores of 4 hosts;
//   Replicas: 2 (16 cores each)" for (const std::string& text : device_warnings(program, op_table(), *tpu_v3, feed))
//   progress.warn(text);
#pragma once

#include "pipelines/profile/device_files.h"

namespace voxshard {

/// `device.device` null: this machine, not measured.
/// Returns the message on the place of the run.
///   replicas_known  false: a plan chooses and logs them later
std::string running_on(const NamedDevice& device, const Mesh& mesh, bool replicas_known = true);

/// Returns one sentence per warning: contractions and convolutions whose part on a core has fewer rows than its matrix
/// unit, although they have enough when uncut; hosts that need more time to feed a step than the cores to run it; a
/// device that cannot price the program.
std::vector<std::string> device_warnings(const Program& program, const OpTable& ops, const Device& device,
                                         const Feed& feed);

}  // namespace voxshard
