// The second clock: what a step of a program costs on a device that is not this machine (or, with measured rates, on it).
// Wall time and these seconds are never mixed in one column.
//
//   StepPrice price = price_step(program, ops, device, {.feed = ...});
//   price.step_s     // max(price.device_s, price.feed_s): hosts feed the next step while the cores run this one
#pragma once

#include <vector>

#include "libcore/device/device_spec.h"
#include "libcore/partition/program.h"

namespace voxshard {

/// Seconds that one instruction keeps each resource of one core busy; inside an instruction they overlap.
struct Price {
  double matrix_s = 0;    // matrix unit, with tile padding
  double vector_s = 0;
  double memory_s = 0;    // main memory (HBM) traffic
  double link_s = 0;      // bytes over links, every hop counted
  double overhead_s = 0;  // what nothing hides: dispatch, latency of hops
  double seconds() const;
};

struct InstructionPrice {
  Price slowest;              // of the core that takes longest
  double begin_s = 0;         // on the device's clock
  double end_s = 0;
  double bytes = 0;           // moved between cores, all of them (exchange, join)
  std::int64_t messages = 0;  // between cores
  int hops = 0;               // the farthest message
};

struct StepPrice {
  std::vector<InstructionPrice> instructions;  // as program.instructions
  double device_s = 0;  // the cores
  double feed_s = 0;    // the busiest host
  double step_s = 0;    // the longer of both
  Price busy;           // the slowest core's seconds per resource, summed over instructions
  double halo_bytes = 0, all_reduce_bytes = 0;
  std::int64_t messages = 0;
  int widest_hops = 0;
};

/// How a step's samples reach the cores.
struct Feed {
  double record_bytes = 0;    // of all samples of a step, unpacked: what the hosts inflate and parse; 0: nothing to unpack
  double transfer_bytes = 0;  // of all samples of a step, as they cross to the cores
};

/// Errors: kConfig when the device has no slice of program.mesh().cores() cores.
StepPrice price_step(const Program& program, const OpTable& ops, const DeviceSpec& device, const Feed& feed);

}  // namespace voxshard
