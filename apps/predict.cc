// voxshard predict: label maps for new volumes, objects in new pictures.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/exit_code.h"
#include "apps/video_args.h"
#include "libcore/base/text.h"
#include "pipelines/commands/run_predict.h"

namespace voxshard {
namespace {

struct Options {
  PredictOptions predict;
  VideoArgs video;
  std::string partition, precision, memory;
};

std::string video_text(const VideoPredictReport& v) {
  std::string text = std::to_string(v.frames) + " frames, " + std::to_string(v.detections) + " objects in " +
                     std::to_string(v.tracks) + " tracks";
  if (v.lost > 0) text += ", " + std::to_string(v.lost) + " frames too damaged to decode";
  if (v.not_drawn > 0) text += ", " + std::to_string(v.not_drawn) + " not drawn";
  for (const std::string& note : v.notes) text += "\n  " + note;
  return text + "\n";
}

std::string report_text(const PredictReport& r, const PredictOptions& o) {
  if (r.video) return video_text(*r.video);
  double seconds = 0;
  for (const PredictedCase& c : r.cases) seconds += c.seconds;
  const bool detector = r.detections >= 0;
  std::string text = std::to_string(r.cases.size()) + " predicted, " + std::to_string(r.failures.size()) + " quarantined";
  if (!r.failures.empty())
    text += " (see " + ((detector ? o.output.parent_path() : o.output) / "quarantine.csv").string() + ")";
  if (detector) text += ", " + std::to_string(r.detections) + " objects";
  char rate[64];
  std::snprintf(rate, sizeof rate, ", %.2f s per image", r.cases.empty() ? 0.0 : seconds / static_cast<double>(r.cases.size()));
  return text + rate + "; at most " + bytes_text(r.bytes_per_core) + " per core\n";
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("run", o->predict.run, "Run folder of voxshard train, or a checkpoint file")->required();
  app.add_option("input", o->predict.input, "An image, or a folder of images; of a detector pictures, a COCO JSON, a MOT text, or a video")->required();
  app.add_option("-o,--output", o->predict.output, "Folder to write label maps to; of a detector the file of COCO results, or of what is in a video, .json")
      ->required();
  app.add_option("--checkpoint", o->predict.checkpoint, "best, last, or auto: best when there is one")->capture_default_str();
  app.add_option("--partition", o->partition, "Another partition than that of the training");
  app.add_option("--precision", o->precision, "Another precision: bf16 or f32");
  app.add_option("--memory", o->memory, "Budget of one core, like 2GiB; a plan over it is refused before it starts");
  app.add_option("--draw", o->predict.draw, "Of a detector: folder to write pictures with boxes to; of a video the .mp4, .mov or .mkv");
  app.add_option("--postprocess", o->predict.postprocess,
                 "Of a detector: detection, legacy, legacy_export, or auto: as its variant is evaluated")
      ->capture_default_str();
  add_frame_options(app, o->video);
  add_video_output_options(app, o->video);
  return [o](const Context& context) {
    o->predict.video = video_prediction(o->video);
    if (!o->partition.empty()) o->predict.partition = partition_from_text(o->partition, partition_rank(o->partition));
    if (!o->precision.empty()) o->predict.precision = precision_from_name(o->precision);
    if (!o->memory.empty()) o->predict.core_budget_bytes = bytes_from_text(o->memory);
    o->predict.threads = context.threads;
    const PredictReport report = run_predict(o->predict, *context.progress);
    return Outcome{.json = to_json(report),
                   .text = report_text(report, o->predict),
                   .exit_code = report.failures.empty() && !(report.video && report.video->lost) ? kExitOk : kExitPartial,
                   .interrupted = report.interrupted};
  };
}

}  // namespace

Command predict_command() {
  return {"predict", "Segments whole volumes, or finds objects in whole pictures, by a trained run.",
          "voxshard predict model data/imagesTs -o predictions", add};
}

}  // namespace voxshard
