#include "apps/model_command.h"

#include "apps/setting_args.h"
#include "libcore/ranks/transport.h"

namespace voxshard {

Shape ModelCommand::extents(const ModelSpec& spec) const {
  const bool own = spec.model->size != nullptr && !settings.is_said("size");
  return extents_from_text(own ? to_string(spec.model->size(spec.config)) : size, spec.spatial_axes(), batch);
}

ModelSpec ModelCommand::planned(const ModelSpec& spec, const Shape& extents, const OptimizerOptions& optimizer,
                                const Context& context) const {
  return planned_spec(plan, model, spec, extents, optimizer, planning(context));
}

Planning planning(const Context& context) {
  return {.threads = context.threads, .ranks = context.transport->ranks(), .progress = context.progress};
}

void add_model_settings(CLI::App& app, ModelCommand& command) {
  command.settings.add(model_rows(command.model, false));
  command.settings.add(plan_rows(command.plan, command.model));
  add_settings(app, command.settings);
}

void add_size_settings(CLI::App& app, ModelCommand& command, const std::string& size_help,
                       const std::string& batch_help) {
  command.settings.add({.name = "size", .help = size_help, .value = &command.size});
  command.settings.add({.name = "batch",
                        .help = batch_help,
                        .value = &command.batch,
                        .other_names = {"train_batch_size", "train-batch-size"}});
  add_settings(app, command.settings);
}

}  // namespace voxshard
