// The use of a core's memory at its peak, for people who must choose what to give up.
//
//   MemoryReport r = memory_report(program, plan, core);
//   r.kept_bytes        // activations that wait for the backward pass
#pragma once

#include "libcore/memory/plan.h"

namespace voxshard {

/// Bytes of one core. The parts without `gaps` are those alive at the peak.
struct MemoryReport {
  std::size_t core = 0;
  std::string widest_layer;           // the layer computed at the peak
  std::int64_t kept_bytes = 0;        // forward results that the backward pass reads, without margins
  std::int64_t transient_bytes = 0;   // other forward results and gradients of activations, without margins
  std::int64_t halo_bytes = 0;        // margins of all of these
  std::int64_t partial_bytes = 0;     // this core's addends of sums
  std::int64_t gap_bytes = 0;         // unused bytes of the arena between buffers
  std::int64_t arena_bytes = 0;       // the sum so far
  std::int64_t parameter_bytes = 0;   // from here on: once per process, counted on every core
  std::int64_t gradient_bytes = 0;    // of parameters
  std::int64_t replicated_bytes = 0;  // other replicated results: converted weights, statistics
};

MemoryReport memory_report(const Program& program, const MemoryPlan& plan, std::size_t core);

}  // namespace voxshard
