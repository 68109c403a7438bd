#include "pipelines/tasks/segmentation/dataset/prepare_choices.h"

#include <algorithm>
#include <sstream>

#include "io/files/channel_address.h"
#include "io/files/file_name.h"
#include "io/resampling/resample.h"
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"

namespace voxshard {
namespace {

std::array<double, 3> oriented_spacing(const Geometry& geometry, const std::string& orientation) {
  PreparePlan plan;
  plan.orientation = orientation;
  return prepared_geometry(geometry, plan).spacing;
}

/// Throws for options that would change nnU-Net's numbers under its name. Errors: kUsage.
void require_of_nnunet(const PrepareOptions& options) {
  if (options.convention != Convention::kNnunet) return;
  if (options.clip_hu)
    throw Error(ErrorKind::kUsage,
                "[prepare] {convention} nnunet clips at its own percentiles; leave {clip} out, or take {convention} "
                "voxshard");
  if (options.normalise == Normalise::kWindow || options.normalise == Normalise::kSoftTissue)
    throw Error(ErrorKind::kUsage, std::string("[prepare] nnU-Net has no {normalise} ") +
                                       normalise_name(*options.normalise) +
                                       "; take ct, zscore or none, or {convention} voxshard");
}

bool is_of_hu(Normalise normalise) { return is_by_foreground(normalise) || normalise == Normalise::kWindow; }

/// Returns the percentiles of the foreground to clip to. Errors: kConfig where these are no range of Hounsfield units.
Range clip_of_foreground(const Fingerprint& pooled, Normalise normalise, bool sampled) {
  const Range clip = {pooled.percentile_00_5_hu, pooled.percentile_99_5_hu};
  constexpr double kLowest = CaseFingerprint::kLowestHu, kHighest = kLowest + CaseFingerprint::kBins - 1;
  const bool beyond = !sampled && ((clip.high >= kHighest && pooled.max_hu > kHighest + 1) ||
                                   (clip.low <= kLowest && pooled.min_hu < kLowest - 1));
  if (clip.low < clip.high && !beyond) return clip;
  const std::string range = fixed_text(pooled.min_hu, 3) + " to " + fixed_text(pooled.max_hu, 3),
                    name = std::string("`{normalise} ") + normalise_name(normalise) + "`";
  throw Error(ErrorKind::kConfig,
              "[prepare] the values of all classes are " + range +
                  (beyond ? ", many of them beyond what Hounsfield units can be (" + fixed_text(kLowest, 0) + " to " +
                                fixed_text(kHighest, 0) + "), which " + name + " would cut off"
                          : ", for " + name + " all alike within one Hounsfield unit") +
                  "; take {normalise} zscore where they are no Hounsfield units, or give {clip} LOW,HIGH");
}

}  // namespace

std::vector<double> parse_numbers(const std::string& text, std::size_t count, const std::string& option) {
  std::vector<double> values;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    std::size_t used = 0;
    try {
      values.push_back(std::stod(part, &used));
    } catch (const std::exception&) {
      used = std::string::npos;
    }
    if (used != part.size()) values.clear(), in.setstate(std::ios::failbit);
  }
  if (values.size() != count)
    throw Error(ErrorKind::kUsage, "[usage] " + option + " is \"" + text + "\"; expected " + std::to_string(count) +
                                       " numbers with commas between them");
  return values;
}

PreparePlan plan_from_options(const PrepareOptions& options) {
  PreparePlan plan;
  plan.convention = options.convention;
  plan.resamples_channels = options.resamples_channels;
  require_of_nnunet(options);
  plan.orientation = options.orientation;
  if (options.orientation != "keep")
    reorient({Geometry{.size = {1, 1, 1}}, Tensor(DType::kI32, {1, 1, 1})}, options.orientation);
  plan.clip_hu = options.clip_hu;
  if (plan.clip_hu && !(plan.clip_hu->low < plan.clip_hu->high))
    throw Error(ErrorKind::kUsage, "[prepare] {clip} needs LOW,HIGH with LOW below HIGH");
  if (options.spacing != "keep" && !options.chooses_spacing()) {
    const auto mm = parse_numbers(options.spacing, 3, "{spacing}");
    for (double s : mm)
      if (!(s >= kLeastSpacingMm && s <= kMostSpacingMm))
        throw Error(ErrorKind::kUsage,
                    "[prepare] {spacing} must be positive, from 0.001 to 10000 mm; got " + options.spacing);
    plan.spacing_mm = {mm[0], mm[1], mm[2]};
  }
  return plan;
}

Normalise usual_normalise(const PrepareOptions& options, const std::string& channel) {
  // Of CT without nnU-Net's numbers, and without a window that somebody chose, soft tissue is what most classes are of.
  const Normalise by_name = normalise_of_channel(channel);
  const bool chooses = options.convention == Convention::kVoxshard && !options.clip_hu;
  return by_name == Normalise::kCt && chooses ? Normalise::kSoftTissue : by_name;
}

Normalise choose_normalise(const PrepareOptions& options, const Dataset& dataset, std::size_t index,
                           Progress& progress) {
  const std::string& channel = dataset.channels.at(index);
  const bool passed_over =
      dataset.channels.size() > 1 && options.normalise && is_of_hu(*options.normalise) && !is_ct_channel(channel);
  if (!options.normalise || passed_over) {
    const Normalise chosen = usual_normalise(options, channel);
    if (!is_by_foreground(chosen))
      progress.log("channel \"" + shown_name(channel) + "\" is no CT: normalised by " + normalise_name(chosen));
    return chosen;
  }
  if (is_by_foreground(*options.normalise) && !is_ct_channel(channel))
    progress.log("channel \"" + shown_name(channel) + "\" is no CT, but is normalised as one because {normalise} " +
                 normalise_name(*options.normalise) + " says so");
  return *options.normalise;
}

