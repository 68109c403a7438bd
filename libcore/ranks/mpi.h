// Ranks as processes of an MPI run: plain MPI-3 calls, so that Open MPI and MPICH both serve. mpi.cc is compiled where
// CMake finds MPI, no_mpi.cc elsewhere; nothing else includes MPI's header.
//
// Messages are MPI's non-blocking ones, in a communicator of our own; large ones go in parts, since MPI counts in int.
// Workers call MPI one at a time (MPI_THREAD_SERIALIZED), between two tasks: most MPIs move large messages only then.
// An error of one rank goes to all others in a second communicator, which every look also looks at, so that none waits
// for ever. Messages are neither encrypted nor authenticated: MPI's networks are trusted ones.
#pragma once

#include <memory>
#include <string>

#include "libcore/ranks/transport.h"

namespace voxshard {

/// False: start_mpi() throws.
bool built_with_mpi();

/// "Open MPI v4.1.4, ..." up to the first comma; "no MPI" in a build without.
std::string mpi_library();

/// Starts MPI and ends it when the transport is destroyed, which waits for the other ranks; once per process, from the
/// main thread. After an error the ranks meet before any of them gives memory back that others may still write to.
/// Errors: kConfig where it cannot serve calls of several threads one at a time, or without MPI.
std::unique_ptr<Transport> start_mpi();

}  // namespace voxshard
