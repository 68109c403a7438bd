#include "libcore/base/parallel.h"

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "libcore/base/thread_shortage.h"

namespace voxshard {

int hardware_workers() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

struct WorkerPool::Impl {
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable wake, done;
  const std::function<void(int)>* body = nullptr;
  std::uint64_t generation = 0;
  int running = 0;
  bool stopping = false;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  /// Also runs when not all threads could be started: those that wait must be woken.
  ~Impl() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    wake.notify_all();
    for (auto& thread : threads) thread.join();
  }

  void loop(int worker) {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [&] { return stopping || generation != seen; });
      if (stopping) return;
      seen = generation;
      const auto* work = body;
      lock.unlock();
      (*work)(worker);
      lock.lock();
      if (--running == 0) done.notify_one();
    }
  }
};

WorkerPool::WorkerPool(int workers) : impl_(std::make_unique<Impl>()) {
  impl_->threads.reserve(static_cast<std::size_t>(workers));
  try {
    for (int w = 1; w < workers; ++w) impl_->threads.emplace_back([impl = impl_.get(), w] { impl->loop(w); });
  } catch (const std::system_error&) {  // also thrown when memory for a thread's stack is missing
    went_short_of_threads(this->workers(), workers);
  }
}

WorkerPool::~WorkerPool() = default;

int WorkerPool::workers() const { return static_cast<int>(impl_->threads.size()) + 1; }

void WorkerPool::run_on_all(const std::function<void(int)>& body) {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->body = &body;
    impl_->running = static_cast<int>(impl_->threads.size());
    ++impl_->generation;
  }
  impl_->wake.notify_all();
  body(0);
  std::unique_lock lock(impl_->mutex);
  impl_->done.wait(lock, [&] { return impl_->running == 0; });
}

void WorkerPool::run(std::int64_t tasks, const Task& task) {
  std::atomic<std::int64_t> next{0};
  std::mutex failure_mutex;
  std::int64_t failed_task = std::numeric_limits<std::int64_t>::max();
  std::exception_ptr failure;
  run_on_all([&](int worker) {
    for (std::int64_t t = next++; t < tasks; t = next++) {
      try {
        task(t, worker);
      } catch (...) {
        std::lock_guard lock(failure_mutex);
        if (t < failed_task) {
          failed_task = t;
          failure = std::current_exception();
        }
      }
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace voxshard
