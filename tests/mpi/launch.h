// Starts programs of the build by mpirun, and returns what they print.
//
//   const Launched r = launch(mpirun(4) + built("voxshard") + " train work -o run");
//   EXPECT_EQ(r.exit_code, 0) << r.err;
//
// They lie beside the test program, so that a copy of that folder tests its own programs.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "libcore/ranks/mpi.h"
#include "tests/scratch_folder.h"

namespace voxshard::test {

/// Returns the reason why there are no ranks to test; none when there are.
inline std::optional<std::string> without_mpi() {
  if (!built_with_mpi() || std::string(VOXSHARD_MPIRUN).empty()) return "no MPI (Debian: libopenmpi-dev openmpi-bin)";
  return {};
}

inline std::string built(const std::string& program) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / program;
}

/// True for Open MPI, whose mpirun needs --oversubscribe and has exit codes, variables and processes of its own.
inline bool is_open_mpi() { return mpi_library().starts_with("Open MPI"); }

/// Returns the beginning of a command. With Open MPI, ranks may exceed processors, and root needs two variables.
inline std::string mpirun(int ranks) {
  const std::string count = "-n " + std::to_string(ranks) + " ";
  if (!is_open_mpi()) return "'" VOXSHARD_MPIRUN "' " + count;
  const std::string root = ::geteuid() == 0 ? "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " : "";
  return root + "'" VOXSHARD_MPIRUN "' --oversubscribe --bind-to none " + count;
}

/// Returns words for behind mpirun() that run `commands[rank]`, words of a shell without single quotes, on each rank.
/// It stands for `-n 1 a : -n 1 b`, at which mpirun of Open MPI 5.0.7 (Debian 13) crashes.
/// Source: https://github.com/open-mpi/ompi/issues/13303; both variables: libcore/ranks/launcher.cc.
inline std::string by_rank(const std::vector<std::string>& commands) {
  std::string cases;
  for (std::size_t rank = 0; rank < commands.size(); ++rank)
    cases += std::to_string(rank) + ") " + commands[rank] + ";; ";
  return "sh -c 'case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in " + cases + "esac'";
}

struct Launched {
  int exit_code = -1;  // 124 after five minutes
  std::string out, err;
};

/// Runs `command`, words of a shell, which may begin with variables.
inline Launched launch(const std::string& command) {
  const ScratchFolder streams;
  const std::string out = streams / "out", err = streams / "err";
  const int status =
      std::system(("timeout -k 10 300 env " + command + " >" + out + " 2>" + err + " </dev/null").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_bytes(out), read_bytes(err)};
}

}  // namespace voxshard::test
