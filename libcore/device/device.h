// A device: what a step of a program costs on it, and what it offers a plan. One interface for emulated slices (tpu/),
// for this machine by its measured rates (host/) and for devices of one's own. Wall time and emulated time are never
// mixed in one column.
//
//   StepPrice price = device.price(program, ops, feed);
//   price.step_s     // of a TPU max(price.device_s, price.feed_s): hosts feed the next step while the cores run this
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
  double pass_s = 0;      // passes that a lowering adds in front, which nothing hides either
  double overhead_s = 0;  // what nothing hides: dispatch, latency of hops
  double seconds() const;
  Price& operator+=(const Price& part);
};

/// What the lowering of a cut operand adds to an instruction: none without a cut.
struct Pass {
  enum class Kind : std::uint8_t {
    kMaterialise,  // a value that its readers would have made on the fly is written, for its edges to be sent
    kConcat,       // the operand and the edges that came, along one axis, as a new tensor
    kSlice,        // what the window needs of it, where cores need unequal edges
    kMask,         // zeros outside the tensor and behind an uneven shard: a select on an index
    kWindow,       // products with planes of the edges that a sum over shards does not need
  };
  Kind kind = Kind::kConcat;
  ValueId operand = kNoValue;
  int axis = 0;
  double bytes = 0;  // read + written, in the device's tiles
  double seconds = 0;
};
inline constexpr const char* kPassNames[] = {"materialise", "concat", "slice", "mask", "window"};

struct InstructionPrice {
  Price slowest;             // of the core that takes longest
  std::vector<Pass> passes;  // of which slowest.pass_s is the sum, one after the other in front
  double begin_s = 0;        // on the device's clock
  double end_s = 0;
  double bytes = 0;           // moved between cores, all of them (exchange, join)
  std::int64_t messages = 0;  // between cores
  int hops = 0;               // the farthest message
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
  std::int64_t feeding_hosts = 0;  // machines of their own that bring the samples
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const std::string& name() const = 0;
  /// Its seconds are of a clock of its own; else they are those of this machine's wall, whose memory a plan then
  /// counts.
  virtual bool emulated() const = 0;
  /// Its memory holds tiles (libcore/memory/tiles.h).
  virtual bool tiled() const = 0;
  /// What a core has for programs. 0: no limit of its own.
  virtual std::int64_t core_bytes() const = 0;
  /// The numbers of cores that it is offered with, ascending. Empty: any.
  virtual std::vector<std::int64_t> slices() const { return {}; }
  /// Errors: kConfig when it cannot run the program: no such slice, an op that it has no price for.   Threads: any.
  virtual StepPrice price(const Program& program, const OpTable& ops, const Feed& feed) const = 0;
  /// For tables of published figures. Null unless it is a TPU.
  virtual const TpuSpec* tpu() const { return nullptr; }
};

}  // namespace voxshard
