// The seam between the processes of a run. A rank hosts a contiguous block of the cores (schedule/ranks.h), with
// arenas, results and parameters of its own, and sees nothing of the others but their messages. In one process there is
// one rank, and what passes between two cores is a copy.
//
//   const MessageId in = transport.start_receive(1, tag, arrived), out = transport.start_send(1, tag, packed);
//   ...compute...  transport.wait(in);  transport.wait(out);
//
// Local: InProcessTransport. Over MPI: ranks/mpi.h, which ranks/launcher.h chooses. A fake in a test may damage,
// lose or delay messages (tests/ranks/mailbox.h).
//
// What a message is: all pieces of one exchange from one rank to another, or one rank's part of one sum, packed densely
// in an order that shapes decide. Nothing but the data travels: both sides know the size. The tag is that of its
// instruction (message_tag()); messages between two ranks with one tag arrive in the order in which they were sent, and
// all ranks run the same instructions in the same order, so that equal tags of later steps are never mistaken.
#pragma once

#include <functional>
#include <span>

#include "libcore/base/stopwatch.h"
#include "libcore/schedule/ranks.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

/// A message under way, of one rank, from its start until done() has said so once.
using MessageId = std::int64_t;

/// Tags lie below; MPI grants at least twice as many.
inline constexpr int kMessageTags = 1 << 14;
/// Of Transport::lowest(), of texts and of clocks: above those of instructions.
inline constexpr int kLowestTag = kMessageTags, kTextTag = kMessageTags + 1, kClockTag = kMessageTags + 2;
/// Of the messages of an instruction.
inline int message_tag(std::size_t instruction) { return static_cast<int>(instruction % kMessageTags); }

/// A sum over the addends of all ranks, in the tree of its addends. Each rank adds its complete subtrees and sends them
/// to the rank that adds this part of the elements (SumParts); that one adds the rest of the tree and sends its part to
/// all: the bytes of an element do not depend on who added it.
struct Reduction {
  const SumTree& tree;
  std::size_t instruction = 0;
  std::int64_t element_bytes = 0;  // of a subtotal
  std::int64_t elements = 0;
  /// Writes elements [begin, end) of the subtotal of this rank's addends [node.begin, node.end) to `out`.
  std::function<void(const SumTree::Node& node, std::int64_t begin, std::int64_t end, std::byte* out)> subtotal;
  /// Where elements of a subtotal lie that needs no addition, as they are sent, until the sum is there; null: nowhere.
  std::function<const std::byte*(const SumTree::Node& node, std::int64_t begin)> in_place;
  /// a += b, element by element.
  std::function<void(std::byte* a, const std::byte* b, std::int64_t elements)> add;
  std::span<std::byte> outgoing, incoming;  // at least reduction_bytes() each
  std::span<std::byte> total;               // where the total is wanted, outside of those two; empty: in `outgoing`
  /// Calls `wait`, which waits for messages of other ranks, and records for a profile how long that took; null: nothing
  /// is recorded.
  std::function<void(const std::function<void()>& wait)> record_wait = {};
};

/// Which rank failed first; its own error's kind and code are kept, so that every rank ends with the same exit code.
class RankFailed : public Error {
 public:
  using Error::Error;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const { return 0; }
  virtual int ranks() const { return 1; }
  /// Those on this host, itself included.
  virtual int ranks_here() const { return 1; }
  /// For people: "rank 2 on node-b".
  virtual std::string name(int rank) const { return "rank " + std::to_string(rank); }

  /// Between two cores of this rank, the matched send and receive in one: copies `src` of core `from` to `dst` of core
  /// `to` (equal boxes). Threads: from several workers at once.
  virtual void copy(std::int64_t from, std::int64_t to, const TensorView& src, const TensorView& dst);

  /// Begin to send to, or to receive from, another rank; `bytes` stay where they are, and of a send as they are, until
  /// done(). Threads, of these and of all below: any, one at a time.
  MessageId start_send(int to, int tag, std::span<const std::byte> bytes);
  MessageId start_receive(int from, int tag, std::span<std::byte> bytes) { return begin_receive(from, tag, bytes); }
  /// Looks after all that is under way; true once message `id` is through, which is not asked for again. Errors:
  /// RankFailed when another rank has told of an error; kInternal when a message has another size than the one that was
  /// expected.
  virtual bool done(MessageId id);
  /// Until it is through: busy at first, then asleep between two looks, so that ranks may outnumber processors.
  void wait(MessageId id);
  /// After an error: nobody waits for it any more.
  virtual void drop(MessageId) {}

  void send(int to, int tag, std::span<const std::byte> bytes) { wait(start_send(to, tag, bytes)); }
  void receive(int from, int tag, std::span<std::byte> bytes) { wait(start_receive(from, tag, bytes)); }

  /// Returns where all elements of the total stand (Reduction::total): the same bytes on every rank as if one had added
  /// all.
  const std::byte* all_reduce(const Reduction& reduction);
  /// The lowest of what the ranks say, on all of them: how they agree on a layer, on a stop. Every rank asks at the
  /// same place.
  std::int64_t all_reduce_min(std::int64_t value);

  /// Tells all others of an error, which end with it at their next look.
  virtual void announce_error(const Error&) {}

  /// Since it was made.
  const Traffic& sent() const { return sent_; }
  /// Seconds in wait(), since it was made.
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

/// Runs what a rank does, and returns when all ranks have done it. An error in it is told to the others, which end with
/// it; one that was told by another is not told again.
void run_as_rank(Transport& transport, const std::function<void()>& body);

/// Runs `body`; an error in it is told to the other ranks before anything that it threw over is gone: messages may
/// still be under way to and from memory of the caller. Of one rank it only runs.
void announce_errors(Transport& transport, const std::function<void()>& body);

/// How a transport sends an error to other ranks, and reads it: `text` of another rank is bounded.
std::string serialise_error(const Error& error);
RankFailed parse_error(const std::string& serialise_error, const std::string& from);

/// Between two looks at something that another thread or process does: none at first, then short sleeps. Nothing is
/// yielded: on a busy machine each yield would cost a slice of everybody else's time.
class Pause {
 public:
  void operator()();

 private:
  Stopwatch since_;
};

}  // namespace voxshard
