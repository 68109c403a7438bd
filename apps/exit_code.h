// Exit codes: the one place that turns an error into a number. Scripts may rely on them; README.md lists them. Those of signals
// stand in terminal/stop_signals.h.
#pragma once

#include "libcore/base/error.h"

namespace voxshard {

enum ExitCode {
  kExitOk = 0,
  kExitInternal = 1,     // a defect of voxshard
  kExitUsage = 2,        // the command line
  kExitInput = 3,        // an input is missing or unreadable
  kExitNoCase = 4,       // nothing usable was left
  kExitConfig = 5,       // configuration, plan or partition
  kExitOutput = 6,       // an output cannot be written
  kExitBudget = 7,       // over the memory budget; nothing was allocated
  kExitPartial = 8,      // some cases failed, the outputs of the others are valid
  kExitMismatch = 9,     // a verification found a difference
  kExitCheckpoint = 10,  // a checkpoint of another model or run
  kExitDiverged = 12,    // loss or weights are not finite
};

constexpr int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return kExitUsage;
    case ErrorKind::kInput:
      return kExitInput;
    case ErrorKind::kNoCase:
      return kExitNoCase;
    case ErrorKind::kConfig:
      return kExitConfig;
    case ErrorKind::kOutput:
      return kExitOutput;
    case ErrorKind::kBudget:
      return kExitBudget;
    case ErrorKind::kPartial:
      return kExitPartial;
    case ErrorKind::kMismatch:
      return kExitMismatch;
    case ErrorKind::kCheckpoint:
      return kExitCheckpoint;
    case ErrorKind::kDiverged:
      return kExitDiverged;
    case ErrorKind::kInternal:
      return kExitInternal;
  }
  return kExitInternal;
}

/// The name in {"error": {"kind": ...}}.
constexpr const char* kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return "usage";
    case ErrorKind::kInput:
      return "input";
    case ErrorKind::kNoCase:
      return "no_case";
    case ErrorKind::kConfig:
      return "config";
    case ErrorKind::kOutput:
      return "output";
    case ErrorKind::kBudget:
      return "budget";
    case ErrorKind::kPartial:
      return "partial";
    case ErrorKind::kMismatch:
      return "mismatch";
    case ErrorKind::kCheckpoint:
      return "checkpoint";
    case ErrorKind::kDiverged:
      return "diverged";
    case ErrorKind::kInternal:
      return "internal";
  }
  return "internal";
}

}  // namespace voxshard
