// Admits cases to run at the same time as long as their plans fit the memory of the process: two large scans wait for
// each other where ten small ones run at once. The outputs do not depend on it.
//
//   MemoryGate gate(left_of(host_bytes, base_bytes));
//   const auto hold = gate.enter(plan);       // waits; released at the end of the scope
//   gate.widest();                            // for the report: the plans that were inside at the peak
#pragma once

#include <condition_variable>
#include <mutex>

#include "pipelines/model_runs/process_plan.h"

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
    Hold(MemoryGate& gate, const ProcessPlan& plan) : gate_(gate), plan_(plan) {}
    ~Hold() { gate_.leave(plan_); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    MemoryGate& gate_;
    ProcessPlan plan_;
  };

  /// Waits until `plan` fits beside the plans that are held. A plan over the limit waits until it is alone.
  Hold enter(const ProcessPlan& plan) {
    const std::int64_t bytes = plan.total();
    std::unique_lock lock(mutex_);
    free_.wait(lock, [&] {
      const std::int64_t held = held_.total();
      return most_bytes_ <= 0 || held == 0 || bytes <= most_bytes_ - held;
    });
    held_ += plan;
    widest_ = voxshard::widest(widest_, held_);
    return {*this, plan};
  }
  std::int64_t most_bytes() const { return most_bytes_; }
  /// Returns the plans that were held at once at the peak.
  ProcessPlan widest() const {
    const std::lock_guard lock(mutex_);
    return widest_;
  }

 private:
  void leave(const ProcessPlan& plan) {
    {
      const std::lock_guard lock(mutex_);
      held_ -= plan;
    }
    free_.notify_all();
  }

  std::int64_t most_bytes_;
  ProcessPlan held_, widest_;
  mutable std::mutex mutex_;
  std::condition_variable free_;
};

}  // namespace voxshard
