// The program as one of several ranks, which a launcher of MPI programs started alike: rank 0 speaks for all, and all
// end with its exit code. Alone none of this does anything.
//
//   return as_rank(*transport, words, [&] { return run_subcommand(...); });
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "libcore/ranks/transport.h"

namespace voxshard {

/// Those that a launcher bound a rank to, or all of its host.
struct Processors {
  std::string host;
  std::set<int> numbers;
};

/// Of the processors of `ranks[rank]`, equally among all ranks of its host that may use any of them, itself included;
/// at least 1. Ranks that are bound to processors of their own use them all.
int share_of_processors(const std::vector<Processors>& ranks, std::size_t rank);

/// The processors that this process may use, shared with the other ranks of its host. All ranks ask at the same place.
int usable_workers(Transport& transport);

/// Runs what a rank does after it was found to be of the same build, on processors of the same kind, and started with
/// the same words and --config as the others. What ranks other than 0 write to their standard output and standard error
/// is not seen, but for the last words of a crash. Returns the exit code of rank 0, on every rank.
/// Errors: kConfig names the first difference; those of `body` and of other ranks, with the rank and its host
/// unless they are of all (kUsage, kConfig); kInternal for an exit code of rank 0 that is none; of Stopped on any rank
/// one that tells_of_stop(), on all.
int as_rank(Transport& transport, const std::vector<std::string>& words, const std::function<int()>& body);

/// Whether as_rank()'s error is that a rank was asked to stop.
bool tells_of_stop(const Error& error);

/// For a subcommand that is one process's work. Errors: kUsage of several ranks.
void require_one_rank(const Transport& transport, const std::string& command);

/// What follows "--config" in the words; empty when none does.
std::string config_path(const std::vector<std::string>& words);

}  // namespace voxshard
