// Exit codes: the one table that turns an error into a number that scripts can rely on. `voxshard help exit-codes`
// prints it, with the codes of signals (stop_signals.h); apps/README.md holds a copy of that output.
#pragma once

#include "libcore/base/codes.h"
#include "libcore/base/error.h"

namespace voxshard {

enum ExitCode {
  kExitOk = 0,
  kExitInternal = 1,
  kExitUsage = 2,
  kExitInput = 3,
  kExitNoCase = 4,
  kExitConfig = 5,
  kExitOutput = 6,
  kExitBudget = 7,
  kExitPartial = 8,
  kExitMismatch = 9,
  kExitCheckpoint = 10,
  kExitDiverged = 12,
};

/// The exit code, name and meaning of an error kind.
struct ErrorEnd {
  ErrorKind kind;
  ExitCode exit_code;
  const char* name;     // in {"error": {"kind": ...}}
  const char* meaning;  // a clause, without a full stop
};

/// One row per kind, by exit code. kExitOk has none.
inline constexpr ErrorEnd kErrorEnds[] = {
    {ErrorKind::kInternal, kExitInternal, "internal", "a defect of voxshard; or MPI failed between ranks (E_MPI)"},
    {ErrorKind::kUsage, kExitUsage, "usage", "the command line is wrong"},
    {ErrorKind::kInput, kExitInput, "input", "an input is missing or unreadable"},
    {ErrorKind::kNoCase, kExitNoCase, "no_case", "no usable case"},
    {ErrorKind::kConfig, kExitConfig, "config", "a configuration, plan or partition is invalid"},
    {ErrorKind::kOutput, kExitOutput, "output",
     "an output cannot be written; also beyond the limit of file sizes (ulimit -f)"},
    {ErrorKind::kBudget, kExitBudget, "budget",
     "over the memory budget, and nothing was allocated; or the system refused memory, or threads that were asked for "
     "(E_THREADS)"},
    {ErrorKind::kPartial, kExitPartial, "partial",
     "some cases failed, or check found something, and are listed; the outputs of the others are valid"},
    {ErrorKind::kMismatch, kExitMismatch, "mismatch", "a verification found a difference"},
    {ErrorKind::kCheckpoint, kExitCheckpoint, "checkpoint",
     "a checkpoint of another model or run, or of data that have changed; or all checkpoints are damaged or gone"},
    {ErrorKind::kDiverged, kExitDiverged, "diverged", "the loss or a weight is not finite"},
};

constexpr const ErrorEnd& end_of(ErrorKind kind) {
  for (const ErrorEnd& row : kErrorEnds)
    if (row.kind == kind) return row;
  return kErrorEnds[0];
}

constexpr int exit_code(ErrorKind kind) { return end_of(kind).exit_code; }

/// The name in {"error": {"kind": ...}}.
constexpr const char* kind_name(ErrorKind kind) { return end_of(kind).name; }

/// True when each kind has a row of its own and an explained default code.
constexpr bool ends_are_whole() {
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::kInternal); ++kind)
    if (end_of(static_cast<ErrorKind>(kind)).kind != static_cast<ErrorKind>(kind) ||
        meaning_of(default_code(static_cast<ErrorKind>(kind))) == nullptr)
      return false;
  return true;
}
static_assert(ends_are_whole());

}  // namespace voxshard
