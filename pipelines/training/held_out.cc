#include "pipelines/training/held_out.h"

#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// True where a fold was named: its run is one of several that hold out the whole data set between them.
bool names_a_fold(const TrainOptions& o) {
  const auto fold = o.given.find("fold");
  return fold != o.given.end() && !fold->second.empty() && fold->second.front() != "all";
}

fs::path output_of(const TrainOptions& o, const Task& task) {
  const fs::path folder = o.run / kHeldOutFolder;
  const fs::path name = task.words().predicted;
  return name.has_extension() ? folder / name : folder;
}

PredictOptions options_of(const TrainOptions& o, const HeldOut& held, const Task& task) {
  return {.run = o.run,
          .input = held.data,
          .output = output_of(o, task),
          .only = held.keys,
          .into_run = true,
          .models = {o.spec.model},
          .task = held.task};
}

/// Returns the resources of a prediction: cores whose inputs exceed the budget take turns in a file in the run folder.
RunResources resources_of(const HeldOutPrediction& what, bool alone) {
  RunResources resources = what.context.resources();
  resources.scratch = what.options.run;
  if (alone) resources.transport = nullptr;
  return resources;
}

void predict(const HeldOutPrediction& what, HeldOutReport& report) {
  const TrainOptions& o = what.options;
  Progress& progress = what.context.progress();
  Transport& transport = what.context.transport();
  TrainedRun run = load_trained_run({.run = o.run, .models = {o.spec.model}, .transport = &transport});
  report.checkpoint = run.file;
  const bool alone = run.spec.cut.mesh.cores() < transport.ranks();
  if (alone && transport.rank() > 0) return;
  if (const auto note = weights_note(run)) progress.log(*note);
  const RunContext context(progress, resources_of(what, alone));
  const PredictOptions options = options_of(o, what.held, what.task);
  PredictReport made = what.task.predict(options, std::move(run), context);
  report.predicted = std::ssize(made.cases) - made.kept, report.kept = made.kept;
  report.failures = std::move(made.failures);
  report.not_reached = std::ssize(made.not_reached);
  report.interrupted = made.interrupted;
  report.next = std::move(made.next);
  report.memory = std::move(made.memory.plan);
}

}  // namespace

std::optional<HeldOut> held_out_of(const TrainOptions& o, const TrainingTask& task, Progress& progress) {
  const bool asked = o.held_out == HeldOutMode::kOn;
  if (!asked && (o.held_out == HeldOutMode::kOff || !names_a_fold(o))) return std::nullopt;
  HeldOut held;
  if (task.validation_cases() == 0)
    held.why_not = "nothing is held out; give another {fold}, or {val-fraction}";
  else
    held = task.held_out();
  if (!held.data.empty()) return held;
  if (asked) throw Error(ErrorKind::kConfig, "[train] {predict-held-out} on: " + held.why_not);
  progress.warn("what is held out is not predicted when the run ends: " + held.why_not);
  return std::nullopt;
}

HeldOutReport predict_held_out(const HeldOutPrediction& what) {
  const Stopwatch watch;
  const RunContext& context = what.context;
  HeldOutReport report{.output = output_of(what.options, what.task)};
  const bool alone = context.transport().ranks() == 1;
  context.progress().log("predicting what was held out into " + report.output.string());
  try {
    predict(what, report);
  } catch (const Stopped&) {
    if (!alone) throw;  // the other ranks are told as it unwinds
    report.interrupted = true;
  } catch (const Error& e) {
    if (!alone || e.kind() == ErrorKind::kInternal) throw;
    report.problem = e.what();
    context.progress().warn("what was held out is not predicted, the training is complete: " + report.problem);
  }
  report.interrupted = context.any(report.interrupted);
  report.seconds = watch.seconds();
  return report;
}

nlohmann::ordered_json to_json(const HeldOutReport& report) {
  nlohmann::ordered_json json = {{"output", report.output.string()},  {"checkpoint", report.checkpoint.string()},
                                 {"predicted", report.predicted},     {"kept", report.kept},
                                 {"failed", report.failures.size()},  {"failures", to_json(report.failures)},
                                 {"not_reached", report.not_reached}, {"interrupted", report.interrupted},
                                 {"seconds", report.seconds}};
  if (!report.problem.empty()) json["problem"] = report.problem;
  return json;
}

std::string to_text(const HeldOutReport& report) {
  if (!report.problem.empty()) return "held out: not predicted: " + report.problem + "\n";
  std::string text = "held out: " + std::to_string(report.predicted) + " predicted";
  if (report.kept > 0) text += ", " + std::to_string(report.kept) + " kept";
  if (!report.failures.empty()) text += ", " + std::to_string(report.failures.size()) + " left out";
  if (report.not_reached > 0) text += ", " + std::to_string(report.not_reached) + " not reached";
  return text + " in " + report.output.string() + "\n";
}

}  // namespace voxshard
