#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "io/files/content_hash.h"
#include "libcore/base/error.h"

namespace voxshard {
namespace {

struct NamedNormalise {
  Normalise value;
  const char* name;
};
constexpr NamedNormalise kNames[] = {
    {Normalise::kCt, "ct"}, {Normalise::kZscore, "zscore"}, {Normalise::kWindow, "window"}, {Normalise::kNone, "none"}};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

}  // namespace

const char* normalise_name(Normalise normalise) {
  for (const auto& n : kNames)
    if (n.value == normalise) return n.name;
  return "?";
}

Normalise normalise_from_name(std::string_view name) {
  for (const auto& n : kNames)
    if (n.name == name) return n.value;
  throw Error(ErrorKind::kConfig,
              "[prepare] normalisation is \"" + std::string(name) + "\"; expected ct, zscore, window or none");
}

bool is_ct_channel(std::string_view channel) { return lower(channel) == "ct"; }

Normalise normalise_of_channel(std::string_view channel) {
  if (is_ct_channel(channel)) return Normalise::kCt;
  const std::string name = lower(channel);
  if (name == "nonorm") return Normalise::kNone;
  if (name == "rescale_to_0_1" || name == "rescale_0_1" || name == "rgb_to_0_1")
    throw Error(ErrorKind::kConfig,
                "[prepare] the channel \"" + std::string(channel) +
                    "\" asks for values from 0 to 1, which is not supported; choose with {normalise} "
                    "zscore, window or none");
  return Normalise::kZscore;
}

nlohmann::ordered_json to_json(const PreparePlan& plan) {
  nlohmann::ordered_json json;
  json["orientation"] = plan.orientation;
  json["spacing_mm"] = plan.spacing_mm ? nlohmann::ordered_json(*plan.spacing_mm) : nlohmann::ordered_json("keep");
  json["clip_hu"] =
      plan.clip_hu ? nlohmann::ordered_json({plan.clip_hu->low, plan.clip_hu->high}) : nlohmann::ordered_json(nullptr);
  json["normalise"] = normalise_name(plan.normalise);
  json["mean_hu"] = plan.mean_hu;
  json["std_hu"] = plan.std_hu;
  json["channels"] = plan.channels;
  json["class_names"] = plan.class_names;
  if (plan.ignore_label) json["ignore_label"] = *plan.ignore_label;
  return json;
}

PreparePlan plan_from_json(const nlohmann::json& json) {
  try {
    PreparePlan plan;
    plan.orientation = json.at("orientation").get<std::string>();
    if (!json.at("spacing_mm").is_string()) plan.spacing_mm = json.at("spacing_mm").get<std::array<double, 3>>();
    if (!json.at("clip_hu").is_null()) {
      const auto clip = json.at("clip_hu").get<std::array<double, 2>>();
      plan.clip_hu = Range{clip[0], clip[1]};
    }
    plan.normalise = normalise_from_name(json.at("normalise").get<std::string>());
    plan.mean_hu = json.at("mean_hu").get<double>();
    plan.std_hu = json.at("std_hu").get<double>();
    plan.channels = json.at("channels").get<std::vector<std::string>>();
    plan.class_names = json.at("class_names").get<std::vector<std::string>>();
    if (json.contains("ignore_label")) plan.ignore_label = json.at("ignore_label").get<int>();
    if (plan.ignore_label && *plan.ignore_label != plan.classes())
      throw Error(ErrorKind::kConfig, "[plan] ignore_label must be the number behind the classes");
    if (!(plan.std_hu > 0) || !std::isfinite(plan.mean_hu))
      throw Error(ErrorKind::kConfig, "[plan] std_hu must be positive and mean_hu finite");
    if (plan.spacing_mm)
      for (double s : *plan.spacing_mm)
        if (!(s >= kLeastSpacingMm && s <= kMostSpacingMm))
          throw Error(ErrorKind::kConfig, "[plan] spacing_mm must be positive, from 0.001 to 10000 mm");
    return plan;
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::kConfig, std::string("[plan] not a preparation plan: ") + e.what());
  }
}

PreparePlan read_plan(const std::filesystem::path& path) {
  const nlohmann::json json = read_json(path);
  try {
    if (!json.is_object() || !json.contains("prepare"))
      throw Error(ErrorKind::kConfig, "[plan] the key \"prepare\" is missing; `voxshard prepare` writes this file");
    return plan_from_json(json.at("prepare"));
  } catch (Error& e) {
    e.add_context("reading " + path.string());
    throw;
  }
}

std::string plan_hash(const PreparePlan& plan) { return content_hash(to_json(plan).dump()); }

}  // namespace voxshard
