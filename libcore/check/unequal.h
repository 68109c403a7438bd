// The differences found by a check, joined over the ranks. Each rank compares the values on its own cores, all in the
// same order, and the joined list is that of a run in one process.
//
//   std::vector<Unequal> own;                           // those of this rank
//   own.push_back({.place = 17, .found = {"encoder0/conv0", "margin", 0.3, 0, 5}, .ratio = infinity});
//   for (const Unequal& u : join_unequal(transport, own)) ...     // by place, on every rank the same
#pragma once

#include <string>
#include <vector>

#include "libcore/ranks/transport.h"

namespace voxshard {

struct LayerDifference {
  std::string layer;
  // "kernel", "memory: ...", "result", "margin", "loss", "gradient", "updated weights", "optimizer adam"
  std::string what;
  double difference = 0;
  double tolerance = 0;
  std::int64_t core = -1;  // the core that holds it; -1: not specific to one core
  std::string rank = {};   // "rank 2 on node-b"; empty with one rank
};

struct Unequal {
  std::int64_t place = 0;  // number of the comparison, in the order that is the same on every rank
  LayerDifference found;
  double ratio = 0;     // difference / tolerance; more than 1: too far
  double relative = 0;  // for gradients: difference / size

  bool too_far() const { return ratio > 1; }
};

/// Returns, for each place with a difference on some rank, the one with the largest ratio; ties go to the lowest rank,
/// then to the first in its list. Every rank must call this, whatever it found.
std::vector<Unequal> join_unequal(Transport& transport, const std::vector<Unequal>& own);

}  // namespace voxshard
