// The common part of commands that cut a model: settings of the model and of its plan, a size and a batch.
//
//   add_model_settings(app, o->command);
//   add_size_settings(app, o->command, "Spatial size, D x H x W (or H x W)", "Samples");
//   ModelSpec spec = model_spec(o->command.model, o->command.batch);
#pragma once

#include <string>

#include "apps/command.h"
#include "pipelines/planning/plan_settings.h"
#include "pipelines/settings/settings.h"

namespace voxshard {

struct ModelCommand {
  explicit ModelCommand(std::string usual_size) : size(std::move(usual_size)) {}

  ModelSettings model;
  PlanSettings plan;
  std::string size;
  std::int64_t batch = 1;
  Settings settings;

  /// Returns the batch and the size; without a given size, the model's only one if it has just one. Errors: as
  /// extents_from_text.
  Shape extents(const ModelSpec& spec) const;
  /// Returns `spec`, with its cut planned if that was requested.
  ModelSpec planned(const ModelSpec& spec, const Shape& extents, const OptimizerOptions& optimizer,
                    const Context& context) const;
};

Planning planning(const Context& context);

void add_model_settings(CLI::App& app, ModelCommand& command);
void add_size_settings(CLI::App& app, ModelCommand& command, const std::string& size_help,
                       const std::string& batch_help);

}  // namespace voxshard
