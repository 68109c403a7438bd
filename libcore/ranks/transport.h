// The interface between the processes of a run. A rank hosts a contiguous block of the cores (schedule/ranks.h), with
// its own arenas, results and parameters, and shares nothing with other ranks except messages. One process has one
// rank, and a message between two of its cores is a copy.
//
//   const MessageId in = transport.start_receive(1, tag, arrived), out = transport.start_send(1, tag, packed);
//   ...compute...  transport.wait(in);  transport.wait(out);
//
// Local: InProcessTransport. Over MPI: ranks/mpi.h, chosen by ranks/launcher.h. A fake in a test may damage, lose or
// delay messages (tests/ranks/mailbox.h).
//
// A message holds all pieces of one exchange from one rank to another, or one rank's part of one sum, packed densely in
// an order that depends only on shapes. It holds nothing but data, since both sides know the size. Its tag is that of
// its instruction (message_tag()). Messages between two ranks with the same tag arrive in the order in which they were
// sent, and all ranks run the same instructions in the same order, so equal tags of later steps cannot be confused.
#pragma once

#include <functional>
#include <span>

#include "libcore/base/stopwatch.h"
#include "libcore/schedule/ranks.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

/// Identifies a message of one rank, from its start until done() has returned true for it.
using MessageId = std::int64_t;

/// Tags of instructions lie below this bound; MPI guarantees at least twice as many.
inline constexpr int kMessageTags = 1 << 14;
/// Tags of all_reduce_min(), texts and clocks lie above the tags of instructions.
inline constexpr int kLowestTag = kMessageTags, kTextTag = kMessageTags + 1, kClockTag = kMessageTags + 2;
/// Returns the tag of the messages of an instruction.
inline int message_tag(std::size_t instruction) { return static_cast<int>(instruction % kMessageTags); }

/// A sum over the addends of all ranks, along a binary tree. Each rank adds its complete subtrees and sends the
/// subtotals to the rank responsible for that part of the elements (SumParts), which adds the rest of the tree and
/// sends its part of the total to all ranks. The bytes of an element therefore do not depend on which rank added it.
struct Reduction {
  const SumTree& tree;
  std::size_t instruction = 0;
  std::int64_t element_bytes = 0;  // of a subtotal
  std::int64_t elements = 0;
  /// Writes elements [begin, end) of the subtotal of this rank's addends [node.begin, node.end) to `out`.
  std::function<void(const SumTree::Node& node, std::int64_t begin, std::int64_t end, std::byte* out)> subtotal;
  /// Returns the elements of a subtotal that needs no addition and is sent from where it lies (valid until the sum is
  /// complete); null when there is no such memory.
  std::function<const std::byte*(const SumTree::Node& node, std::int64_t begin)> in_place;
  /// a += b, element by element.
  std::function<void(std::byte* a, const std::byte* b, std::int64_t elements)> add;
  std::span<std::byte> outgoing, incoming;  // at least reduction_bytes() each
  std::span<std::byte> total;               // receives the total, outside of those two buffers; empty: `outgoing` does
  /// Calls `wait`, which waits for messages of other ranks, and records its duration for a profile; null: nothing is
  /// recorded.
  std::function<void(const std::function<void()>& wait)> record_wait = {};
};

/// The error of the rank that failed first, thrown on the other ranks. It keeps the kind and code of the original
/// error, so that every rank ends with the same exit code.
class RankFailed : public Error {
 public:
  using Error::Error;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const { return 0; }
  virtual int ranks() const { return 1; }
  /// The number of ranks on this host, including this one.
  virtual int ranks_here() const { return 1; }
  /// A name for messages: "rank 2 on node-b".
  virtual std::string name(int rank) const { return "rank " + std::to_string(rank); }

  /// Sends and receives between two cores of this rank: copies `src` of core `from` to `dst` of core `to` (equal
  /// boxes). Threads: several workers at once.
  virtual void copy(std::int64_t from, std::int64_t to, const TensorView& src, const TensorView& dst);

  /// Begin to send to, or to receive from, another rank. Until done(), `bytes` must stay valid, and unchanged for a
  /// send. Threads, for these and all functions below: any, one at a time.
  MessageId start_send(int to, int tag, std::span<const std::byte> bytes);
  MessageId start_receive(int from, int tag, std::span<std::byte> bytes) { return begin_receive(from, tag, bytes); }
  /// Makes progress on messages; returns true once message `id` is complete, whose id must then not be used again.
  /// Errors: RankFailed when another rank has announced an error; kInternal when a message does not have the expected
  /// size.
  virtual bool done(MessageId id);
  /// Waits until message `id` is complete: polls without sleeping at first, then sleeps between polls, so that there
  /// may be more ranks than processors.
  void wait(MessageId id);
  /// Abandons a message after an error; nobody waits for it any more.
  virtual void drop(MessageId) {}

  void send(int to, int tag, std::span<const std::byte> bytes) { wait(start_send(to, tag, bytes)); }
  void receive(int from, int tag, std::span<std::byte> bytes) { wait(start_receive(from, tag, bytes)); }

  /// Computes the total and returns its address (Reduction::total): the same bytes on every rank as if one rank had
  /// added all.
  const std::byte* all_reduce(const Reduction& reduction);
  /// Returns the minimum of `value` over all ranks, on each of them; used to agree on a layer or on a stop. Every rank
  /// calls it at the same place.
  std::int64_t all_reduce_min(std::int64_t value);

  /// Announces an error to all other ranks, which end with it at their next poll.
  virtual void announce_error(const Error&) {}

  /// Messages and bytes sent since the transport was made.
  const Traffic& sent() const { return sent_; }
  /// Seconds spent in wait() since the transport was made.
  double waited_s() const { return waited_s_; }
  Ranks place() const { return {rank(), ranks()}; }

 protected:
  virtual MessageId begin_send(int to, int tag, std::span<const std::byte> bytes);
  virtual MessageId begin_receive(int from, int tag, std::span<std::byte> bytes);

 private:
  Traffic sent_;
  double waited_s_ = 0;
};

/// All cores in this process.
class InProcessTransport : public Transport {};

/// Runs `body` of a rank and returns when all ranks have finished theirs. An error in it is announced to the other
/// ranks, which end with it; an error announced by another rank is not announced again.
void run_as_rank(Transport& transport, const std::function<void()>& body);

/// Runs `body`; announces an error in it to the other ranks before the caller's objects are destroyed, since messages
/// may still be in transit to and from their memory. With one rank it only runs `body`.
void announce_errors(Transport& transport, const std::function<void()>& body);

/// Serialises an error for other ranks, and parses it; the length of its text is bounded.
std::string serialise_error(const Error& error);
RankFailed parse_error(const std::string& serialise_error, const std::string& from);

/// The pause between two polls of another thread or process: none at first, then short sleeps. It never yields, because
/// on a busy machine each yield would cost a time slice of every other process.
class Pause {
 public:
  void operator()();

 private:
  Stopwatch since_;
};

}  // namespace voxshard
