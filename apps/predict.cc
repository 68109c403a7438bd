// voxshard predict: label maps for new images.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/exit_code.h"
#include "pipelines/run_predict.h"

namespace voxshard {
namespace {

struct Options {
  PredictOptions predict;
  std::string partition, precision, memory;
};

std::string report_text(const PredictReport& r, const PredictOptions& o) {
  double seconds = 0;
  for (const PredictedCase& c : r.cases) seconds += c.seconds;
  std::string text = std::to_string(r.cases.size()) + " predicted, " + std::to_string(r.failures.size()) + " quarantined";
  if (!r.failures.empty()) text += " (see " + (o.output / "quarantine.csv").string() + ")";
  char rate[64];
  std::snprintf(rate, sizeof rate, ", %.2f s per image", r.cases.empty() ? 0.0 : seconds / static_cast<double>(r.cases.size()));
  return text + rate + "; at most " + bytes_text(r.bytes_per_core) + " per core\n";
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("run", o->predict.run, "Run folder of voxshard train, or a checkpoint file")->required();
  app.add_option("input", o->predict.input, "An image, or a folder of images")->required();
  app.add_option("-o,--output", o->predict.output, "Folder to write label maps to")->required();
  app.add_option("--checkpoint", o->predict.checkpoint, "best, last, or auto: best when there is one")->capture_default_str();
  app.add_option("--partition", o->partition, "Another partition than that of the training");
  app.add_option("--precision", o->precision, "Another precision: bf16 or f32");
  app.add_option("--memory", o->memory, "Budget of one core, like 2GiB; a plan over it is refused before it starts");
  return [o](const Context& context) {
    if (!o->partition.empty()) o->predict.partition = partition_from_text(o->partition, 5);
    if (!o->precision.empty()) o->predict.precision = precision_from_name(o->precision);
    if (!o->memory.empty()) o->predict.core_budget_bytes = bytes_from_text(o->memory);
    o->predict.threads = context.threads;
    const PredictReport report = run_predict(o->predict, *context.progress);
    return Outcome{.json = to_json(report),
                   .text = report_text(report, o->predict),
                   .exit_code = report.failures.empty() ? kExitOk : kExitPartial,
                   .interrupted = report.interrupted};
  };
}

}  // namespace

Command predict_command() {
  return {"predict", "Segments whole images by a trained run, in the geometry of each input.",
          "voxshard predict model data/imagesTs -o predictions", add};
}

}  // namespace voxshard
