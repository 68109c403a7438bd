// Handling of systems that refuse threads: ulimit -u, the cgroup's process limit, no address space for a stack (ulimit
// -v). A user who asked for a number of threads gets an error that says how many are possible; otherwise fewer run,
// with the same results.
//
//   const ThreadShortage shortage(is_default, [&](const std::string& text) { progress.warn(text); });   // apps
//   WorkerPool pool(8);                                                          // E_THREADS, or 3 workers and
//   W_THREADS
#pragma once

#include <functional>
#include <string>

namespace voxshard {

/// The policy during its lifetime; without one, threads that cannot be started are an error. At most one exists at a
/// time.
class ThreadShortage {
 public:
  /// `goes_on`: continue with the threads that started. `say` receives each W_THREADS text, which says what was done,
  /// once.
  ThreadShortage(bool goes_on, std::function<void(const std::string&)> say);
  ~ThreadShortage();
  ThreadShortage(const ThreadShortage&) = delete;
  ThreadShortage& operator=(const ThreadShortage&) = delete;
};

/// Reports that only `made` of `wanted` threads started, the caller's included. Errors: kBudget E_THREADS unless
/// `goes_on`.
void went_short_of_threads(int made, int wanted);

/// Warns that a library's own threads, such as those of "FFmpeg's decoder", could not start and that it works without
/// them.
void say_single_thread(const std::string& whose, int wanted);

}  // namespace voxshard
