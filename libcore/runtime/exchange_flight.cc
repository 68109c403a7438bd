#include "libcore/runtime/exchange_flight.h"

#include <algorithm>

#include "libcore/base/stopwatch.h"

namespace voxshard {
namespace {

/// One piece of a message: the copy between cores that it belongs to, and its dense place in the message.
struct Piece {
  const Copy* copy;
  std::byte* at;
};

/// Lays out the pieces of a message one after another; moves `at` behind the last.
std::vector<Piece> laid_out(const std::vector<const Copy*>& copies, DType type, std::byte*& at) {
  std::vector<Piece> pieces;
  for (const Copy* copy : copies) {
    pieces.push_back({copy, at});
    at += copy->box.count() * dtype_bytes(type);
  }
  return pieces;
}

}  // namespace

ExchangeFlight::ExchangeFlight(const Together& together, std::size_t instruction)
    : t_(together),
      index_(instruction),
      first_(together.cores.first()),
      coming_(std::make_unique<std::atomic<int>[]>(static_cast<std::size_t>(together.cores.end() - first_))) {
  if (t_.cores.ranks().ranks > 1) {
    start_receives();
    start_sends();
  }
  copy_inside();
}

ExchangeFlight::~ExchangeFlight() {
  for (const Incoming& message : incoming_)
    if (message.open) t_.transport.drop(message.id);
  for (const Outgoing& message : outgoing_)
    if (message.open) t_.transport.drop(message.id);
}

void ExchangeFlight::start_receives() {
  const Ranks& ranks = t_.cores.ranks();
  const DType type = t_.cores.program().graph.node(exchange().value).type.dtype;
  std::size_t at = 0;
  for (int peer = 0; peer < ranks.ranks; ++peer) {
    auto pieces = peer == ranks.rank ? std::vector<const Copy*>()
                                     : crossing(exchange(), ranks, peer, ranks.rank, t_.cores.count());
    if (pieces.empty()) continue;
    const auto bytes = t_.cores.incoming().subspan(at, static_cast<std::size_t>(bytes_of(pieces, type)));
    at += bytes.size();
    for (const Copy* piece : pieces) ++coming_[piece->to - first_];
    ++open_;
    incoming_.push_back({t_.transport.start_receive(peer, message_tag(index_), bytes), peer, std::move(pieces), bytes});
  }
}

void ExchangeFlight::start_sends() {
  const Ranks& ranks = t_.cores.ranks();
  const DType type = t_.cores.program().graph.node(exchange().value).type.dtype;
  std::vector<Piece> pieces;
  std::vector<std::pair<int, std::span<const std::byte>>> messages;
  std::byte* at = t_.cores.outgoing().data();
  for (int peer = 0; peer < ranks.ranks; ++peer) {
    if (peer == ranks.rank) continue;
    const std::byte* const begin = at;
    const auto more = laid_out(crossing(exchange(), ranks, ranks.rank, peer, t_.cores.count()), type, at);
    pieces.insert(pieces.end(), more.begin(), more.end());
    if (at != begin) messages.emplace_back(peer, std::span(begin, at));
  }
  t_.pool.run(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i, int worker) {
    const Piece& piece = pieces[i];
    const TensorView from =
        t_.cores.held(exchange().value, static_cast<std::size_t>(piece.copy->from)).sub(piece.copy->box);
    const TraceSpan span(t_.trace, worker, TraceKind::kExchange, index_, piece.copy->from, from.bytes());
    copy(from, dense_view(piece.at, type, piece.copy->box));
    t_.cores.evict(piece.copy->from);
  });
  for (const auto& [peer, bytes] : messages) {
    const TraceSpan span(t_.trace, 0, TraceKind::kSend, index_, -1, static_cast<std::int64_t>(bytes.size()), peer);
    ++open_;
    outgoing_.push_back({t_.transport.start_send(peer, message_tag(index_), bytes)});
  }
}

