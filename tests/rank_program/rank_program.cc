// One rank of a training of a small model, for tests that start it with mpirun, or alone: rank 0 writes a checkpoint.
//
//   mpirun -n 4 rank_program SCENE OUT.safetensors [RANK [STEPS]]    RANK fails before its first step; -1: none does
#include <cstdio>
#include <cstdlib>

#include "apps/terminal/exit_code.h"
#include "libcore/ranks/launcher.h"
#include "pipelines/model_runs/checkpoint.h"
#include "tests/rank_program/scenes.h"

namespace voxshard {
namespace {

int run(int argc, char** argv) {
  std::unique_ptr<Transport> transport;
  try {
    if (argc < 3) throw Error(ErrorKind::kUsage, "[usage] rank_program SCENE OUT [RANK [STEPS]]");
    transport = start_transport(std::getenv);
    const int failing = argc > 3 ? std::atoi(argv[3]) : -1;
    const int steps = argc > 4 ? std::atoi(argv[4]) : test::kProgramSteps;
    if (steps < 1) throw Error(ErrorKind::kUsage, "[usage] STEPS is a number from 1 on");
    run_as_rank(*transport, [&] {
      if (transport->rank() == failing) throw Error(ErrorKind::kInput, "E_NAN", "case_7 has no labels");
      const test::RankScene& scene = test::rank_scenes().at(argv[1]);
      const test::RankOutcome outcome =
          test::train_as_rank(scene, transport->ranks() > 1 ? transport.get() : nullptr, steps);
      if (outcome.sent != outcome.planned)
        throw Error(ErrorKind::kMismatch, "[traffic] what was sent is not what the program says");
      if (transport->rank() == 0)
        save_checkpoint(argv[2], {.step = steps}, outcome.parameters, outcome.optimizer, outcome.averages);
    });
    return kExitOk;
  } catch (const Error& error) {
    std::fprintf(stderr, "rank %d: %s\n", transport ? transport->rank() : 0, error.what());
    return exit_code(error.kind());
  }
}

}  // namespace
}  // namespace voxshard

int main(int argc, char** argv) { return voxshard::run(argc, argv); }
