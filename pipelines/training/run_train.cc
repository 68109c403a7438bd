#include "pipelines/training/run_train.h"

#include <memory>

#include "io/files/file_name.h"
#include "pipelines/training/data_changes.h"
#include "pipelines/training/run_folder.h"
#include "pipelines/training/train_numbers.h"
#include "pipelines/training/training_run.h"

namespace voxshard {
namespace {

void check(const TrainOptions& o) {
  auto require = [](bool ok, const std::string& text) {
    if (!ok) throw Error(ErrorKind::kConfig, "[train] " + text);
  };
  if (o.resume && o.restart) throw Error(ErrorKind::kUsage, "[train] {resume} goes on with a run, {restart} throws it away; give one of them");
  if (o.accept_changes && !o.resume)
    throw Error(ErrorKind::kUsage, "[train] {accept-changes} is for a run that goes on; give it with {resume}");
  require(o.batch % o.spec.cut.mesh.replicas == 0, "the batch " + std::to_string(o.batch) + " must be divisible by the " +
                                              std::to_string(o.spec.cut.mesh.replicas) + " replicas");
}

}  // namespace

TrainReport run_train(const TrainOptions& options, Progress& progress, const TaskTable& tasks) {
  TrainOptions o = options;
  require_in_range(train_numbers(o));
  check(o);
  const Task& kind = task_of(tasks, o.spec);
  require_utf8_name(std::filesystem::absolute(o.work).string());  // run.json keeps it for who goes on
  require_own_settings(kind, o.task, "train", "the model is a " + o.spec.model_name());
  require_in_range(kind.settings(TaskCommand::kTrain, o.task));
  InProcessTransport alone;
  Transport& transport = o.transport != nullptr ? *o.transport : alone;
  const HostMemory host(o.host_budget_bytes, transport.ranks_here());
  const RunHistory history = o.resume ? history_of(o.run) : RunHistory();
  const bool changes = o.accept_changes || history.changed;
  std::unique_ptr<TrainingTask> task = kind.training(
      {.data = o.work,
       .seed = o.seed,
       .threads = o.threads,
       .memory_bytes = left_of(host.budget_bytes(), host.base_bytes()),
       .stop = progress.stop_check(),
       .kept = changes ? splits_of_run(o.run) : std::vector<KeptSplit>(),
       .accepts_changes = changes},
      o.task, o.spec);
  task->complete(o.spec);
  if (transport.rank() == 0)
    require_output_file(o.trace.file, profile_file(), {.inputs = {o.work}, .own = o.run, .option = "{trace}"});
  RunFolder folder(o, transport);
  for (const std::string& warning : task->warnings()) progress.warn(warning);
  folder.require_startable();
  count_epochs(o, history.cases > 0 ? history.cases : task->training_cases());
  if (o.choose_settings) {
    o.choose_settings(o, *task);
    task->complete(o.spec);
  }
  return TrainingRun(o, kind.records(), folder, std::move(task), host, transport, progress).go();
}

}  // namespace voxshard
