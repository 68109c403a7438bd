#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

struct NamedNormalise {
  Normalise value;
  const char* name;
};
constexpr NamedNormalise kNames[] = {{Normalise::kCt, "ct"},
                                     {Normalise::kZscore, "zscore"},
                                     {Normalise::kWindow, "window"},
                                     {Normalise::kNone, "none"},
                                     {Normalise::kSoftTissue, "soft_tissue"}};

constexpr const char* kConventions[] = {"voxshard", "nnunet"};

Convention convention_from_name(const std::string& name) {
  const std::vector<std::string> names = convention_names();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end())
    throw Error(ErrorKind::kConfig, "[plan] the convention is not known to this version; expected voxshard or nnunet");
  return static_cast<Convention>(at - names.begin());
}

nlohmann::ordered_json clip_json(const std::optional<Range>& clip) {
  return clip ? nlohmann::ordered_json({clip->low, clip->high}) : nlohmann::ordered_json(nullptr);
}

std::optional<Range> clip_of(const nlohmann::json& json) {
  if (json.is_null()) return std::nullopt;
  const auto clip = json.get<std::array<double, 2>>();
  return Range{clip[0], clip[1]};
}

void require_usable(const Intensities& one) {
  if (!(one.std_hu > 0) || !std::isfinite(one.mean_hu))
    throw Error(ErrorKind::kConfig, "[plan] std_hu must be positive and mean_hu finite");
}

/// Reads the part of a channel, whose keys are those of a plan of one channel. Errors: json::exception, kConfig.
Intensities intensities_of(const nlohmann::json& json) {
  Intensities one{.clip_hu = clip_of(json.at("clip_hu")),
                  .normalise = normalise_from_name(json.at("normalise").get<std::string>()),
                  .mean_hu = json.at("mean_hu").get<double>(),
                  .std_hu = json.at("std_hu").get<double>()};
  require_usable(one);
  return one;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

}  // namespace

std::vector<std::string> convention_names() { return {std::begin(kConventions), std::end(kConventions)}; }

const char* normalise_name(Normalise normalise) {
  for (const auto& n : kNames)
    if (n.value == normalise) return n.name;
  return "?";
}

