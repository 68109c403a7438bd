// One thread beside the caller's, for work that is worth doing while the caller does something else: the next file is
// read while a network runs.
//
//   BackgroundThread thread;
//   if (thread.start([&] { next = read(file); })) { run(network); thread.wait(); }
//
// What is divided among all processors goes to a WorkerPool (parallel.h).
#pragma once

#include <functional>
#include <memory>

namespace voxshard {

class BackgroundThread {
 public:
  BackgroundThread();
  /// Waits for the work to end; its exception is lost.
  ~BackgroundThread();
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  /// Runs `work` on the thread, which the first call starts, and returns at once. False: the system refuses the thread,
  /// and nothing runs. Requires that wait() was called since the last start().
  bool start(std::function<void()> work);

  /// Returns when the work has ended; what it wrote is visible then. Throws its exception, once. Returns at once where
  /// nothing was started.
  void wait();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace voxshard
