#include "pipelines/model_runs/checkpoint.h"

#include <algorithm>
#include <cmath>

#include "io/files/safetensors.h"
#include "io/files/structured_text.h"
#include "libcore/base/file_format.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {
namespace {

constexpr const char* kModel = "model/";
constexpr const char* kOptimizer = "optimizer/";
constexpr const char* kAverage = "average/";

/// Returns true for a step's loss, gradient norm, learning rate and seconds, or null.
bool is_unvalidated(const nlohmann::json& json) {
  return json.is_null() || (json.is_array() && json.size() == 4 &&
                            std::all_of(json.begin(), json.end(), [](const auto& value) { return value.is_number(); }));
}

/// Returns the name of the first tensor that holds a NaN or an infinity; null when none does.
const std::string* first_not_finite(const Parameters& tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (tensor.dtype() != DType::kF32) continue;  // no other type is saved
    const auto* values = tensor.as<const float>();
    if (!std::all_of(values, values + tensor.count(), [](float value) { return std::isfinite(value); })) return &name;
  }
  return nullptr;
}

void require_finite(const std::filesystem::path& path, std::initializer_list<const Parameters*> parts,
                    const std::string& what) {
  const std::string* name = nullptr;
  for (const Parameters* part : parts)
    if (name == nullptr) name = first_not_finite(*part);
  if (name != nullptr)
    throw Error(ErrorKind::kDiverged, "[checkpoint] " + path.string() + ": " + *name + " is not finite; " + what);
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const CheckpointState& state, const Parameters& parameters,
                     const Parameters& optimizer, const Parameters& averages) {
  require_finite(path, {&parameters, &optimizer, &averages},
                 "the file is left as it was; lower the learning rate, or clip the gradient");
  std::vector<NamedView> tensors;
  for (const auto& [prefix, part] : {std::pair{kModel, &parameters}, {kOptimizer, &optimizer}, {kAverage, &averages}})
    for (const auto& [name, tensor] : *part) tensors.push_back({prefix + name, tensor.view()});
  nlohmann::ordered_json about = {
      {"format", kFileFormat},    {"step", state.step},       {"best_score", state.best_score},
      {"model", state.model},     {"prepare", state.prepare}, {"training", state.training},
      {"content", state.content}, {"machine", state.machine}, {"trained_on", state.trained_on}};
  if (!state.changes.is_null()) about["changes"] = state.changes;
  if (!state.from.is_null()) about["from"] = state.from;
  if (!state.weights.empty()) about["weights"] = state.weights;
  if (!state.unvalidated.is_null()) about["unvalidated"] = state.unvalidated;
  save_safetensors(path, tensors, {{"voxshard", about.dump()}});
  auto beside = path;
  write_json(beside.replace_extension(".json"), about);
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
  SafetensorsFile file = load_safetensors(path);
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::kCheckpoint, "[checkpoint] " + path.string() + what);
  };
  const auto about = file.metadata.find("voxshard");
  if (about == file.metadata.end()) refuse(" was not written by voxshard train");
  Checkpoint checkpoint;
  try {
    const auto json =
        parse_json(about->second,
                   {.path = path.string() + " (description)", .kind = ErrorKind::kCheckpoint, .tag = "[checkpoint] "});
    if (const std::string problem = format_problem(json.value("format", "")); !problem.empty())
      refuse(" " + problem + "; train again");
    checkpoint.state = {.model = json.at("model"),
                        .prepare = json.at("prepare"),
                        .training = json.at("training"),
                        .content = json.at("content"),
                        .trained_on = json.at("trained_on"),
                        .changes = json.value("changes", nlohmann::json()),
                        .from = json.value("from", nlohmann::json()),
                        .machine = json.at("machine"),
                        .step = json.at("step"),
                        .best_score = json.at("best_score"),
                        .weights = json.value("weights", ""),
                        .unvalidated = json.value("unvalidated", nlohmann::json())};
  } catch (const nlohmann::json::exception& e) {
    refuse(std::string(": its description is broken: ") + e.what());
  }
  if (!file.has_hashes)
    refuse(
        " has no hashes of its tensors: damage, or numbers of another model, would not be seen; use another "
        "checkpoint");
  for (const nlohmann::json* part :
       {&checkpoint.state.model, &checkpoint.state.prepare, &checkpoint.state.training, &checkpoint.state.content,
        &checkpoint.state.trained_on, &checkpoint.state.machine})
    if (!part->is_object()) refuse(": its description is broken: a part is no object");
  if (const std::string& weights = checkpoint.state.weights;
      !weights.empty() && weights != kLastWeights && weights != kAveragedWeights)
    refuse(": its description is broken: its weights are neither the last nor averaged ones");
  if (checkpoint.state.step < 0) refuse(": its description is broken: step " + std::to_string(checkpoint.state.step));
  if (!checkpoint.state.from.is_object() && !checkpoint.state.from.is_null())
    refuse(": its description is broken: what it began with is no object");
  if (!checkpoint.state.changes.is_array() && !checkpoint.state.changes.is_null())
    refuse(": its description is broken: changes are no list");
  if (!is_unvalidated(checkpoint.state.unvalidated))
    refuse(": its description is broken: unvalidated is no row of four numbers");
  for (NamedTensor& t : file.tensors)
    for (const auto& [prefix, part] : {std::pair{kModel, &checkpoint.parameters},
                                       {kOptimizer, &checkpoint.optimizer},
                                       {kAverage, &checkpoint.averages}})
      if (t.name.starts_with(prefix)) {
        part->emplace(t.name.substr(std::string_view(prefix).size()), std::move(t.tensor));
        break;
      }
  require_finite(path, {&checkpoint.parameters, &checkpoint.optimizer, &checkpoint.averages},
                 "its run has diverged; use an earlier one, or train anew");
  return checkpoint;
}

}  // namespace voxshard
