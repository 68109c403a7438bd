// Systems that refuse threads: ulimit -u, a limit of processes of the cgroup, no address space for a stack (ulimit -v).
// Who asked for a number of threads is told how many there can be; who did not gets those, because results do not
// depend on them.
//
//   const ThreadShortage shortage(is_default, [&](const std::string& text) { progress.warn(text); });   // apps
//   WorkerPool pool(8);                                                          // E_THREADS, or 3 workers and
//   W_THREADS
#pragma once

#include <functional>
#include <string>

namespace voxshard {

/// What is done while it lives; without one, threads that cannot be made are an error. One at a time.
class ThreadShortage {
 public:
  /// `goes_on`: with the threads that could be made. `say` is told, once for each text, W_THREADS and what was done.
  ThreadShortage(bool goes_on, std::function<void(const std::string&)> say);
  ~ThreadShortage();
  ThreadShortage(const ThreadShortage&) = delete;
  ThreadShortage& operator=(const ThreadShortage&) = delete;
};

/// Only `made` of `wanted` threads could be made, the caller's own among them. Errors: kBudget E_THREADS unless it may
/// go on.
void went_short_of_threads(int made, int wanted);

/// Tells of a library's own threads that could not be made and without which it works: "FFmpeg's decoder".
void say_single_thread(const std::string& whose, int wanted);

}  // namespace voxshard
