// One exchange in progress between ranks. The constructor copies the pieces that stay inside the rank. Pieces for other
// ranks are packed into one message per rank, sent at once, and unpacked as they arrive, while workers already run the
// tasks that need none of them.
//
//   ExchangeFlight flight(together, 17);  // posts receives, then sends, and copies the pieces inside the rank
//   run_segment(..., &flight);            // tasks that read pieces not yet received wait, others run
//   flight.finish(0);                     // before the next exchange or join, which use the same buffers
//
// At most one is in progress: it ends before the next instruction that sends something, at the latest at the end of a
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
  /// Drops messages that are still in transit, which happens only after an error.
  ~ExchangeFlight();
  ExchangeFlight(const ExchangeFlight&) = delete;
  ExchangeFlight& operator=(const ExchangeFlight&) = delete;

  /// True until all pieces for `core` from other ranks have arrived. Threads: any.
  bool keeps_waiting(std::int64_t core) const { return coming_[core - first_].load(std::memory_order_acquire) > 0; }
  /// True when all messages are received and sent. Threads: any.
  bool complete() const { return open_.load(std::memory_order_acquire) == 0; }
  /// Polls the messages once and unpacks those that have arrived. Threads: any, one at a time. Errors: those of
  /// Transport::done(), with the layer.
  void look(int worker);
  void finish(int worker);

  std::size_t instruction() const { return index_; }
  /// Worker-seconds spent with nothing to do but poll, in finish() and as noted. Threads: one at a time.
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
  const std::int64_t first_;  // first core of this rank
  std::vector<Incoming> incoming_;
  std::vector<Outgoing> outgoing_;
  std::unique_ptr<std::atomic<int>[]> coming_;  // per core of this rank: pieces that have not arrived
  double waited_s_ = 0;
  std::optional<double> idle_since_s_;  // set in finish(), on the clock of the trace
  std::atomic<int> open_ = 0;           // messages in progress
};

/// Moves the calls of a core's stage that read pieces which exchange `index` brings from other ranks to the end, and
/// counts the calls that may run before them (Stage::free). In a stage after the last reader none may run, since its
/// results may use the memory where the margin arrives.
void put_waiting_last(const Cores& cores, std::size_t index, std::int64_t core, Stage& stage);

}  // namespace voxshard
