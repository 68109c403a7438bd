// voxshard train: trains on prepared volumes, or on images with boxes, and writes a run folder with checkpoints.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/command.h"
#include "apps/setting_args.h"
#include "apps/terminal/exit_code.h"
#include "apps/terminal/flags.h"
#include "apps/terminal/progress.h"
#include "io/files/file_name.h"
#include "libcore/base/text.h"
#include "pipelines/model_runs/missed_classes.h"
#include "pipelines/model_runs/rank_json.h"
#include "pipelines/training/train_settings.h"

namespace voxshard {
namespace {

/// `steps`: those of the whole run. After the last one only its validation can be cut short.
std::string stopped_text(const TrainReport& r, const std::string& run, std::int64_t steps) {
  const std::string resume = "voxshard train --resume " + run;
  if (r.steps >= steps && !r.held_out)
    return "; INCOMPLETE: all steps are done, but the last validation was stopped; go on with: " + resume +
           "\npredict works now with what was learned\n";
  return "; INCOMPLETE: stopped, go on with: " + resume + "\n" +
         (r.steps > 0 && !r.held_out ? "predict works now with what was learned; to end the run here: " + resume +
                                           " --steps " + std::to_string(r.steps) + "\n"
                                     : "");
}

/// Returns "dice by class: liver 0.712, spleen 0.000" with a line end: of the last validation, by the better weights of
/// the two where an average is kept, of up to 30 classes.
std::string class_text(const TrainReport& r) {
  constexpr std::size_t kMostShown = 30;
  const std::optional<Validation>& v = r.averaged_is_better ? r.averaged : r.validation;
  if (!v || v->classes.size() != v->by_class.size()) return "";
  std::vector<std::string> parts;
  for (std::size_t c = 0; c < std::min(kMostShown, v->classes.size()); ++c)
    parts.push_back(shown_name(v->classes[c]) + " " + fixed_text(v->by_class[c]));
  if (parts.size() < v->classes.size()) parts.emplace_back("... (all in validations.csv)");
  const std::string of = r.averaged_is_better ? " by class, averaged weights: " : " by class: ";
  return parts.empty() ? "" : r.metric + of + joined(parts, ", ") + "\n";
}

/// "curves, slices and scores: run/report.html, for any browser", with a line end; empty where that was not written.
std::string page_text(const std::string& run) {
  std::error_code unseen;
  const std::filesystem::path page = std::filesystem::path(run) / "report.html";
  if (!std::filesystem::is_regular_file(page, unseen)) return "";
  return "curves, slices and scores: " + page.string() + ", for any browser\n";
}

std::string report_text(const TrainReport& r, const std::string& run, std::int64_t steps) {
  std::string text = counted(r.steps, "step") + " on " + counted(r.train_cases, "case") + " in " +
                     duration_text(r.seconds) + ", last loss " + fixed_text(r.loss, 4);
  if (r.validation)
    text += ", validation " + r.metric + " " + fixed_text(r.validation->score) +
            (r.averaged ? ", of the averaged weights " + fixed_text(r.averaged->score) : "") +
            (r.best_score < 0 ? " (no best: no class has a score)"
                              : " (best " + fixed_text(r.best_score) +
                                    (r.best_weights.empty() ? "" : ", of the " + r.best_weights + " weights") + ")");
  if (r.validation_cases == 0) text += ", nothing validated";
  if (r.left_out > 0) text += "; " + std::to_string(r.left_out) + " left out (see " + run + "/quarantine.csv)";
  return (r.prepared ? to_text(*r.prepared) : "") + text + "; run folder " + run +
         (r.interrupted ? stopped_text(r, run, steps) : "\n") + class_text(r) + missed_text(r.missed) +
         (r.held_out ? with_flags(to_text(*r.held_out)) : "") + page_text(run) +
         (r.ranks.empty() ? to_text(r.memory) : memory_text_of_ranks(r.ranks));
}

/// Suggests evaluating what the run predicted, else predicting data that the model has not seen; empty when there is
/// none.
std::vector<std::string> next_command(const TrainReport& report, const TrainOptions& o) {
  if (report.held_out && !report.held_out->next.empty()) return with_flags(report.held_out->next);
  if (report.unseen.data.empty()) return {};
  std::vector<std::string> words = {"predict", o.run.string(), report.unseen.data.string(), "-o",
                                    task_of(task_table(), o.spec).words().predicted};
  if (report.unseen.among_trained) words.push_back("--held-out");
  return words;
}

/// True when something was left out of the data, of their preparation, or of the predictions of what was held out.
bool is_partial(const TrainReport& r) {
  return r.left_out > 0 || (r.prepared && r.prepared->left_out > 0) ||
         (r.held_out && (!r.held_out->failures.empty() || !r.held_out->problem.empty()));
}

RunCommand add(CLI::App& app) {
  auto train = std::make_shared<TrainSettings>();
  app.add_option("work", train->options.work, joined(task_clauses(&TaskWords::training_data), "; "))
      ->required()
      ->type_name(kPathType);
  app.add_option("-o,--output", train->options.run,
                 "Run folder to write; with --resume it may stand in place of the data")
      ->type_name(kPathType);
  add_settings(app, train->settings);
  return [train](const Context& context) {
    const TrainOptions& o = train->options;
    if (o.run.empty() && !o.resume) throw Error(ErrorKind::kUsage, "[usage] --output is required; try --help");
    train->settings.came_from_config(context.of_config);
    const TrainReport report =
        run_train(*train, {.threads = context.threads, .transport = context.transport}, *context.progress);
    return Outcome{.json = report.to_json(),
                   .text = report_text(report, o.run.string(), o.steps),
                   .exit_code = is_partial(report) ? kExitPartial : kExitOk,
                   .interrupted = report.interrupted,
                   .next = next_command(report, o),
                   .resume = {"train", "--resume", o.run.string()}};
  };
}

}  // namespace

Command train_command() {
  return {
      .name = "train",
      .summary =
          "Trains a model on prepared volumes, or on pictures with boxes or classes, cut over a set of emulated cores.",
      .example =
          "voxshard train work -o model --partition 1x2x2x2x1 --base-filters 8 --steps 400\n  "
          "mpirun -n 4 --bind-to none voxshard train work -o model --partition 1x2x2x2x1 --base-filters 8 --steps 400",
      .add = add,
      .saves =
          "the step at hand is dropped (over several ranks it is finished), the state after the last whole one is "
          "saved; go on with voxshard train --resume RUN",
      .ranks = true};
}

}  // namespace voxshard
