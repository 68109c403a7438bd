#include "apps/preset_args.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/task_args.h"
#include "pipelines/tpu/tpu_config_keys.h"

namespace voxshard {
namespace {

/// The batch of a step has one meaning, whoever names it.
bool is_of_tpu_config(const std::string& key) { return key != "train_batch_size"; }

}  // namespace

void add_preset_option(CLI::App& app, PresetArgs& args) {
  app.add_option("--preset", args.name,
                 "Of what is not given. auto: what is marked so is chosen for data, batch, steps and processor, and "
                 "said; reference: as "
                 "the original, as always with a TPUConfig")
      ->check(one_of({"auto", "reference"}))
      ->capture_default_str()
      ->group("Training");
  for (const std::string& name : recipe_options())
    if (CLI::Option* option = app.get_option_no_throw("--" + name)) {
      const std::string usual = option->get_default_str();  // empty: the help text has one for each model
      option->default_str(usual.empty() ? "auto" : "auto (reference: " + usual + ")");
    }
}

bool is_given(const CLI::App& app, const std::string& option) {
  const CLI::Option* found = app.get_option_no_throw("--" + option);
  return found != nullptr && found->count() > 0;
}

bool chooses(const CLI::App& app, const PresetArgs& args, Progress& progress) {
  if (args.name == "reference") return false;
  if (is_given(app, "preset")) return true;
  const auto& keys = tpu_config_keys();
  const auto key = std::ranges::find_if(
      keys, [&](const std::string& name) { return is_of_tpu_config(name) && is_given(app, name); });
  if (key == keys.end()) return true;
  progress.log("chosen: {preset} reference (" + *key + " is given: a TPUConfig has the settings of the original)");
  return false;
}

std::vector<Choice> say(CLI::App& app, const std::vector<Choice>& choices) {
  std::vector<Choice> said;
  for (const Choice& choice : choices) {
    CLI::Option* option = app.get_option_no_throw("--" + choice.option);
    if (option == nullptr || option->count() > 0) continue;
    option->add_result(choice.value);
    option->run_callback();
    said.push_back(choice);
  }
  return said;
}

}  // namespace voxshard