Normalise normalise_from_name(std::string_view name) {
  for (const auto& n : kNames)
    if (n.name == name) return n.value;
  throw Error(ErrorKind::kConfig, "[prepare] normalisation is \"" + std::string(name) +
                                      "\"; expected ct, soft_tissue, zscore, window or none");
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

PreparePlan PreparePlan::of_channel(std::size_t channel) const {
  PreparePlan one = *this;
  one.channels = {channels.at(channel)};
  one.further.clear();
  if (channel > 0) one.set_channel(0, further.at(channel - 1));
  one.zscore_in_nonzero = zscore_in_nonzero && one.normalise == Normalise::kZscore;
  return one;
}

void PreparePlan::set_channel(std::size_t channel, const Intensities& one) {
  if (channel > 0) {
    further.at(channel - 1) = one;
    return;
  }
  clip_hu = one.clip_hu, normalise = one.normalise, mean_hu = one.mean_hu, std_hu = one.std_hu;
}

bool KeptSpacings::holds(const std::array<double, 3>& spacing_mm) const {
  for (std::size_t a = 0; a < 3; ++a)
    if (spacing_mm[a] < low_mm[a] || spacing_mm[a] > high_mm[a]) return false;
  return true;
}

KeptSpacings kept_around(const std::array<double, 3>& spacing_mm) {
  constexpr double kFactor = 1.4;
  KeptSpacings kept;
  for (std::size_t a = 0; a < 3; ++a)
    kept.low_mm[a] = spacing_mm[a] / kFactor, kept.high_mm[a] = spacing_mm[a] * kFactor;
  return kept;
}

std::string to_text(const PreparePlan& plan) {
  std::string text = "orientation " + plan.orientation + ", spacing " +
                     (plan.spacing_mm ? joined_text(plan.spacing_mm->data(), 3, 4) + " mm" : std::string("as it is"));
  if (plan.kept)
    text += " (kept from " + joined_text(plan.kept->low_mm.data(), 3, 4) + " to " +
            joined_text(plan.kept->high_mm.data(), 3, 4) + " mm)";
  for (std::size_t c = 0; c < plan.channels.size(); ++c) {
    const PreparePlan p = plan.of_channel(c);
    text += (plan.channels.size() > 1 ? "; " + shown_name(plan.channels[c]) : "") +
            (p.clip_hu ? ", HU " + fixed_text(p.clip_hu->low, 0) + " to " + fixed_text(p.clip_hu->high, 0) : "") +
            ", normalised by " + normalise_name(p.normalise) +
            (p.zscore_in_nonzero ? " within the nonzero voxels" : "") +
            (p.convention == Convention::kNnunet ? ", by nnU-Net's numbers" : "");
    if (is_by_foreground(p.normalise))
      text += " (mean " + fixed_text(p.mean_hu, 1) + ", std " + fixed_text(p.std_hu, 1) + " HU)";
  }
  if (plan.resamples_channels) text += "; channels on other grids are resampled on the first one's";
  return text;
}

nlohmann::ordered_json to_json(const PreparePlan& plan) {
  nlohmann::ordered_json json;
  json["orientation"] = plan.orientation;
  json["spacing_mm"] = plan.spacing_mm ? nlohmann::ordered_json(*plan.spacing_mm) : nlohmann::ordered_json("keep");
  if (plan.kept) json["kept_spacings_mm"] = {plan.kept->low_mm, plan.kept->high_mm};
  json["clip_hu"] = clip_json(plan.clip_hu);
  json["normalise"] = normalise_name(plan.normalise);
  json["mean_hu"] = plan.mean_hu;
  json["std_hu"] = plan.std_hu;
  json["channels"] = plan.channels;
  for (const Intensities& one : plan.further)
    json["further_channels"].push_back({{"clip_hu", clip_json(one.clip_hu)},
                                        {"normalise", normalise_name(one.normalise)},
                                        {"mean_hu", one.mean_hu},
                                        {"std_hu", one.std_hu}});
  json["class_names"] = plan.class_names;
  if (plan.ignore_label) json["ignore_label"] = *plan.ignore_label;
  if (plan.resamples_channels) json["channel_grids"] = "resample";
  if (plan.convention != Convention::kVoxshard) {
    json["convention"] = kConventions[static_cast<std::size_t>(plan.convention)];
    json["zscore_in_nonzero"] = plan.zscore_in_nonzero;
  }
  return json;
}

PreparePlan plan_from_json(const nlohmann::json& json) {
  try {
    PreparePlan plan;
    plan.orientation = json.at("orientation").get<std::string>();
    if (!json.at("spacing_mm").is_string()) plan.spacing_mm = json.at("spacing_mm").get<std::array<double, 3>>();
    if (json.contains("kept_spacings_mm")) {
      const auto kept = json.at("kept_spacings_mm").get<std::array<std::array<double, 3>, 2>>();
      plan.kept = KeptSpacings{.low_mm = kept[0], .high_mm = kept[1]};
    }
    plan.channels = json.at("channels").get<std::vector<std::string>>();
    if (json.contains("further_channels"))
      for (const auto& one : json.at("further_channels")) plan.further.push_back(intensities_of(one));
    if (plan.channels.empty() || plan.further.size() + 1 != plan.channels.size())
      throw Error(ErrorKind::kConfig, "[plan] further_channels must describe every channel behind the first");
    plan.set_channel(0, intensities_of(json));
    plan.class_names = json.at("class_names").get<std::vector<std::string>>();
    if (json.contains("convention")) {
      plan.convention = convention_from_name(json.at("convention").get<std::string>());
      plan.zscore_in_nonzero = json.at("zscore_in_nonzero").get<bool>();
    }
    plan.resamples_channels = json.contains("channel_grids") && json.at("channel_grids") == "resample";
    if (json.contains("ignore_label")) plan.ignore_label = json.at("ignore_label").get<int>();
    if (plan.ignore_label && *plan.ignore_label != plan.classes())
      throw Error(ErrorKind::kConfig, "[plan] ignore_label must be the number behind the classes");
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

std::string channels_text(const std::vector<std::string>& channels) {
  return joined(channels, ", ", [](const std::string& channel) { return shown_name(channel); });
}

std::string plan_hash(const PreparePlan& plan) { return content_hash(to_json(plan).dump()); }

}  // namespace voxshard
