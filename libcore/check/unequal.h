// What a check finds unequal, joined over the ranks: each of them compares what its own cores hold, all in the same
// order, and what is counted and printed is that of one process.
//
//   std::vector<Unequal> own;                           // of this rank
//   own.push_back({.place = 17, .found = {"encoder0/conv0", "margin", 0.3, 0, 5}, .ratio = infinity});
//   for (const Unequal& u : join_unequal(transport, own)) ...     // by place, on every rank the same
#pragma once

#include <string>
#include <vector>

#include "libcore/ranks/transport.h"

namespace voxshard {

struct LayerDifference {
  std::string layer;
  std::string
      what;  // "kernel", "memory: ...", "result", "margin", "loss", "gradient", "updated weights", "optimizer adam"
  double difference = 0;
  double tolerance = 0;
  std::int64_t core = -1;  // that holds it; -1: not one core's alone
  std::string rank = {};   // "rank 2 on node-b"; empty of one rank
};

struct Unequal {
  std::int64_t place = 0;  // of the comparison, in the order in which every rank compares
  LayerDifference found;
  double ratio = 0;     // difference / tolerance; more than 1: too far
  double relative = 0;  // of gradients: difference / size

  bool too_far() const { return ratio > 1; }
};

/// Of each place where some rank has something, what is furthest off: of equal ones that of the lowest rank, and of the
/// first that it lists. Every rank asks, whatever it found.
std::vector<Unequal> join_unequal(Transport& transport, const std::vector<Unequal>& own);

}  // namespace voxshard
