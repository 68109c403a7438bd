#include "io/files/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "libcore/base/error.h"

namespace voxshard {

bool open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() takes the lowest free number, which is this one. The mode is the opposite one, so that the program's reads
    // and writes fail. A system without /dev/null opens the root folder instead.
    int opened = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened < 0) opened = ::open("/", O_RDONLY | O_DIRECTORY);
    if (opened != stream) return false;
  }
  return true;
}

Descriptor open_nowhere() {
  Descriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (nowhere.number() < 0)
    throw Error(ErrorKind::kOutput, "[output] cannot open /dev/null; check the system's devices");
  return nowhere;
}

int mute_standard_streams() {
  const int errors = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  const Descriptor nowhere = open_nowhere();
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere.number(), stream);
  return errors;
}

}  // namespace voxshard
