// Replaces mpi.cc where MPI was not found.
#include "libcore/ranks/mpi.h"

namespace voxshard {

bool built_with_mpi() { return false; }

std::string mpi_library() { return "no MPI"; }

std::unique_ptr<Transport> start_mpi() {
  throw Error(ErrorKind::kConfig, "[mpi] this build has no MPI; install libopenmpi-dev and build again");
}

}  // namespace voxshard
