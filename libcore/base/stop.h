// Stop requests as long computations see them: a check that is cheap to call, and the exception thrown by work that was
// abandoned because of it. Abandoned work has changed nothing; the code that catches the exception saves the last
// complete state.
//
//   session.set_stop([&] { return progress.stop_requested(); });
//   try { trainer.step(...); } catch (const Stopped&) { save(); }
#pragma once

#include <exception>
#include <functional>

namespace voxshard {

/// True once the work should end; an empty function means never. Threads: called from several at once.
using StopCheck = std::function<bool()>;

/// Not an Error: nothing is wrong, and no case is to blame.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped, as was asked"; }
};

inline void throw_if_stopped(const StopCheck& stop) {
  if (stop && stop()) throw Stopped();
}

}  // namespace voxshard
