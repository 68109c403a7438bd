// Expects a cut model to compute what the uncut one does; used by the tests of every model.
//
//   expect_equal({.factory = ..., .cut = {.mesh = {.partition = {1, 2, 1, 1, 1}}}}, {.layers = 50, .tensors = 20});
#pragma once

#include <gtest/gtest.h>

#include "libcore/check/equivalence.h"

namespace voxshard::test {

/// The comparison must cover more layers and tensors than this, so that an empty comparison does not pass.
struct Compared {
  std::int64_t layers = 0, tensors = 0;
};

inline void expect_equal(const EquivalenceOptions& options, const Compared& least) {
  WorkerPool pool(2);
  const EquivalenceReport report = check_equivalence(options, pool);
  EXPECT_TRUE(report.equal()) << report.first_difference->layer << " " << report.first_difference->what
                              << " differs by " << report.first_difference->difference << ", allowed "
                              << report.first_difference->tolerance;
  EXPECT_GT(report.layers, least.layers);
  EXPECT_GT(report.bit_equal, report.layers / 2);
  EXPECT_GT(report.tensors, least.tensors);
}

/// A size and its partition.
struct GridCase {
  Shape extents;
  std::string partition;
};

inline void PrintTo(const GridCase& c, std::ostream* out) { *out << to_string(c.extents) << " over " << c.partition; }

}  // namespace voxshard::test
