// What a user of --device is told before a run: where it runs, and what of the cut does not suit the device.
//
//   running_on({tpu_v3, 32}, mesh)    // "Running on tpu-v3-32, emulated on this machine: 32 cores of 4 hosts;
//   Replicas: 2 (16 cores each)" for (const std::string& text : device_warnings(program, op_table(), *tpu_v3, feed))
//   progress.warn(text);
#pragma once

#include "pipelines/profile/device_files.h"

namespace voxshard {

/// `device.device` null: this machine, not measured.
///   replicas_known  false: a plan decides them later, and says so
std::string running_on(const NamedDevice& device, const Mesh& mesh, bool replicas_known = true);

/// One sentence each: contractions and convolutions whose share of a core has fewer rows than its matrix unit, though
/// uncut they have as many; hosts that take longer to bring a step's samples than the cores to run it; a device that
/// has no price for the program.
std::vector<std::string> device_warnings(const Program& program, const OpTable& ops, const Device& device,
                                         const Feed& feed);

}  // namespace voxshard
