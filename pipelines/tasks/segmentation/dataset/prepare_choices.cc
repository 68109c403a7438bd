#include "pipelines/tasks/segmentation/dataset/prepare_choices.h"

#include <sstream>

#include "io/files/file_name.h"
#include "io/volume/resample.h"
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"

namespace voxshard {
namespace {

std::array<double, 3> oriented_spacing(const Geometry& geometry, const std::string& orientation) {
  PreparePlan plan;
  plan.orientation = orientation;
  return prepared_geometry(geometry, plan).spacing;
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
  plan.orientation = options.orientation;
  if (options.orientation != "keep")
    reorient({Geometry{.size = {1, 1, 1}}, Tensor(DType::kI32, {1, 1, 1})}, options.orientation);
  plan.clip_hu = options.clip_hu;
  if (plan.clip_hu && !(plan.clip_hu->low < plan.clip_hu->high))
    throw Error(ErrorKind::kUsage, "[prepare] {clip} needs LOW,HIGH with LOW below HIGH");
  if (options.spacing != "keep" && options.spacing != "median") {
    const auto mm = parse_numbers(options.spacing, 3, "{spacing}");
    for (double s : mm)
      if (!(s >= kLeastSpacingMm && s <= kMostSpacingMm))
        throw Error(ErrorKind::kUsage,
                    "[prepare] {spacing} must be positive, from 0.001 to 10000 mm; got " + options.spacing);
    plan.spacing_mm = {mm[0], mm[1], mm[2]};
  }
  return plan;
}

Normalise choose_normalise(const PrepareOptions& options, const Dataset& dataset, Progress& progress) {
  const std::string& channel = dataset.channels.front();
  if (!options.normalise) {
    const Normalise chosen = normalise_of_channel(channel);
    if (chosen != Normalise::kCt)
      progress.log("channel \"" + shown_name(channel) + "\" is no CT: normalised by " + normalise_name(chosen));
    return chosen;
  }
  if (*options.normalise == Normalise::kCt && !is_ct_channel(channel))
    progress.log("channel \"" + shown_name(channel) +
                 "\" is no CT, but is normalised as one because {normalise} ct says so");
  return *options.normalise;
}

void complete_plan(PreparePlan& plan, const PrepareOptions& options, const std::vector<CaseFingerprint>& cases) {
  if (options.spacing == "median") {
    std::vector<std::array<double, 3>> spacings;
    for (const auto& c : cases) spacings.push_back(oriented_spacing(c.geometry, plan.orientation));
    plan.spacing_mm = median_spacing(spacings);
  }
  const Fingerprint pooled = pool_fingerprints(cases);
  if (plan.normalise == Normalise::kCt) {
    if (pooled.cases_with_foreground == 0)
      throw Error(ErrorKind::kNoCase, "[prepare] no case has a foreground voxel, so `{normalise} ct` has no numbers; " +
                                          std::string("use window, zscore or none"));
    if (plan.clip_hu) {  // the user's window: mean and std of the foreground clipped to it
      const HuMoments clipped = clipped_moments(cases, *plan.clip_hu);
      plan.mean_hu = clipped.mean_hu, plan.std_hu = clipped.std_hu;
    } else {  // nnU-Net's rule: percentiles, with mean and std of the unclipped foreground
      plan.clip_hu = Range{pooled.percentile_00_5_hu, pooled.percentile_99_5_hu};
      plan.mean_hu = pooled.mean_hu, plan.std_hu = pooled.std_hu;
    }
  } else if (plan.normalise == Normalise::kWindow) {
    if (!plan.clip_hu) plan.clip_hu = Range{-160, 240};
    plan.mean_hu = (plan.clip_hu->low + plan.clip_hu->high) / 2,
    plan.std_hu = (plan.clip_hu->high - plan.clip_hu->low) / 2;
  }
}

}  // namespace voxshard
