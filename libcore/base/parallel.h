// The worker threads of the process: a fixed pool that runs numbered tasks. Any worker may run any task, in any order,
// so a task must not depend on either. Each task is single-threaded.
//
//   WorkerPool pool(2);
//   pool.run(tasks, [&](std::int64_t task, int worker) { ... });
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace voxshard {

class WorkerPool {
 public:
  using Task = std::function<void(std::int64_t task, int worker)>;

  /// Starts `workers` - 1 threads (the caller is worker 0), or fewer as thread_shortage.h says. Requires `workers`
  /// >= 1. Errors: E_THREADS.
  explicit WorkerPool(int workers);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int workers() const;

  /// Runs task 0 .. tasks - 1 and returns when all have ended. The exception of the lowest failing task is thrown here.
  void run(std::int64_t tasks, const Task& task);

  /// Runs `body(worker)` once on every worker at the same time; for schedulers with a queue of their own.
  void run_on_all(const std::function<void(int worker)>& body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The number of processors this process may use, at least 1.
int hardware_workers();

}  // namespace voxshard
