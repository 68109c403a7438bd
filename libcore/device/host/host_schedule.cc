#include "libcore/device/host/host_schedule.h"

#include <functional>
#include <queue>
#include <set>

namespace voxshard {

void HostSchedule::add(std::size_t core, std::size_t instruction, const HostTask& task) {
  auto& list = lists_[core];
  if (list.empty() || list.back().instruction != instruction) list.push_back({.instruction = instruction});
  list.back().tasks.push_back(task);
}

double HostSchedule::seconds(const HostTask& task, int busy) const {
  const double gain = task.compute ? rates_.alone_compute : rates_.alone_memory;
  // Linear between one worker (fastest) and all of them (as measured together).
  const double share = rates_.threads > 1 ? static_cast<double>(busy - 1) / (rates_.threads - 1) : 0.0;
  return rates_.task_s + task.seconds * (share + (1 - share) / gain);
}

double HostSchedule::run(double begin_s, std::vector<InstructionPrice>& prices) {
  struct Cursor {
    std::size_t stage = 0, next = 0, running = 0;
  };
  struct Running {
    double end = 0;
    std::size_t core = 0;
    bool operator>(const Running& other) const { return end != other.end ? end > other.end : core > other.core; }
  };
  std::vector<Cursor> cursors(lists_.size());
  std::set<std::size_t> ready;  // cores with a task to hand out
  for (std::size_t core = 0; core < lists_.size(); ++core)
    if (!lists_[core].empty()) ready.insert(ready.end(), core);
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running;
  std::vector<std::pair<std::size_t, const HostTask*>> starting;
  double now = begin_s + rates_.barrier_s;
  while (true) {
    starting.clear();
    while (!ready.empty() && static_cast<int>(running.size() + starting.size()) < rates_.threads) {
      const std::size_t core = *ready.begin();
      Cursor& cursor = cursors[core];
      const Stage& stage = lists_[core][cursor.stage];
      InstructionPrice& price = prices[stage.instruction];
      if (price.end_s == 0) price.begin_s = now;
      starting.emplace_back(core, &stage.tasks[cursor.next++]);
      ++cursor.running;
      if (cursor.next == stage.tasks.size()) ready.erase(ready.begin());
    }
    const int busy = static_cast<int>(running.size() + starting.size());
    for (const auto& [core, task] : starting) {
      running.push({now + seconds(*task, busy), core});
      InstructionPrice& price = prices[lists_[core][cursors[core].stage].instruction];
      price.end_s = std::max(price.end_s, now + seconds(*task, busy));
    }
    if (running.empty()) break;
    const auto [end, core] = running.top();
    running.pop();
    now = end;
    Cursor& cursor = cursors[core];
    if (--cursor.running > 0 || cursor.next < lists_[core][cursor.stage].tasks.size()) continue;
    cursor = {.stage = cursor.stage + 1};
    if (cursor.stage < lists_[core].size()) ready.insert(core);
  }
  for (auto& list : lists_) list.clear();
  return now;
}

}  // namespace voxshard
