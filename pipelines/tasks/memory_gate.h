// Lets cases in side by side as long as what they announce fits the memory of the process: two large scans wait for
// each other where ten small ones run at once. What is written does not depend on it.
//
//   MemoryGate gate(host_bytes);
//   const auto hold = gate.enter(bytes);      // waits; given back at the end of the scope
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace voxshard {

/// Threads: any number at once.
class MemoryGate {
 public:
  /// 0: no limit.
  explicit MemoryGate(std::int64_t most_bytes) : most_bytes_(most_bytes) {}
  MemoryGate(const MemoryGate&) = delete;
  MemoryGate& operator=(const MemoryGate&) = delete;

  class Hold {
   public:
    Hold(MemoryGate& gate, std::int64_t bytes) : gate_(gate), bytes_(bytes) {}
    ~Hold() { gate_.leave(bytes_); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    MemoryGate& gate_;
    std::int64_t bytes_;
  };

  /// Waits until `bytes` fit beside what others hold. What is more than the limit waits until it is alone.
  Hold enter(std::int64_t bytes) {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [&] { return most_bytes_ <= 0 || held_bytes_ == 0 || bytes <= most_bytes_ - held_bytes_; });
    held_bytes_ += bytes;
    return {*this, bytes};
  }
  std::int64_t most_bytes() const { return most_bytes_; }

 private:
  void leave(std::int64_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      held_bytes_ -= bytes;
    }
    free_.notify_all();
  }

  std::int64_t most_bytes_, held_bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable free_;
};

}  // namespace voxshard
