// The one family of errors. A kind says who must act and maps to one exit code (apps/terminal/exit_code.h); a code is
// the stable name of what is wrong, for scripts and quarantine.csv; the text says what is wrong, what was expected and
// what to do, and names a command's option in braces ("{fold} is 9"), which apps writes as its flag. Context is added
// while unwinding:
//
//   try { read_header(path); } catch (Error& e) { e.add_context("reading " + path.string()); throw; }
#pragma once

#include <stdexcept>
#include <string>

namespace voxshard {

enum class ErrorKind {
  kUsage,       // the command line is wrong
  kInput,       // an input file is missing, unreadable or not what it should be
  kNoCase,      // nothing usable was left in a data set
  kConfig,      // a configuration, model, shape or partition is invalid
  kOutput,      // an output cannot be written
  kBudget,      // the plan needs more memory than allowed; nothing was allocated
  kPartial,     // some cases failed, the outputs of the others are valid
  kMismatch,    // a verification found a difference
  kCheckpoint,  // a checkpoint belongs to another model or run
  kDiverged,    // the loss or a weight is not finite
  kInternal,    // a broken invariant: a defect of voxshard
};

/// The default code of errors of this kind.
constexpr const char* default_code(ErrorKind kind) {
  constexpr const char* kCodes[] = {"E_USAGE",   "E_READ",     "E_NO_CASE",    "E_CONFIG",   "E_WRITE",   "E_BUDGET",
                                    "E_PARTIAL", "E_MISMATCH", "E_CHECKPOINT", "E_DIVERGED", "E_INTERNAL"};
  return kCodes[static_cast<int>(kind)];
}

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string text) : Error(kind, default_code(kind), std::move(text)) {}
  /// `code` is a string literal, for example "E_SHAPE".
  Error(ErrorKind kind, const char* code, std::string text)
      : std::runtime_error(text), kind_(kind), code_(code), text_(std::move(text)) {}

  ErrorKind kind() const { return kind_; }
  const char* code() const { return code_; }
  const char* what() const noexcept override { return text_.c_str(); }
  /// Puts "context: " before the text.
  void add_context(const std::string& context) { text_ = context + ": " + text_; }

 private:
  ErrorKind kind_;
  const char* code_;
  std::string text_;
};

/// Throws kInternal naming `what` unless `ok`. For broken invariants of voxshard itself, never for user input.
inline void ensure(bool ok, const char* what) {
  if (!ok) throw Error(ErrorKind::kInternal, std::string("[internal] broken invariant: ") + what);
}

}  // namespace voxshard
