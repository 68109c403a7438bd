// Guards descriptors 0, 1 and 2, which are closed when a scheduler starts the program so. The next file that is opened
// would then become standard error, and progress lines would be written into it.
//
//   int main() { if (!open_standard_streams()) return 6; ... }      // before anything else opens a file
#pragma once

#include "io/files/open_file.h"

namespace voxshard {

/// Opens those of 0, 1 and 2 that are closed on /dev/null. Writing to a standard output or error that was closed still
/// fails ("Bad file descriptor"), so a lost result is noticed. Returns false when a descriptor cannot be opened.
bool open_standard_streams();

/// Opens /dev/null for writing. Errors: kOutput.
Descriptor open_nowhere();

/// Discards everything that this process writes to standard output and standard error from now on, also by signal
/// handlers and libraries. Returns a descriptor of the former standard error, for crash messages; -1 when there is
/// none. Errors: kOutput.
int mute_standard_streams();

}  // namespace voxshard
