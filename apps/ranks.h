// Runs the program as one of several ranks that an MPI launcher started with the same command: only rank 0 prints, and
// all ranks end with its exit code. With a single process none of this has an effect.
//
//   return as_rank(*transport, words, [&] { return run_subcommand(...); });
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "libcore/ranks/transport.h"

namespace voxshard {

/// The processors to which a launcher bound a rank, or all of its host.
struct Processors {
  std::string host;
  std::set<int> numbers;
};

/// Returns the number of processors of `ranks[rank]` divided by the number of ranks on its host (itself included) that
/// may use any of them; at least 1. A rank that is bound to processors of its own uses them all.
int share_of_processors(const std::vector<Processors>& ranks, std::size_t rank);

/// Returns the number of processors for this process, shared with the other ranks of its host. All ranks call it at the
/// same place.
int usable_workers(Transport& transport);

/// Runs `body` after checking that all ranks have the same build and kind of processor, and were started with the same
/// words and --config. Standard output and standard error of ranks other than 0 are discarded, except for the message
/// of a crash. Returns the exit code of rank 0, on every rank. Errors: kConfig with the first difference; those of
/// `body` and of other ranks, with the rank and its host unless they concern all ranks (kUsage, kConfig); kInternal for
/// an invalid exit code of rank 0; when any rank throws Stopped, an error for which tells_of_stop() is true, on all
/// ranks.
int as_rank(Transport& transport, const std::vector<std::string>& words, const std::function<int()>& body);

/// True when as_rank()'s error means that a rank was asked to stop.
bool tells_of_stop(const Error& error);

/// Checks that a subcommand for a single process runs alone. Errors: kUsage with several ranks.
void require_one_rank(const Transport& transport, const std::string& command);

/// Returns the value of "--config" in the words; empty when there is none.
std::string config_path(const std::vector<std::string>& words);

}  // namespace voxshard
