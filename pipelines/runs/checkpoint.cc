#include "pipelines/runs/checkpoint.h"

#include <algorithm>

#include "io/files/safetensors.h"
#include "io/files/structured_text.h"
#include "pipelines/runs/report.h"

namespace voxshard {
namespace {

constexpr const char* kModel = "model/";
constexpr const char* kOptimizer = "optimizer/";

/// A step's loss, gradient norm, learning rate and seconds, or null.
bool is_unvalidated(const nlohmann::json& json) {
  return json.is_null() || (json.is_array() && json.size() == 4 &&
                            std::all_of(json.begin(), json.end(), [](const auto& value) { return value.is_number(); }));
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const CheckpointState& state, const Parameters& parameters,
                     const Parameters& optimizer) {
  std::vector<NamedView> tensors;
  for (const auto& [name, tensor] : parameters) tensors.push_back({kModel + name, tensor.view()});
  for (const auto& [name, tensor] : optimizer) tensors.push_back({kOptimizer + name, tensor.view()});
  nlohmann::ordered_json about = {{"format", "voxshard 1"},
                                        {"step", state.step},
                                        {"best_score", state.best_score},
                                        {"model", state.model},
                                        {"prepare", state.prepare},
                                        {"training", state.training},
                                        {"content", state.content},
                                        {"machine", state.machine}};
  if (!state.unvalidated.is_null()) about["unvalidated"] = state.unvalidated;
  save_safetensors(path, tensors, {{"voxshard", about.dump()}});
  auto beside = path;
  write_json(beside.replace_extension(".json"), about);
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
  SafetensorsFile file = load_safetensors(path);
  const auto about = file.metadata.find("voxshard");
  if (about == file.metadata.end())
    throw Error(ErrorKind::kCheckpoint, "[checkpoint] " + path.string() + " was not written by voxshard train");
  Checkpoint checkpoint{.state = {}, .parameters = {}, .optimizer = {}, .has_hashes = file.has_hashes};
  try {
    const auto json = parse_json(about->second, {.path = path.string() + " (description)",
                                                 .kind = ErrorKind::kCheckpoint,
                                                 .tag = "[checkpoint] "});
    checkpoint.state = {.model = json.at("model"),
                        .prepare = json.at("prepare"),
                        .training = json.at("training"),
                        .content = json.value("content", nlohmann::json()),
                        .machine = json.value("machine", nlohmann::json()),
                        .step = json.at("step"),
                        .best_score = json.at("best_score"),
                        .unvalidated = json.value("unvalidated", nlohmann::json())};
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::kCheckpoint, "[checkpoint] " + path.string() + ": its description is broken: " + e.what());
  }
  for (const nlohmann::json* part : {&checkpoint.state.model, &checkpoint.state.prepare, &checkpoint.state.training,
                                     &checkpoint.state.content, &checkpoint.state.machine})
    if (!part->is_object() && !part->is_null())
      throw Error(ErrorKind::kCheckpoint, "[checkpoint] " + path.string() + ": its description is broken: a part is no object");
  if (checkpoint.state.step < 0)
    throw Error(ErrorKind::kCheckpoint, "[checkpoint] " + path.string() + ": its description is broken: step " +
                                            std::to_string(checkpoint.state.step));
  if (!is_unvalidated(checkpoint.state.unvalidated))
    throw Error(ErrorKind::kCheckpoint, "[checkpoint] " + path.string() + ": its description is broken: unvalidated is no row of four numbers");
  for (NamedTensor& t : file.tensors) {
    if (t.name.starts_with(kModel)) checkpoint.parameters.emplace(t.name.substr(std::string(kModel).size()), std::move(t.tensor));
    else if (t.name.starts_with(kOptimizer)) checkpoint.optimizer.emplace(t.name.substr(std::string(kOptimizer).size()), std::move(t.tensor));
  }
  return checkpoint;
}

}  // namespace voxshard
