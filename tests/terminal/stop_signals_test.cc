// Signals that stop a program, at the worst moments.
#include "apps/terminal/stop_signals.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace voxshard {
namespace {

bool raises_at_the_end = false;

/// An object made before and destroyed after all other objects of the program.
struct EndOfProgram {
  ~EndOfProgram() {
    if (raises_at_the_end) std::raise(SIGTERM);
  }
};
EndOfProgram end_of_program __attribute__((init_priority(101)));

TEST(StopSignals, ASignalWhileTheProgramEndsFindsItsWords) {
  const auto end = [] {
    catch_stop_signals();
    on_stop({.leaves = "nothing was written, in words that are too long to be held in the string itself"});
    raises_at_the_end = true;
    std::exit(0);
  };
  EXPECT_EXIT(end(), testing::ExitedWithCode(interrupted_exit_code(SIGTERM)),
              "^voxshard: interrupted: nothing was written");
}

}  // namespace
}  // namespace voxshard
