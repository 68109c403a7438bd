// voxshard explain: the stages from model to run, as text.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/model_command.h"
#include "apps/setting_args.h"
#include "apps/terminal/flags.h"
#include "apps/words/next_words.h"
#include "pipelines/commands/run_draw.h"
#include "pipelines/commands/run_explain.h"
#include "pipelines/training/train_settings.h"

namespace voxshard {
namespace {

struct Options : ModelCommand {
  Options() : ModelCommand("48x40x56") {}
  std::string stage = "program", draw, sample, level;
  IrregularSlices irregular = IrregularSlices::kReject;
};

Outcome drawn(const DrawOptions& options) {
  const DrawReport report = run_draw(options);
  return {.json = report.json, .text = with_flags(report.text)};
}

/// Returns the named device; the default for the passes differs from the planner's.
std::string tpu_name(const PlanSettings& plan) {
  if (plan.asked_device.empty()) return "tpu-v3";
  return plan.device.empty() ? "host" : plan.device;
}

/// Returns the settings of `train` as set by --config and by the words of this command.
std::vector<SettingLine> lines_of_train(const Settings& said, const Context& context) {
  TrainSettings train;
  for (const auto& [name, word] : context.for_train) train.settings.say(Layer::kConfig, name, {word});
  for (const Settings::Entry& entry : said.entries())
    if (entry.is_said() && entry.name() != "size")
      train.settings.say(entry.layer, entry.name(), entry.words);  // a classifier's differs
  train.say_usual();
  return setting_lines(train);
}

/// Returns the text of a stage. "config" begins with the use of each key of --config (checked before, also against
/// train) and the settings of train, each with its layer; then follow the model and its cut.
Outcome stage_outcome(const ModelSpec& spec, const Shape& extents, const Options& o, const std::string& tpu,
                      const Context& context) {
  nlohmann::ordered_json json = {{"stage", o.stage}};
  std::string text;
  if (o.stage == "config" && !context.config.empty()) {
    json["keys"] = to_json(context.config);
    text = with_flags(to_text(context.config)) + "\n";
  }
  if (o.stage == "config") {
    const std::vector<SettingLine> lines = lines_of_train(o.settings, context);
    json["settings"] = to_json(lines);
    text += to_text(lines) + "\n";
  }
  text += run_explain(spec, extents, o.stage, tpu);
  json["text"] = text;
  return {.json = json, .text = text, .next = next_words(context.words, {.name = {"verify"}, .options = {"--stage"}})};
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  add_model_settings(app, *o);
  CLI::Option* stage = app.add_option("--stage", o->stage,
                                      "config (the settings of train, each with the layer that says it; also what "
                                      "becomes of each key of --config), graph, grad, program, memory or passes (what "
                                      "the cut costs on the TPU of --device, else a v3, pass by pass)")
                           ->capture_default_str();
  add_size_settings(
      app, *o,
      "Spatial size, D x H x W (or H x W, and then 128x128 unless given); with {sample} the sample's own, unless given",
      "Samples");
  const std::string drawing = "Drawing";
  CLI::Option* draw =
      app.add_option("--draw", o->draw,
                     "Draw the sample cut into its tiles, with halos, to this PNG instead; of a volume three planes")
          ->type_name(kPathType)
          ->excludes(stage)
          ->group(drawing);
  app.add_option("--sample", o->sample,
                 "The volume or picture that is drawn, scaled to --size if given; default: a phantom")
      ->type_name(kPathType)
      ->needs(draw)
      ->group(drawing);
  add_irregular_option(
      app, o->irregular,
      "Of a sample whose DICOM slices are missing, doubled, unevenly spaced or tilted, or whose axes are sheared: "
      "reject, or resample on an upright regular grid")
      ->needs(draw)
      ->group(drawing);
  app.add_option("--level", o->level,
                 "What is drawn: the number of a level (0: full resolution), a part of the network like encoder1, or a "
                 "layer; default: 0")
      ->needs(draw)
      ->group(drawing);
  return [o](const Context& context) {
    o->settings.came_from_config(context.of_config);
    const bool sized = o->settings.is_said("size");
    ModelSpec spec = model_spec(o->model, o->batch);
    std::optional<DrawnSample> sample;
    if (!o->sample.empty()) {
      const VolumeFormats formats = volume_formats_with(o->irregular);
      sample = read_drawn_sample(o->sample, spec.spatial_axes(), formats);
      const std::string note = spec.spatial_axes() == 3 ? read_volume_info(o->sample, formats).warning : "";
      if (!note.empty()) context.progress->warn("the sample: " + note);
    }
    const bool own_size = sample && !sized;
    if (!sized && spec.spatial_axes() == 2) o->size = "128x128";  // the smallest size that a feature pyramid accepts
    const Shape extents = own_size ? extents_of(*sample, spec, o->batch) : o->extents(spec);
    spec = o->planned(spec, extents, {}, context);
    if (!o->draw.empty())
      return drawn({.spec = spec,
                    .extents = extents,
                    .file = o->draw,
                    .source = o->sample,
                    .sample = std::move(sample),
                    .scaled = !own_size,
                    .level = o->level});
    return stage_outcome(spec, extents, *o, tpu_name(o->plan), context);
  };
}

}  // namespace

Command explain_command() {
  return {"explain",
          "Prints a stage between model and run: the graph, its gradients, the partitioned program, the memory plan.",
          "voxshard explain --stage program --size 48x40x56 --base-filters 8 --partition 1x2x2x2x1", add};
}

}  // namespace voxshard
