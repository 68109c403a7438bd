// Ranks as threads of a test: a transport whose messages lie in a mailbox until they are fetched. The sender's bytes
// are read only then, as late as MPI may read them. A postman may damage, lose or hold up what is sent.
//
//   Mailbox mailbox(3);
//   mailbox.postman = [](Letter& letter) { letter.lost = letter.number == 7; };
//   run_ranks(mailbox, [&](Transport& transport) { ... });
#pragma once

#include <algorithm>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "libcore/ranks/transport.h"

namespace voxshard::test {

struct Letter {
  int from = 0, to = 0, tag = 0;
  std::int64_t number = 0;                  // in the order in which `from` sends
  std::span<const std::byte> bytes;         // the sender's
  std::optional<std::size_t> damaged = {};  // this byte arrives with all bits flipped
  bool lost = false;                        // arrives empty: the receiver's memory stays as it was
  int held_up = 0;                          // number of polls by the receiver that do not find it
  std::shared_ptr<bool> fetched = std::make_shared<bool>(false);
};

struct Mailbox {
  explicit Mailbox(int ranks) : ranks(ranks), sent(static_cast<std::size_t>(ranks)) {}
  const int ranks;
  std::function<void(Letter&)> postman;  // may change what is sent; called by one rank at a time
  std::mutex mutex;
  std::map<std::pair<int, int>, std::deque<Letter>> letters;  // by (from, to)
  std::vector<std::int64_t> sent;
  std::optional<std::pair<int, std::string>> failure;
};

class MailboxTransport : public Transport {
 public:
  MailboxTransport(Mailbox& mailbox, int rank) : box_(mailbox), rank_(rank) {}
  int rank() const override { return rank_; }
  int ranks() const override { return box_.ranks; }

  bool done(MessageId id) override {
    const std::lock_guard lock(box_.mutex);
    if (box_.failure && box_.failure->first != rank_)
      throw parse_error(box_.failure->second, name(box_.failure->first));
    for (auto& [other, receive] : receives_) fetch(receive);
    if (const auto send = sends_.find(id); send != sends_.end()) {
      if (!*send->second) return false;
      sends_.erase(send);
      return true;
    }
    if (!receives_.at(id).done) return false;
    receives_.erase(id);
    return true;
  }
  void drop(MessageId id) override {
    const std::lock_guard lock(box_.mutex);
    receives_.erase(id);
    const auto send = sends_.find(id);
    if (send == sends_.end()) return;
    for (auto& [pair, queue] : box_.letters)
      std::erase_if(queue, [&](const Letter& l) { return l.fetched == send->second; });
    sends_.erase(send);
  }
  void announce_error(const Error& error) override {
    const std::lock_guard lock(box_.mutex);
    if (!box_.failure) box_.failure.emplace(rank_, serialise_error(error));
  }

 protected:
  MessageId begin_send(int to, int tag, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(box_.mutex);
    Letter letter{.from = rank_, .to = to, .tag = tag, .number = box_.sent[rank_]++, .bytes = bytes};
    if (box_.postman) box_.postman(letter);
    sends_[++last_] = letter.fetched;
    box_.letters[{rank_, to}].push_back(std::move(letter));
    return last_;
  }
  MessageId begin_receive(int from, int tag, std::span<std::byte> bytes) override {
    receives_[++last_] = {from, tag, bytes};
    return last_;
  }

 private:
  struct Receive {
    int from = 0, tag = 0;
    std::span<std::byte> bytes;
    bool done = false;
  };
  /// Takes the first letter with its tag; it goes to the receive that was begun first.
  void fetch(Receive& receive) {
    if (receive.done) return;
    auto& queue = box_.letters[{receive.from, rank_}];
    const auto letter = std::find_if(queue.begin(), queue.end(), [&](const Letter& l) { return l.tag == receive.tag; });
    if (letter == queue.end() || letter->held_up-- > 0) return;
    ensure(letter->bytes.size() == receive.bytes.size(), "a message has the size that was expected");
    if (!letter->lost) std::copy(letter->bytes.begin(), letter->bytes.end(), receive.bytes.begin());
    if (letter->damaged) receive.bytes[*letter->damaged % receive.bytes.size()] ^= std::byte{0xff};
    *letter->fetched = receive.done = true;
    queue.erase(letter);
  }

  Mailbox& box_;
  const int rank_;
  MessageId last_ = 0;
  std::map<MessageId, Receive> receives_;  // in the order in which they were begun
  std::map<MessageId, std::shared_ptr<bool>> sends_;
};

/// Runs `body` once per rank, each in a thread. Returns what each of them threw.
inline std::vector<std::exception_ptr> run_ranks(Mailbox& mailbox, const std::function<void(Transport&)>& body) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(mailbox.ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < mailbox.ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        MailboxTransport transport(mailbox, rank);
        run_as_rank(transport, [&] { body(transport); });
      } catch (...) {
        errors[rank] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

/// Runs `body` once per rank and rethrows the first error.
inline void run_valid_ranks(Mailbox& mailbox, const std::function<void(Transport&)>& body) {
  for (const std::exception_ptr& error : run_ranks(mailbox, body))
    if (error) std::rethrow_exception(error);
}

}  // namespace voxshard::test
