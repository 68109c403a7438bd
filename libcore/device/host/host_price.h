// The predicted wall time of a step on this machine: measured rates (host_rates.h) put through the engine's own
// schedule (libcore/schedule), in which all cores share the machine's workers.
//
//   segment    every core walks its list of instructions; free workers take the next task of the lowest core that has
//   one barrier    exchange, join and replicated computations: the workers wait for each other before and after
//
// In the price of an instruction, matrix_s is arithmetic, memory_s work bound by memory, link_s copying, and overhead_s
// the scheduling of tasks. This machine cannot feed the next step while the cores run the current one, because the same
// workers do both; so step_s is device_s + feed_s. device_s includes the optimizer's update.
#pragma once

#include "libcore/device/device.h"
#include "libcore/device/host/host_rates.h"

namespace voxshard {

/// Prices a step. Prepared cases are memory-mapped, so only input_bytes of the feed cost time here.
/// Errors: kConfig for an op that was not measured.
/// Cost: 128 cores x 300 instructions take some 10 ms; tasks of equal extents are priced once.
StepPrice price_host_step(const Program& program, const OpTable& ops, const HostRates& rates, const Feed& feed);

}  // namespace voxshard
