#include "libcore/runtime/worker_loop.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "libcore/base/stopwatch.h"

namespace voxshard {
namespace {

struct Cursor {
  std::size_t stage = 0;
  std::size_t next = 0;     // next task of the stage to hand out
  std::size_t running = 0;  // handed out and not yet ended
};

std::size_t tasks_of(const Stage& stage) { return std::max<std::size_t>(1, stage.calls.size()); }

}  // namespace

void run_segment(WorkerPool& pool, const Segment& segment, std::int64_t first_core,
                 const std::function<void(std::int64_t core, const Stage& stage, std::size_t task, int worker)>& task,
                 const StopCheck& stop, ExchangeFlight* flight, const std::function<void(std::int64_t core)>& ended) {
  std::vector<Cursor> cursors(segment.size());
  std::mutex mutex;
  std::condition_variable changed;
  std::exception_ptr failure;
  bool looking = false;  // true while some worker polls the flight
  const auto under_way = [&] { return flight != nullptr && !flight->complete(); };
  const auto ready_tasks = [&](std::size_t core) {
    const Stage& stage = segment[core][cursors[core].stage];
    const bool waits = under_way() && flight->keeps_waiting(first_core + static_cast<std::int64_t>(core));
    return waits ? std::min(stage.free, tasks_of(stage)) : tasks_of(stage);
  };
  const auto fail = [&] {
    const std::lock_guard lock(mutex);
    if (!failure) failure = std::current_exception();
  };
  pool.run_on_all([&](int worker) {
    std::unique_lock lock(mutex);
    Pause pause;
    while (true) {
      if (under_way() && !looking && !failure) {
        looking = true;
        lock.unlock();
        try {
          flight->look(worker);
        } catch (...) {
          fail();
        }
        lock.lock();
        looking = false;
        changed.notify_all();
      }
      std::size_t core = segment.size();
      bool unfinished = false;
      for (std::size_t c = 0; c < segment.size(); ++c) {
        const Cursor& cursor = cursors[c];
        if (cursor.stage >= segment[c].size()) continue;
        unfinished = true;
        if (cursor.next < ready_tasks(c)) {
          core = c;
          break;
        }
      }
      if (unfinished && !failure && stop && stop()) failure = std::make_exception_ptr(Stopped());
      if (!unfinished || failure) return;
      if (core == segment.size()) {
        if (under_way() && !looking) {
          lock.unlock();
          const Stopwatch watch;
          pause();
          const double waited_s = watch.seconds();
          lock.lock();
          flight->note_waiting(waited_s);
        } else {
          changed.wait(lock);
        }
        continue;
      }
      pause = {};
      Cursor& cursor = cursors[core];
      const Stage& stage = segment[core][cursor.stage];
      const std::size_t number = cursor.next++;
      ++cursor.running;
      lock.unlock();
      try {
        task(first_core + static_cast<std::int64_t>(core), stage, number, worker);
      } catch (Error& error) {
        error.add_context("core " + std::to_string(first_core + static_cast<std::int64_t>(core)));
        fail();
      } catch (...) {
        fail();
      }
      lock.lock();
      --cursor.running;
      if (cursor.running == 0 && cursor.next >= tasks_of(stage)) {
        if (ended && cursor.stage + 1 == segment[core].size()) {
          lock.unlock();
          ended(first_core + static_cast<std::int64_t>(core));
          lock.lock();
        }
        ++cursor.stage;
        cursor.next = 0;
      }
      changed.notify_all();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace voxshard
