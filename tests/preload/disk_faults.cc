// A library for LD_PRELOAD that makes the disk of a program fail, or its random names known, as the environment says:
//
//   VOXSHARD_FSYNC_FAILS=file | folder   every fsync of files, or of folders, fails with "Input/output error"
//   VOXSHARD_FLOCK_FAILS=1               there are no locks, as on some network file systems
//   VOXSHARD_KILL_AT_FSYNC=12            the process dies as by kill -9 when it syncs for the 12th time
//   VOXSHARD_RANDOM_ZERO=1               getrandom gives zeros: the names of temporary files can be guessed
//
// Loaded by the tests of the command line (tests/cli/disk_faults_test.cc, tests/cli/system).
#include <dlfcn.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

extern "C" int flock(int file, int operation) {
  if (std::getenv("VOXSHARD_FLOCK_FAILS") != nullptr) {
    errno = ENOLCK;
    return -1;
  }
  const auto real = reinterpret_cast<int (*)(int, int)>(dlsym(RTLD_NEXT, "flock"));
  return real(file, operation);
}

extern "C" int fsync(int file) {
  static std::atomic<int> calls{0};
  const int call = ++calls;
  if (const char* last = std::getenv("VOXSHARD_KILL_AT_FSYNC"); last != nullptr && call == std::atoi(last))
    kill(getpid(), SIGKILL);
  if (const char* what = std::getenv("VOXSHARD_FSYNC_FAILS")) {
    struct stat about {};
    if (fstat(file, &about) == 0 && S_ISDIR(about.st_mode) == (std::strcmp(what, "folder") == 0)) {
      errno = EIO;
      return -1;
    }
  }
  const auto real = reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, "fsync"));
  return real(file);
}

extern "C" ssize_t getrandom(void* buffer, size_t bytes, unsigned int flags) {
  if (std::getenv("VOXSHARD_RANDOM_ZERO") != nullptr) {
    std::memset(buffer, 0, bytes);
    return static_cast<ssize_t>(bytes);
  }
  const auto real = reinterpret_cast<ssize_t (*)(void*, size_t, unsigned int)>(dlsym(RTLD_NEXT, "getrandom"));
  return real(buffer, bytes, flags);
}