void choose_channels(PreparePlan& plan, const PrepareOptions& options, const Dataset& dataset, Progress& progress) {
  plan.channels = dataset.channels;
  plan.further.resize(dataset.channels.size() - 1);
  const bool several = dataset.channels.size() > 1;
  const bool in_hu = options.clip_hu || (options.normalise && is_of_hu(*options.normalise));
  if (several && in_hu && std::ranges::none_of(dataset.channels, is_ct_channel))
    throw Error(ErrorKind::kUsage,
                "[prepare] {clip} and the normalisations ct, soft_tissue and window are in HU, and none of the " +
                    std::to_string(dataset.channels.size()) + " channels is called CT; leave them out");
  if (several && !dataset.training.empty() && channel_in(dataset.training.front().images.front()))
    progress.log("the 4th axis of the images holds the " + std::to_string(dataset.channels.size()) + " channels " +
                 channels_text(dataset.channels) + ", as dataset.json says");
  for (std::size_t c = 0; c < dataset.channels.size(); ++c) {
    const bool clips = !several || is_ct_channel(dataset.channels[c]);
    plan.set_channel(c, {.clip_hu = clips ? options.clip_hu : std::nullopt,
                         .normalise = choose_normalise(options, dataset, c, progress)});
  }
}

void complete_channels(PreparePlan& plan, const PrepareOptions& options,
                       const std::vector<std::vector<CaseFingerprint>>& by_channel) {
  bool any_in_nonzero = false;
  for (std::size_t c = 0; c < by_channel.size(); ++c) {
    PreparePlan one = plan.of_channel(c);
    complete_plan(one, options, by_channel[c]);
    plan.spacing_mm = one.spacing_mm, plan.kept = one.kept, any_in_nonzero |= one.zscore_in_nonzero;
    plan.set_channel(
        c, {.clip_hu = one.clip_hu, .normalise = one.normalise, .mean_hu = one.mean_hu, .std_hu = one.std_hu});
  }
  plan.zscore_in_nonzero = any_in_nonzero;
}

namespace {

/// Returns the median of the oriented volumes, or with nnU-Net's convention its target spacing, for which volumes count
/// whole.
std::array<double, 3> spacing_of_geometries(const PreparePlan& plan, const std::vector<Geometry>& geometries) {
  if (plan.convention == Convention::kNnunet) {
    std::vector<NnunetCase> cases;
    for (const Geometry& one : geometries) cases.push_back({.cropped_size = one.size, .spacing_mm = one.spacing});
    std::vector<const NnunetCase*> all;
    for (const NnunetCase& one : cases) all.push_back(&one);
    return nnunet_target_spacing(all);
  }
  std::vector<std::array<double, 3>> spacings;
  for (const Geometry& one : geometries) spacings.push_back(oriented_spacing(one, plan.orientation));
  return median_by_axis(spacings);
}

}  // namespace

void choose_spacing(PreparePlan& plan, const PrepareOptions& options, const std::vector<Geometry>& geometries) {
  plan.spacing_mm = spacing_of_geometries(plan, geometries);
  if (options.spacing == "auto" && plan.convention == Convention::kVoxshard) plan.kept = kept_around(*plan.spacing_mm);
}

void complete_plan(PreparePlan& plan, const PrepareOptions& options, const std::vector<CaseFingerprint>& cases) {
  if (options.convention == Convention::kNnunet) {
    const auto sampled = nnunet_cases(cases);
    if (options.chooses_spacing()) plan.spacing_mm = nnunet_target_spacing(sampled);
    plan.zscore_in_nonzero =
        plan.normalise == Normalise::kZscore && median_cropped_share(sampled) < kLeastShareOfWholeZscore;
  } else if (options.chooses_spacing()) {
    std::vector<Geometry> geometries;
    for (const auto& c : cases) geometries.push_back(c.geometry);
    choose_spacing(plan, options, geometries);
  }
  const Fingerprint pooled = pool_fingerprints(cases);
  if (is_by_foreground(plan.normalise)) {
    const bool soft_tissue = plan.normalise == Normalise::kSoftTissue;
    if (pooled.cases_with_foreground == 0)
      throw Error(ErrorKind::kNoCase, std::string("[prepare] no case has a foreground voxel, so `{normalise} ") +
                                          normalise_name(plan.normalise) +
                                          "` has no numbers; use window, zscore or none");
    const bool is_given = plan.clip_hu.has_value();
    if (!is_given) plan.clip_hu = clip_of_foreground(pooled, plan.normalise, options.convention == Convention::kNnunet);
    if (is_given || soft_tissue) {  // mean and std of the foreground clipped to it
      const HuMoments clipped = clipped_moments(cases, *plan.clip_hu, soft_tissue);
      plan.mean_hu = clipped.mean_hu, plan.std_hu = clipped.std_hu;
    } else {  // nnU-Net's rule: percentiles, with mean and std of the unclipped foreground
      plan.mean_hu = pooled.mean_hu, plan.std_hu = pooled.std_hu;
    }
  } else if (plan.normalise == Normalise::kWindow) {
    if (!plan.clip_hu) plan.clip_hu = Range{-160, 240};
    plan.mean_hu = (plan.clip_hu->low + plan.clip_hu->high) / 2,
    plan.std_hu = (plan.clip_hu->high - plan.clip_hu->low) / 2;
  }
}

}  // namespace voxshard
