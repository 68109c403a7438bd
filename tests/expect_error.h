// An error that a test expects.
//
//   expect_error(ErrorKind::kUsage, "--resume", [&] { run_train(options, progress); });
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "libcore/base/error.h"

namespace voxshard {

/// Expects `act` to throw an Error of that kind with `piece` in its text.
template <class Act>
void expect_error(ErrorKind kind, const std::string& piece, Act act) {
  try {
    act();
    ADD_FAILURE() << "no error; expected one with: " << piece;
  } catch (const Error& e) {
    EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(kind)) << e.what();
    EXPECT_THAT(std::string(e.what()), testing::HasSubstr(piece));
  }
}

}  // namespace voxshard
