// Ranks as processes of an MPI run. Only plain MPI-3 calls are used, so that Open MPI and MPICH both work. mpi.cc is
// compiled where CMake finds MPI, no_mpi.cc elsewhere; nothing else includes MPI's header.
//
// Messages are non-blocking, in a communicator of our own; large ones are sent in parts, since MPI counts in int.
// Workers call MPI one at a time (MPI_THREAD_SERIALIZED), between two tasks: most MPIs move large messages only during
// such calls. An error of one rank is sent to all others in a second communicator, which is polled too, so that no rank
// waits for ever. Messages are neither encrypted nor authenticated: MPI networks are trusted.
#pragma once

#include <memory>
#include <string>

#include "libcore/ranks/transport.h"

namespace voxshard {

/// True when this build has MPI; otherwise start_mpi() throws.
bool built_with_mpi();

/// "Open MPI v4.1.4, ..." up to the first comma; "no MPI" in a build without.
std::string mpi_library();

/// Starts MPI; destroying the transport ends it and waits for the other ranks. Call it once per process, from the main
/// thread. After an error the ranks synchronise before any of them frees memory that others may still write to.
/// Errors: kConfig when MPI does not support serialised calls from several threads, or in a build without MPI.
std::unique_ptr<Transport> start_mpi();

}  // namespace voxshard
