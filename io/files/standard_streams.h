// Descriptors 0, 1 and 2 as a program may find them: closed, when a scheduler starts it so. The next file that is
// opened would then be standard error, and progress lines would be written into it.
//
//   int main() { if (!open_standard_streams()) return 6; ... }      // before anything else opens a file
#pragma once

namespace voxshard {

/// Opens those of 0, 1 and 2 that are closed on /dev/null. What is written to a standard output or error that was
/// closed fails as before ("Bad file descriptor"), so a result that has no place to go is noticed. False when that
/// cannot be done.
bool open_standard_streams();

/// From now on nothing that this process writes to its standard output and standard error is seen: neither texts, nor
/// what a signal's handler or a library says. Returns where standard error led, for the last words of a crash; -1 when
/// there is none. Errors: kOutput.
int mute_standard_streams();

}  // namespace voxshard
