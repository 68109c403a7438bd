// Who started this process: nobody in particular, or a launcher of MPI programs that started it with others.
//
//   mpirun -n 4 voxshard train ...        std::unique_ptr<Transport> transport = start_transport(std::getenv);
//
// MPI is started under a launcher only: alone it costs 0.4 s and does nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "libcore/ranks/transport.h"

namespace voxshard {

/// What a launcher announces in the environment of each process.
struct Launch {
  std::string launcher;  // "Open MPI", for messages
  std::string variable;  // "OMPI_COMM_WORLD_SIZE", that says so
  int ranks = 1;
};

/// The value of an environment variable or null, as std::getenv.
using Environment = std::function<const char*(const char*)>;

/// The most that any launcher announces: of Open MPI's, Hydra's (MPICH, Intel MPI) and srun's variables. None: not
/// launched. Errors: kConfig when one is no number of ranks.
std::optional<Launch> find_launch(const Environment& environment);

/// All cores in this process, or over MPI when a launcher announces several ranks. Errors: kConfig when this build has
/// no MPI, or when its MPI sees other ranks than the launcher announces: N processes would each do the whole run in one
/// folder.
std::unique_ptr<Transport> start_transport(const Environment& environment);

/// What start_transport() says of a launcher whose ranks MPI does not see. Errors: kConfig, always but for equal
/// numbers.
void require_launched(const Launch& launch, int ranks_of_mpi);

}  // namespace voxshard
