// One exchange on its way between ranks. What stays inside the rank has been copied when it is made; what crosses is
// packed into one message per other rank, sent at once, and unpacked as it arrives, while workers already run what
// needs none of it.
//
//   ExchangeFlight flight(together, 17);  // posts receives, then sends, and copies the pieces inside the rank
//   run_segment(..., &flight);            // tasks that read what has not come wait, the others do not
//   flight.finish(0);                     // before the next exchange or join, which use the same buffers
//
// At most one is under way: it ends before the next instruction that sends something, at the latest at the end of a
// step.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "libcore/runtime/collectives.h"

namespace voxshard {

class ExchangeFlight {
 public:
  ExchangeFlight(const Together& together, std::size_t instruction);
  /// What is still under way is dropped: of use after an error only.
  ~ExchangeFlight();
  ExchangeFlight(const ExchangeFlight&) = delete;
  ExchangeFlight& operator=(const ExchangeFlight&) = delete;

  /// True while some of what `core` gets from other ranks has not come. Threads: any.
  bool keeps_waiting(std::int64_t core) const {
    return coming_[static_cast<std::size_t>(core - first_)].load(std::memory_order_acquire) > 0;
  }
  /// Everything has come and gone. Threads: any.
  bool complete() const { return open_.load(std::memory_order_acquire) == 0; }
  /// Looks once after what is under way and unpacks what has come. Threads: any, one at a time. Errors:
  /// Transport::done(), with the layer.
  void look(int worker);
  void finish(int worker);

  std::size_t instruction() const { return index_; }
  /// Worker-seconds in which there was nothing to do but look, in finish() and as noted. Threads: one at a time.
  void note_waiting(double seconds) { waited_s_ += seconds; }
  double waited_s() const { return waited_s_; }

 private:
  struct Incoming {
    MessageId id = 0;
    int from = 0;
    std::vector<const Copy*> pieces;
    std::span<std::byte> bytes;
    bool open = true;
  };
  struct Outgoing {
    MessageId id = 0;
    bool open = true;
  };
  const Instruction& exchange() const { return t_.cores.program().instructions[index_]; }
  void start_receives();
  void start_sends();
  void copy_inside();
  void unpack(const Incoming& message, int worker);
  void trace_idleness(int worker);

  const Together t_;
  const std::size_t index_;
  const std::int64_t first_;  // core of this rank
  std::vector<Incoming> incoming_;
  std::vector<Outgoing> outgoing_;
  std::unique_ptr<std::atomic<int>[]> coming_;  // per core of this rank: pieces that have not come
  double waited_s_ = 0;
  std::optional<double> idle_since_s_;  // in finish(), on the clock of the trace
  std::atomic<int> open_ = 0;           // messages under way
};

/// Puts those calls of a core's stage last that read what exchange `index` brings from other ranks, and notes how many
/// may run before (Stage::free). Nothing is free in a stage behind the last reader: its results may lie where the
/// margin would arrive.
void put_waiting_last(const Cores& cores, std::size_t index, std::int64_t core, Stage& stage);

}  // namespace voxshard
