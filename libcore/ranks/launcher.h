// Detects whether an MPI launcher started this process together with others.
//
//   mpirun -n 4 voxshard train ...        std::unique_ptr<Transport> transport = start_transport(std::getenv);
//
// MPI is started only under a launcher: for a single process it costs 0.4 s and has no use.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "libcore/ranks/transport.h"

namespace voxshard {

/// The number of ranks that a launcher announces in the environment of each process.
struct Launch {
  std::string launcher;  // "Open MPI", for messages
  std::string variable;  // the variable that holds it: "OMPI_COMM_WORLD_SIZE"
  int ranks = 1;
};

/// The value of an environment variable or null, as std::getenv.
using Environment = std::function<const char*(const char*)>;

/// Returns the launcher that announces most ranks, among the variables of Open MPI, Hydra (MPICH, Intel MPI) and srun;
/// nullopt when none is set. Errors: kConfig when a value is no number of ranks.
std::optional<Launch> find_launch(const Environment& environment);

/// Returns the in-process transport, or one over MPI when a launcher announces several ranks. Errors: kConfig when this
/// build has no MPI, or when its MPI sees another number of ranks than the launcher announces: N processes would each
/// do the whole run in one folder.
std::unique_ptr<Transport> start_transport(const Environment& environment);

/// Throws the error of start_transport() when MPI does not see the ranks that the launcher announces. Errors: kConfig
/// unless the numbers are equal.
void require_launched(const Launch& launch, int ranks_of_mpi);

}  // namespace voxshard
