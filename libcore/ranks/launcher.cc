#include "libcore/ranks/launcher.h"

#include <charconv>
#include <cstring>

#include "libcore/ranks/mpi.h"

namespace voxshard {
namespace {

struct Row {
  const char* launcher;
  const char* ranks;  // the variable that holds the number of ranks
};

// Open MPI: docs.open-mpi.org, "Environment variables set for MPI applications". Hydra's PMI-1 of MPICH and Intel MPI,
// and Slurm's srun --mpi=pmi2: PMI_SIZE. srun also sets the number of tasks of its step, whatever its --mpi; a batch
// script outside of srun does not have that variable (it has SLURM_NTASKS).
constexpr Row kLaunchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_SIZE"}, {"Hydra (MPICH, Intel MPI)", "PMI_SIZE"}, {"Slurm", "SLURM_STEP_NUM_TASKS"}};

int ranks_in(const Row& row, const char* text) {
  constexpr int kMostRanks = 1 << 20;
  int ranks = 0;
  const char* const end = text + std::strlen(text);
  const auto [behind, error] = std::from_chars(text, end, ranks);
  if (error != std::errc() || behind != end || ranks < 1 || ranks > kMostRanks)
    throw Error(ErrorKind::kConfig, std::string("[mpi] the environment says ") + row.ranks + "=" +
                                        std::string(text).substr(0, 64) +
                                        ", which is no number of ranks; start with mpirun -n N, or unset it");
  return ranks;
}

}  // namespace

std::optional<Launch> find_launch(const Environment& environment) {
  std::optional<Launch> found;
  for (const Row& row : kLaunchers) {
    const char* text = environment(row.ranks);
    if (text == nullptr || *text == '\0') continue;
    const int ranks = ranks_in(row, text);
    if (!found || ranks > found->ranks) found = Launch{row.launcher, row.ranks, ranks};
  }
  return found;
}

void require_launched(const Launch& launch, int ranks_of_mpi) {
  if (ranks_of_mpi == launch.ranks) return;
  throw Error(ErrorKind::kConfig,
              "[mpi] " + launch.launcher + " announces " + std::to_string(launch.ranks) + " ranks (" + launch.variable +
                  "), but " + mpi_library() + " sees " + std::to_string(ranks_of_mpi) +
                  ": each process would do the whole run in one folder; start with the mpirun of that MPI, "
                  "or choose for srun a kind of MPI that it understands");
}

std::unique_ptr<Transport> start_transport(const Environment& environment) {
  const auto launch = find_launch(environment);
  if (!launch || launch->ranks == 1) return std::make_unique<InProcessTransport>();
  if (!built_with_mpi())
    throw Error(ErrorKind::kConfig, "[mpi] " + launch->launcher + " announces " + std::to_string(launch->ranks) +
                                        " ranks (" + launch->variable +
                                        "), but this build has no MPI: each process would do the whole run in "
                                        "one folder; install libopenmpi-dev and build again, or start one process");
  auto transport = start_mpi();
  require_launched(*launch, transport->ranks());
  return transport;
}

}  // namespace voxshard
