// A library for LD_PRELOAD under which a process has at most a given number of threads at a time beside its first one:
//
//   VOXSHARD_MOST_THREADS=3   pthread_create fails with EAGAIN while three of them live
//
// as ulimit -u, a limit of the cgroup and ulimit -v do. Loaded by tests/cli/system/few_threads_cli_test.cc.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>

namespace {

std::atomic<int> alive{0};

struct Start {
  void* (*body)(void*);
  void* argument;
};

/// Counts down also when the thread ends by pthread_exit.
struct Alive {
  ~Alive() { --alive; }
};

void* run(void* given) {
  const std::unique_ptr<Start> start(static_cast<Start*>(given));
  const Alive counted;
  return start->body(start->argument);
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                              void* argument) {
  const char* most = std::getenv("VOXSHARD_MOST_THREADS");
  if (++alive > (most != nullptr ? std::atoi(most) : 1 << 20)) {
    --alive;
    return EAGAIN;
  }
  const auto real = reinterpret_cast<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>(
      dlsym(RTLD_NEXT, "pthread_create"));
  auto start = std::make_unique<Start>(Start{body, argument});
  const int failed = real(thread, attributes, run, start.get());
  if (failed == 0)
    start.release();
  else
    --alive;
  return failed;
}
