#include "libcore/ranks/transport.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include "libcore/ranks/alike.h"

namespace voxshard {
namespace {

/// Adds a range of elements of the subtotals of all ranks, along the tree.
class Subtotals {
 public:
  Subtotals(const Reduction& r, std::int64_t elements) : r_(r), elements_(elements) {}

  void add(const SumTree::Node& node, std::byte* bytes) { known_.emplace_back(node, bytes); }
  /// Adds a subtotal whose memory is to receive the total.
  void add_at_total(const SumTree::Node& node, std::byte* bytes) {
    add(node, bytes);
    wanted_ = bytes;
  }

  /// Returns the total of `node`, computed in the memory of one of its subtotals.
  std::byte* total(const SumTree::Node& node) {
    for (const auto& [known, bytes] : known_)
      if (known == node) return bytes;
    const auto [left, right] = node.halves();
    std::byte *sum = total(left), *addend = total(right);
    if (addend == wanted_) std::swap(sum, addend);  // a + b has the bytes of b + a
    r_.add(sum, addend, elements_);
    return sum;
  }

 private:
  const Reduction& r_;
  std::int64_t elements_;
  std::vector<std::pair<SumTree::Node, std::byte*>> known_;
  std::byte* wanted_ = nullptr;
};

/// Returns a copy of an error code that lives until the process ends.
const char* lasting_code(const std::string& code) {
  static std::mutex mutex;
  static std::set<std::string> codes;
  const std::lock_guard lock(mutex);
  return codes.insert(code).first->c_str();
}

}  // namespace

void Transport::copy(std::int64_t, std::int64_t, const TensorView& src, const TensorView& dst) {
  voxshard::copy(src, dst);
}

MessageId Transport::begin_send(int, int, std::span<const std::byte>) {
  throw Error(ErrorKind::kInternal, "[internal] a transport of one rank sends no messages");
}

MessageId Transport::begin_receive(int, int, std::span<std::byte>) {
  throw Error(ErrorKind::kInternal, "[internal] a transport of one rank receives no messages");
}

bool Transport::done(MessageId) {
  throw Error(ErrorKind::kInternal, "[internal] a transport of one rank has nothing under way");
}

MessageId Transport::start_send(int to, int tag, std::span<const std::byte> bytes) {
  ++sent_.messages;
  sent_.bytes += static_cast<std::int64_t>(bytes.size());
  return begin_send(to, tag, bytes);
}

void Transport::wait(MessageId id) {
  const Stopwatch watch;
  for (Pause pause; !done(id);) pause();
  waited_s_ += watch.seconds();
}

const std::byte* Transport::all_reduce(const Reduction& r) {
  const int self = rank();
  const SumParts parts{r.elements, ranks()};
  const auto bytes = [&](std::int64_t elements) { return static_cast<std::size_t>(elements * r.element_bytes); };
  const auto [begin, end] = parts.of(self);
  const auto own = r.tree.complete_subtrees(self);
  Subtotals subtotals(r, end - begin);
  std::vector<MessageId> under_way;
  const int tag = message_tag(r.instruction);
  const auto wait_for_all = [&] {
    const auto wait_for_messages = [&] {
      for (const MessageId id : under_way) wait(id);
    };
    r.record_wait ? r.record_wait(wait_for_messages) : wait_for_messages();
    under_way.clear();
  };
  std::size_t at = 0;
  for (int from = 0; from < ranks() && begin < end; ++from) {
    const auto theirs = from == self ? std::vector<SumTree::Node>() : r.tree.complete_subtrees(from);
    if (theirs.empty()) continue;
    const auto piece = r.incoming.subspan(at, theirs.size() * bytes(end - begin));
    under_way.push_back(start_receive(from, tag, piece));
    for (std::size_t s = 0; s < theirs.size(); ++s) subtotals.add(theirs[s], piece.data() + s * bytes(end - begin));
    at += piece.size();
  }
  const auto total = r.total.empty() ? r.outgoing.first(bytes(r.elements)) : r.total;
  const auto mine = total.subspan(bytes(begin), bytes(end - begin));
  for (int k = 1; k <= ranks() && !own.empty(); ++k) {  // its own part last, since other ranks wait for theirs
    const int to = (self + k) % ranks();
    const auto [first, last] = parts.of(to);
    if (first == last) continue;
    const auto piece = r.outgoing.subspan(own.size() * bytes(first), own.size() * bytes(last - first));
    const std::byte* in_place = to != self && own.size() == 1 ? r.in_place(own.front(), first) : nullptr;
    for (std::size_t s = 0; s < own.size() && in_place == nullptr; ++s) {
      std::byte* const slot = piece.data() + s * bytes(last - first);
      const bool at_total = to == self && s == 0 && !r.total.empty();
      r.subtotal(own[s], first, last, at_total ? mine.data() : slot);
      if (to != self) continue;
      at_total ? subtotals.add_at_total(own[s], mine.data()) : subtotals.add(own[s], slot);
    }
    if (to != self)
      under_way.push_back(start_send(to, tag, in_place != nullptr ? std::span(in_place, piece.size()) : piece));
  }
  wait_for_all();
  if (!mine.empty()) {
    const std::byte* const sum = subtotals.total(r.tree.root());
    if (sum != mine.data()) std::memmove(mine.data(), sum, mine.size());
  }
  for (int other = 0; other < ranks(); ++other) {
    if (other == self) continue;
    const auto [first, last] = parts.of(other);
    if (first < last) under_way.push_back(start_receive(other, tag, total.subspan(bytes(first), bytes(last - first))));
    if (!mine.empty()) under_way.push_back(start_send(other, tag, mine));
  }
  wait_for_all();
  return total.data();
}

std::int64_t Transport::all_reduce_min(std::int64_t value) {
  const auto all = std::as_writable_bytes(std::span(&value, 1));
  if (rank() > 0) {
    send(0, kLowestTag, all);
    receive(0, kLowestTag, all);
    return value;
  }
  std::int64_t theirs = 0;
  for (int from = 1; from < ranks(); ++from) {
    receive(from, kLowestTag, std::as_writable_bytes(std::span(&theirs, 1)));
    value = std::min(value, theirs);
  }
  for (int to = 1; to < ranks(); ++to) send(to, kLowestTag, all);
  return value;
}

void announce_errors(Transport& transport, const std::function<void()>& body) {
  if (transport.ranks() == 1) return body();
  try {
    body();
  } catch (const RankFailed&) {
    throw;
  } catch (const Error& error) {
    transport.announce_error(error);
    throw;
  } catch (const std::bad_alloc&) {
    transport.announce_error(
        {ErrorKind::kBudget, "[memory] the system refused an allocation; use a finer cut or more hosts"});
    throw;
  } catch (const std::filesystem::filesystem_error& error) {
    transport.announce_error(
        {ErrorKind::kInput, std::string("[input] ") + error.what() + "; check the path and its permissions"});
    throw;
  } catch (const std::exception& error) {
    transport.announce_error({ErrorKind::kInternal, std::string("[internal] ") + error.what()});
    throw;
  }
}

void run_as_rank(Transport& transport, const std::function<void()>& body) {
  announce_errors(transport, [&] {
    body();
    if (transport.ranks() > 1) transport.all_reduce_min(0);
  });
}

std::string serialise_error(const Error& error) {
  constexpr std::size_t kMostText = 4096;
  const std::string text = error.what();
  return std::to_string(static_cast<int>(error.kind())) + "\n" + error.code() + "\n" + text.substr(0, kMostText);
}

RankFailed parse_error(const std::string& serialise_error, const std::string& from) {
  const std::size_t code = serialise_error.find('\n') + 1, text = serialise_error.find('\n', code) + 1;
  ensure(code > 1 && code <= 3 && text > code && text - code <= 64,
         "an error of another rank has a kind, a code and a text");
  const int kind = std::atoi(serialise_error.c_str());
  ensure(kind >= 0 && kind <= static_cast<int>(ErrorKind::kInternal), "an error of another rank is of a known kind");
  const auto known = static_cast<ErrorKind>(kind);
  return {known, lasting_code(serialise_error.substr(code, text - 1 - code)),
          (is_of_all_ranks(known) ? "" : from + ": ") + serialise_error.substr(text)};
}

void Pause::operator()() {
  constexpr double kBusy_s = 100e-6;
  constexpr std::chrono::microseconds kSleep(50);
  if (since_.seconds() > kBusy_s) std::this_thread::sleep_for(kSleep);
}

}  // namespace voxshard
