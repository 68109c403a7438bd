// Errors keep their kind while context is put before their text.
#include "libcore/base/error.h"
#include "tests/expect_error.h"

#include <gtest/gtest.h>

namespace voxshard {
namespace {

void read_header() { throw Error(ErrorKind::kInput, "header says 4-D, expected 3-D"); }

void read_volume() {
  try {
    read_header();
  } catch (Error& error) {
    error.add_context("reading liver_03.nii.gz");
    throw;
  }
}

TEST(Error, ContextComesOutermostFirstAndTheKindStays) {
  try {
    try {
      read_volume();
    } catch (Error& error) {
      error.add_context("case 3");
      throw;
    }
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_STREQ(error.what(), "case 3: reading liver_03.nii.gz: header says 4-D, expected 3-D");
  }
}

TEST(Error, ItsCodeIsThatOfItsKindUnlessItSaysMoreAndStaysWithContext) {
  EXPECT_STREQ(Error(ErrorKind::kUsage, "x").code(), "E_USAGE");
  EXPECT_STREQ(Error(ErrorKind::kInput, "x").code(), "E_READ");
  EXPECT_STREQ(Error(ErrorKind::kOutput, "x").code(), "E_WRITE");
  EXPECT_STREQ(Error(ErrorKind::kInternal, "x").code(), "E_INTERNAL");
  Error error(ErrorKind::kInput, "E_SHAPE", "x");
  error.add_context("case 3");
  EXPECT_STREQ(error.code(), "E_SHAPE");
  EXPECT_STREQ(error.what(), "case 3: x");
}

TEST(Error, IsCaughtAsAStandardExceptionWithItsContext) {
  try {
    read_volume();
    FAIL() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "reading liver_03.nii.gz: header says 4-D, expected 3-D");
  }
}

TEST(Ensure, ThrowsInternalNamingTheInvariant) {
  EXPECT_NO_THROW(ensure(true, "water is wet"));
  expect_error(ErrorKind::kInternal, "water is wet", [&] { ensure(false, "water is wet"); });
}

}  // namespace
}  // namespace voxshard
