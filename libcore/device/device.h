// A device prices a step of a program and states the limits that a plan must keep (memory per core, core counts). One
// interface serves emulated slices (tpu/), this machine by its measured rates (host/) and user-written devices. Wall
// time and emulated time are never mixed in one column.
//
//   StepPrice price = device.price(program, ops, feed);
//   price.step_s     // on a TPU max(price.device_s, price.feed_s): hosts feed the next step while the cores run this
//   one
#pragma once

#include <string>
#include <vector>

#include "libcore/device/feed.h"
#include "libcore/partition/program.h"

namespace voxshard {

struct TpuSpec;

/// Seconds that one instruction keeps each resource of one core busy; inside an instruction they overlap.
struct Price {
  double matrix_s = 0;  // matrix unit, with tile padding
  double vector_s = 0;
  double memory_s = 0;    // main memory (HBM) traffic
  double link_s = 0;      // bytes over links, every hop counted
  double pass_s = 0;      // passes that a lowering adds before the instruction; they overlap with nothing
  double overhead_s = 0;  // dispatch and latency of hops, which overlap with nothing
  double seconds() const;
  Price& operator+=(const Price& part);
};

/// A pass over memory that the lowering of a cut operand adds to an instruction; there is none without a cut.
struct Pass {
  enum class Kind : std::uint8_t {
    kMaterialise,  // writes a value that its readers would otherwise compute on the fly, so that its edges can be sent
    kConcat,       // joins the operand and the received edges along one axis into a new tensor
    kSlice,        // keeps only what the window needs, where cores need unequal edges
    kMask,         // writes zeros outside the tensor and behind an uneven shard: a select on an index
    kWindow,       // computes products with edge planes that a sum over shards does not need
  };
  Kind kind = Kind::kConcat;
  ValueId operand = kNoValue;
  int axis = 0;
  double bytes = 0;  // read + written, in the device's tiles
  double seconds = 0;
};
inline constexpr const char* kPassNames[] = {"materialise", "concat", "slice", "mask", "window"};

struct InstructionPrice {
  Price slowest;             // the price of the core that takes longest
  std::vector<Pass> passes;  // run one after the other before the instruction; slowest.pass_s is their sum
  double begin_s = 0;        // on the device's clock
  double end_s = 0;
  double bytes = 0;           // moved between cores, summed over all cores (exchange, join)
  std::int64_t messages = 0;  // between cores
  int hops = 0;               // links that the farthest message crosses
};

struct StepPrice {
  std::vector<InstructionPrice> instructions;  // as program.instructions
  double device_s = 0;                         // the cores
  double feed_s = 0;                           // the busiest host
  double step_s = 0;                           // both, as far as they do not overlap
  Price busy;                                  // the slowest core's seconds per resource, summed over instructions
  double halo_bytes = 0, all_reduce_bytes = 0;
  std::int64_t messages = 0;
  int widest_hops = 0;
  std::int64_t feeding_hosts = 0;  // separate machines that feed the samples
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const std::string& name() const = 0;
  /// True when its seconds are emulated. Otherwise they are wall time of this machine, and a plan counts this machine's
  /// memory.
  virtual bool emulated() const = 0;
  /// True when its memory holds tiles (libcore/memory/tiles.h).
  virtual bool tiled() const = 0;
  /// The memory of one core that programs may use, in bytes. 0: the core has no limit of its own.
  virtual std::int64_t core_bytes() const = 0;
  /// The core counts in which the device is offered, ascending. Empty: any.
  virtual std::vector<std::int64_t> slices() const { return {}; }
  /// Errors: kConfig when it cannot run the program: no such slice, an op that it has no price for.   Threads: any.
  virtual StepPrice price(const Program& program, const OpTable& ops, const Feed& feed) const = 0;
  /// The TPU's specification, for tables of published figures; null for any other device.
  virtual const TpuSpec* tpu() const { return nullptr; }
};

}  // namespace voxshard