void ExchangeFlight::copy_inside() {
  std::vector<const Copy*> inside;
  for (const Copy& piece : exchange().copies)
    if (t_.cores.hosts(piece.from) && t_.cores.hosts(piece.to)) inside.push_back(&piece);
  t_.pool.run(static_cast<std::int64_t>(inside.size()), [&](std::int64_t i, int worker) {
    const Copy& piece = *inside[i];
    const TensorView to = t_.cores.held(exchange().value, static_cast<std::size_t>(piece.to)).sub(piece.box);
    const TraceSpan span(t_.trace, worker, TraceKind::kExchange, index_, piece.to, to.bytes());
    t_.transport.copy(piece.from, piece.to,
                      t_.cores.held(exchange().value, static_cast<std::size_t>(piece.from)).sub(piece.box), to);
    for (const std::int64_t core : {piece.from, piece.to}) t_.cores.evict(core);
  });
}

void ExchangeFlight::unpack(const Incoming& message, int worker) {
  trace_idleness(worker);
  const TraceSpan span(t_.trace, worker, TraceKind::kReceive, index_, -1,
                       static_cast<std::int64_t>(message.bytes.size()), message.from);
  std::byte* at = message.bytes.data();
  const DType type = t_.cores.program().graph.node(exchange().value).type.dtype;
  for (const Piece& piece : laid_out(message.pieces, type, at)) {
    const TensorView to =
        t_.cores.held(exchange().value, static_cast<std::size_t>(piece.copy->to)).sub(piece.copy->box);
    copy(dense_view(piece.at, type, piece.copy->box), to);
    t_.cores.evict(piece.copy->to);
    coming_[piece.copy->to - first_].fetch_sub(1, std::memory_order_release);
  }
}

void ExchangeFlight::look(int worker) {
  try {
    for (Incoming& message : incoming_) {
      if (!message.open || !t_.transport.done(message.id)) continue;
      message.open = false;
      unpack(message, worker);
      open_.fetch_sub(1, std::memory_order_release);
    }
    for (Outgoing& message : outgoing_) {
      if (!message.open || !t_.transport.done(message.id)) continue;
      message.open = false;
      open_.fetch_sub(1, std::memory_order_release);
    }
  } catch (const RankFailed&) {
    throw;  // the error is from another rank, not from this layer
  } catch (Error& error) {
    error.add_context("[" + t_.cores.program().graph.node(exchange().value).name + "] exchange");
    throw;
  }
}

void ExchangeFlight::finish(int worker) {
  for (Pause pause; !complete();) {
    const Stopwatch watch;
    if (t_.trace != nullptr && !idle_since_s_) idle_since_s_ = t_.trace->now_s();
    const int open = open_;
    look(worker);
    if (open_ < open) continue;
    pause();
    note_waiting(watch.seconds());
  }
  trace_idleness(worker);
}

void ExchangeFlight::trace_idleness(int worker) {
  if (!idle_since_s_) return;
  t_.trace->add(worker, {.begin_s = *idle_since_s_,
                         .end_s = t_.trace->now_s(),
                         .instruction = static_cast<std::int32_t>(index_),
                         .kind = TraceKind::kWait});
  idle_since_s_.reset();
}

void put_waiting_last(const Cores& cores, std::size_t index, std::int64_t core, Stage& stage) {
  const Program& program = cores.program();
  const Instruction& exchange = program.instructions[index];
  std::vector<Box> coming;
  for (const Copy& piece : exchange.copies)
    if (piece.to == core && !cores.hosts(piece.from)) coming.push_back(piece.box);
  if (coming.empty()) return;
  const Buffer* margin = cores.executable().memory.arenas[core].find(exchange.value);
  if (static_cast<int>(stage.instruction) > margin->last) {
    stage.free = 0;
    return;
  }
  const auto& inputs = program.graph.node(program.instructions[stage.instruction].value).inputs;
  const auto needs_none = [&](const Call& call) {
    for (std::size_t slot = 0; slot < call.inputs.size(); ++slot)
      if (inputs[slot] == exchange.value)
        for (const Box& box : coming)
          if (!intersect(call.inputs[slot].box, box).empty()) return false;
    return true;
  };
  const auto waiting = std::stable_partition(stage.calls.begin(), stage.calls.end(), needs_none);
  if (!stage.calls.empty()) stage.free = static_cast<std::size_t>(waiting - stage.calls.begin());
}

}  // namespace voxshard
