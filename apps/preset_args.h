// `train --preset`: who decides what nobody says. auto: the recipe (pipelines/runs/recipe.h), for the data, the batch,
// the steps and the processor; reference: the values of the original, which are also those that help shows.
//
//   add_preset_option(app, args);                  // after the options that a recipe chooses
//   if (chooses(app, args, context)) choices = choose_settings(app, facts);
#pragma once

#include <string>
#include <vector>

#include "apps/command.h"
#include "pipelines/runs/recipe.h"

namespace voxshard {

struct PresetArgs {
  std::string name = "auto";
};

/// Adds --preset, and says in the help of each option that a recipe chooses what is chosen and what the reference has.
void add_preset_option(CLI::App& app, PresetArgs& args);

/// Whether what was not given is chosen: not with --preset reference, nor where a TPUConfig is given, whose settings
/// are the reference's; that is said.
bool chooses(const CLI::App& app, const PresetArgs& args, Progress& progress);

/// Whether the user said the option.
bool is_given(const CLI::App& app, const std::string& option);

/// Says the choices to the options of `app` that were not given, and hands back those.
std::vector<Choice> say(CLI::App& app, const std::vector<Choice>& choices);

}  // namespace voxshard
