#include "pipelines/model_runs/newer_fields.h"

#include <algorithm>

#include "pipelines/model_runs/model_spec.h"

namespace voxshard {

nlohmann::json with_newer_fields(nlohmann::json model, const ModelTable& models) {
  if (!model.is_object() || !model.contains("model")) return model;
  const auto at = std::ranges::find_if(models, [&](const auto& one) { return model.at("model") == one->name; });
  if (at == models.end()) return model;
  const nlohmann::json usual = to_json(usual_spec(*at));
  for (const ConfigField& row : (*at)->fields)
    if (row.newer && !model.contains(row.name)) model[row.name] = usual.at(row.name);
  return model;
}

}  // namespace voxshard
