// A stop that somebody asked for, as the work below sees it: a question that is cheap to ask, and what is thrown by
// work that was dropped on its account. What was dropped has changed nothing; who catches it saves what was whole
// before.
//
//   session.set_stop([&] { return progress.stop_requested(); });
//   try { trainer.step(...); } catch (const Stopped&) { save(); }
#pragma once

#include <exception>
#include <functional>

namespace voxshard {

/// True once the work should end. Threads: asked from several at once. Empty: it never should.
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
