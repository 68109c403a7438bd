// voxshard prepare: a data set folder to a work folder that `train` reads.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/exit_code.h"
#include "apps/progress.h"
#include "apps/text_table.h"
#include "pipelines/commands/run_prepare.h"

namespace voxshard {
namespace {

struct Options {
  PrepareOptions prepare;
  std::string clip, normalise = "ct";
};

std::string report_text(const PrepareReport& r) {
  const PreparePlan& p = r.plan;
  std::string text =
      "orientation " + p.orientation + ", spacing " +
      (p.spacing_mm ? joined_text(p.spacing_mm->data(), 3, 4) + " mm" : std::string("as it is")) +
      (p.clip_hu ? ", HU " + fixed_text(p.clip_hu->low, 0) + " to " + fixed_text(p.clip_hu->high, 0) : "") +
      ", normalised by " + normalise_name(p.normalise);
  if (p.normalise == Normalise::kCt)
    text += " (mean " + fixed_text(p.mean_hu, 1) + ", std " + fixed_text(p.std_hu, 1) + " HU)";
  text += "\n" + std::to_string(r.prepared) + " prepared, " + std::to_string(r.skipped) + " finished before, " +
          std::to_string(r.failures.size()) + " quarantined";
  if (!r.failures.empty()) text += " (see " + (r.work / "quarantine.csv").string() + ")";
  return text + " in " + duration_text(r.seconds) + (r.interrupted ? "; interrupted, go on with --resume\n" : "\n");
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("dataset", o->prepare.dataset, "Data set folder: nnU-Net or Medical Segmentation Decathlon")
      ->required();
  app.add_option("-o,--output", o->prepare.work, "Work folder to write")->required();
  app.add_option("--spacing", o->prepare.spacing, "X,Y,Z in mm of the oriented volume, median or keep")
      ->capture_default_str();
  app.add_option("--orientation", o->prepare.orientation, "Three letters, where x, y, z grow, or keep")
      ->capture_default_str();
  app.add_option("--clip", o->clip,
                 "LOW,HIGH in HU; default: the foreground's 0.5 and 99.5 percentiles (ct), -160,240 (window)");
  app.add_option("--normalise", o->normalise,
                 "ct: mean and std of the foreground; zscore: of each image; window: --clip onto -1..1; none")
      ->check(CLI::IsMember({"ct", "zscore", "window", "none"}))
      ->capture_default_str();
  app.add_option("--seed", o->prepare.seed, "Seed of the foreground samples")->capture_default_str();
  app.add_flag("--resume", o->prepare.resume,
               "Skip cases that an earlier run finished with the same options and files");
  return [o](const Context& context) {
    if (!o->clip.empty()) {
      const auto numbers = parse_numbers(o->clip, 2, "--clip");
      o->prepare.clip_hu = Range{numbers[0], numbers[1]};
    }
    o->prepare.normalise = normalise_from_name(o->normalise);
    o->prepare.threads = context.threads;
    const PrepareReport report = run_prepare(o->prepare, *context.progress);
    return Outcome{.json = to_json(report),
                   .text = report_text(report),
                   .exit_code = report.failures.empty() ? kExitOk : kExitPartial,
                   .interrupted = report.interrupted};
  };
}

}  // namespace

Command prepare_command() {
  return {"prepare", "Checks a data set and brings it to one orientation, one spacing and one scale of intensity.",
          "voxshard prepare data -o work --spacing median --clip=-200,300", add};
}

}  // namespace voxshard
