// The memory of the cores that this rank hosts, and the instructions of a program bound to its addresses. A rank hosts
// a contiguous block of cores (schedule/ranks.h) and has arenas for these alone; each rank, as a process, has its own
// parameters, replicated results, packed weights and workspaces. All ranks hold the same program, so each knows without
// asking which messages the others send and expect.
//
//   Cores cores(executable, ops, parameters, workers, ranks);
//   TensorView image = cores.held(image_id, 3);      // of core 3, with its margins
//   Stage stage = cores.stage(17, 3);                // what core 3 does for instruction 17
#pragma once

#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/lower/lower.h"
#include "libcore/runtime/arena.h"
#include "libcore/schedule/ranks.h"

namespace voxshard {

/// Parameters and states by name; outlives the core set, may be shared by several of one rank.
using Parameters = std::map<std::string, Tensor>;

/// One block of one compute instruction: its operands and result as views with addresses.
struct Call {
  std::vector<TensorView> inputs;
  TensorView output;
};

/// The work of one core for one instruction of a segment.
struct Stage {
  std::size_t instruction = 0;
  std::vector<Call> calls;
  std::vector<TensorView> zero;  // fill_margin
  /// The number of tasks, counted from the first, that may run during an exchange between ranks (exchange_flight.h).
  std::size_t free = std::numeric_limits<std::size_t>::max();
};

class Cores {
 public:
  /// Allocates. `scratch`: a file of Turns::file_bytes, from which the arenas are mapped; -1: they lie in memory.
  /// `warm`: arenas of a core set before, in whose memory these lie as far as it goes; they need plain memory. Errors:
  /// kInternal when a parameter is missing or has another type.
  Cores(const Executable& executable, const OpTable& ops, Parameters& parameters, int workers, const Ranks& ranks,
        ArenaMode mode = ArenaMode::kPlain, int scratch = -1, std::vector<Arena> warm = {});

  std::int64_t count() const { return executable_.program.mesh().cores(); }
  std::int64_t first() const { return ranks_.first(count()); }
  std::int64_t end() const { return ranks_.end(count()); }
  bool hosts(std::int64_t core) const { return ranks_.hosts(core, count()); }
  const Ranks& ranks() const { return ranks_; }

  /// A core's view of a value: all that it holds, or the box that it owns. For a replicated value the whole, whatever
  /// the core.
  TensorView held(ValueId id, std::size_t core) const;
  TensorView owned(ValueId id, std::size_t core) const;

  /// Binds one block to addresses. For a computation that each rank does once, `core` is any core of this rank.
  Call call(std::size_t instruction, std::size_t core, std::size_t block) const;
  Stage stage(std::size_t instruction, std::size_t core) const;
  /// The address of an op's packed weights, valid from packing to use; null when its kernel needs none.
  std::byte* packed(ValueId id) const { return packed_at_[id]; }
  std::byte* workspace(int worker) const;
  /// The two halves of the message buffers: data to send, data received.
  std::span<std::byte> outgoing() const { return messages(0); }
  std::span<std::byte> incoming() const { return messages(1); }

  const Executable& executable() const { return executable_; }
  const Program& program() const { return executable_.program; }
  /// Arenas of the cores from first() on; the pool of replicated results; workspaces per worker.
  std::span<const Arena> arenas() const { return arenas_; }
  /// Gives the arenas away; the core set is then of no further use.
  std::vector<Arena> take_arenas() { return std::move(arenas_); }
  const Arena& process() const { return process_; }
  std::span<const Arena> workspaces() const { return workspaces_; }
  std::int64_t high_water_bytes(std::size_t core) const { return arena(core).high_water_bytes(); }
  /// True when arenas lie in a file, so that cores take turns in memory.
  bool take_turns() const { return take_turns_; }
  /// Ends the turn of a core: its arena leaves memory when it lies in a file.
  void evict(std::int64_t core) const { arena(static_cast<std::size_t>(core)).evict(); }
  /// Brings what a call reads and writes of the core's arena into memory, when it lies in a file.
  void bring_in(std::int64_t core, const Call& call) const;

 private:
  const Arena& arena(std::size_t core) const { return arenas_[core - static_cast<std::size_t>(first())]; }
  TensorView output(const Instruction& instruction, std::size_t core, std::size_t block,
                    const TensorView& geometry) const;
  std::span<std::byte> messages(int half) const;

  const Executable& executable_;
  const OpTable& ops_;
  Parameters& parameters_;
  const Ranks ranks_;
  const bool take_turns_;
  std::vector<Arena> arenas_;  // of the cores from first() on
  Arena process_, messages_;
  std::vector<Arena> workspaces_;      // per worker
  std::vector<std::byte*> packed_at_;  // per value
};

}  // namespace voxshard
