#include "pipelines/tasks/segmentation/dataset/fingerprint.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "pipelines/tasks/segmentation/labels/byte_labels.h"

namespace voxshard {
namespace {

/// True when the cases hold the samples that nnU-Net's convention draws.
bool are_sampled(const std::vector<CaseFingerprint>& cases) { return !cases.empty() && cases.front().nnunet; }

nlohmann::ordered_json foreground_json(const std::vector<CaseFingerprint>& cases) {
  const Fingerprint pooled = pool_fingerprints(cases);
  nlohmann::ordered_json json = {{"mean", pooled.mean_hu}, {"std", pooled.std_hu}, {"min", pooled.min_hu}};
  if (pooled.has_percentiles) {
    json["percentile_00_5"] = pooled.percentile_00_5_hu;
    json["median"] = pooled.percentile_50_hu;
    json["percentile_99_5"] = pooled.percentile_99_5_hu;
  }
  json["max"] = pooled.max_hu;
  json["rule"] =
      are_sampled(cases)
          ? "100000000 voxels with a label, as many from every case, drawn with replacement as nnU-Net draws "
            "them"
          : "voxels of every class but the background; every case has the same weight";
  return json;
}

}  // namespace

std::int64_t CaseFingerprint::foreground() const {
  return class_voxels.empty() ? 0 : std::accumulate(class_voxels.begin() + 1, class_voxels.end(), std::int64_t{0});
}

CaseFingerprint take_fingerprint(const std::string& id, const Volume& ct, const Volume& label, int classes) {
  CaseFingerprint f{.id = id, .geometry = ct.geometry};
  f.class_voxels.assign(classes, 0);
  f.histogram.assign(CaseFingerprint::kBins, 0);
  f.min_hu = std::numeric_limits<double>::infinity(), f.max_hu = -f.min_hu;
  const auto* hu = ct.voxels.as<float>();
  double sum = 0, square = 0;
  with_labels(label.voxels, [&](const auto* cls) {
    for (std::int64_t i = 0; i < ct.voxels.count(); ++i) {
      if (cls[i] >= classes) continue;  // ignored
      ++f.class_voxels[cls[i]];
      if (cls[i] == 0) continue;
      const double x = hu[i];
      sum += x, square += x * x;
      f.min_hu = std::min(f.min_hu, x), f.max_hu = std::max(f.max_hu, x);
      const double bin = std::floor(x + 0.5) - CaseFingerprint::kLowestHu;
      ++f.histogram[static_cast<std::size_t>(std::clamp(bin, 0.0, CaseFingerprint::kBins - 1.0))];
    }
  });
  const auto n = static_cast<double>(f.foreground());
  if (n > 0) f.mean_hu = sum / n, f.mean_square_hu2 = square / n;
  return f;
}

std::vector<const NnunetCase*> nnunet_cases(const std::vector<CaseFingerprint>& cases) {
  std::vector<const NnunetCase*> list;
  for (const CaseFingerprint& one : cases) list.push_back(&one.nnunet.value());
  return list;
}

namespace {

Fingerprint pool_samples(const std::vector<CaseFingerprint>& cases) {
  Fingerprint pooled{.cases = static_cast<int>(cases.size())};
  for (const NnunetCase* one : nnunet_cases(cases)) pooled.cases_with_foreground += !one->sample.values.empty();
  const IntensityNumbers n = pooled_sample(nnunet_cases(cases));
  pooled.mean_hu = n.mean, pooled.std_hu = n.std, pooled.min_hu = n.min, pooled.max_hu = n.max;
  pooled.percentile_00_5_hu = n.percentile_00_5, pooled.percentile_50_hu = n.median;
  pooled.percentile_99_5_hu = n.percentile_99_5;
  return pooled;
}

}  // namespace

Fingerprint pool_fingerprints(const std::vector<CaseFingerprint>& cases) {
  if (are_sampled(cases)) return pool_samples(cases);
  Fingerprint pooled;
  pooled.cases = static_cast<int>(cases.size());
  std::vector<double> share(CaseFingerprint::kBins, 0);  // of each HU, every case weighs 1
  double mean = 0, square = 0, low = std::numeric_limits<double>::infinity(), high = -low;
  for (const auto& c : cases) {
    const auto n = static_cast<double>(c.foreground());
    if (n == 0) continue;
    ++pooled.cases_with_foreground;
    mean += c.mean_hu, square += c.mean_square_hu2;
    low = std::min(low, c.min_hu), high = std::max(high, c.max_hu);
    pooled.has_percentiles = pooled.has_percentiles && !c.histogram.empty();
    for (std::size_t b = 0; b < c.histogram.size(); ++b) share[b] += static_cast<double>(c.histogram[b]) / n;
  }
  if (pooled.cases_with_foreground == 0) return pooled;
  const double weight = pooled.cases_with_foreground;
  mean /= weight, square /= weight;
  pooled.mean_hu = mean;
  pooled.std_hu = std::max(std::sqrt(std::max(square - mean * mean, 0.0)), 1e-8);
  pooled.min_hu = low, pooled.max_hu = high;
  if (!pooled.has_percentiles) return pooled;
  const auto percentile = [&](double part) {
    double below = 0;
    for (int b = 0; b < CaseFingerprint::kBins; ++b)
      if ((below += share[b]) >= part * weight * (1 - 1e-12))
        return static_cast<double>(b + CaseFingerprint::kLowestHu);
    return high;
  };
  pooled.percentile_00_5_hu = percentile(0.005);
  pooled.percentile_50_hu = percentile(0.5);
  pooled.percentile_99_5_hu = percentile(0.995);
  return pooled;
}

HuMoments clipped_moments(const std::vector<CaseFingerprint>& cases, const Range& clip_hu, bool soft_tissue) {
  double mean = 0, square = 0, weight = 0;
  for (const auto& c : cases) {
    const auto n = static_cast<double>(c.foreground());
    if (n == 0) continue;
    ++weight;
    for (int b = 0; b < CaseFingerprint::kBins; ++b) {
      const double clipped = std::clamp<double>(b + CaseFingerprint::kLowestHu, clip_hu.low, clip_hu.high);
      const double hu = soft_tissue ? soft_tissue_hu(clipped) : clipped;
      const double share = static_cast<double>(c.histogram[b]) / n;
      mean += share * hu, square += share * hu * hu;
    }
  }
  if (weight == 0) return {};
  mean /= weight, square /= weight;
  return {mean, std::max(std::sqrt(std::max(square - mean * mean, 0.0)), 1e-8)};
}

std::array<double, 3> median_by_axis(std::vector<std::array<double, 3>> values) {
  std::array<double, 3> median{1, 1, 1};
  const std::size_t n = values.size();
  for (int a = 0; a < 3 && n > 0; ++a) {
    std::sort(values.begin(), values.end(), [a](const auto& x, const auto& y) { return x[a] < y[a]; });
    median[a] = (values[(n - 1) / 2][a] + values[n / 2][a]) / 2;
  }
  return median;
}

nlohmann::ordered_json to_json(const std::vector<std::vector<CaseFingerprint>>& by_channel, const PreparePlan& plan) {
  const std::vector<CaseFingerprint>& cases = by_channel.front();
  nlohmann::ordered_json json;
  json["cases"] = cases.size();
  if (by_channel.size() == 1)
    json["foreground_hu"] = foreground_json(cases);
  else
    for (std::size_t c = 0; c < by_channel.size(); ++c)
      json["foreground_by_channel"].push_back(
          {{"channel", plan.channels[c]}, {"values", foreground_json(by_channel[c])}});
  if (are_sampled(cases)) json["median_relative_size_after_cropping"] = median_cropped_share(nnunet_cases(cases));
  json["per_case"] = nlohmann::ordered_json::array();
  for (const auto& c : cases) {
    nlohmann::ordered_json voxels;
    for (std::size_t k = 0; k < plan.class_names.size(); ++k) voxels[plan.class_names[k]] = c.class_voxels[k];
    json["per_case"].push_back({{"case", c.id},
                                {"size", c.geometry.size},
                                {"spacing_mm", c.geometry.spacing},
                                {"orientation", orientation_code(c.geometry)},
                                {"voxels", voxels}});
    if (c.nnunet) json["per_case"].back()["size_after_crop"] = c.nnunet->cropped_size;
  }
  return json;
}

nlohmann::ordered_json fingerprint_message(const CaseFingerprint& f) {
  return {{"id", f.id},
          {"nnunet", f.nnunet ? nnunet_message(*f.nnunet) : nlohmann::ordered_json()},
          {"size", f.geometry.size},
          {"origin", f.geometry.origin},
          {"spacing", f.geometry.spacing},
          {"direction", f.geometry.direction},
          {"class_voxels", f.class_voxels},
          {"histogram", f.histogram},
          {"moments", {f.mean_hu, f.mean_square_hu2, f.min_hu, f.max_hu}}};
}

CaseFingerprint fingerprint_of(const nlohmann::ordered_json& message) {
  CaseFingerprint f;
  message.at("id").get_to(f.id);
  if (!message.at("nnunet").is_null()) f.nnunet = nnunet_case_of(message.at("nnunet"));
  message.at("size").get_to(f.geometry.size);
  message.at("origin").get_to(f.geometry.origin);
  message.at("spacing").get_to(f.geometry.spacing);
  message.at("direction").get_to(f.geometry.direction);
  message.at("class_voxels").get_to(f.class_voxels);
  message.at("histogram").get_to(f.histogram);
  const auto& moments = message.at("moments");
  moments.at(0).get_to(f.mean_hu), moments.at(1).get_to(f.mean_square_hu2);
  moments.at(2).get_to(f.min_hu), moments.at(3).get_to(f.max_hu);
  return f;
}

}  // namespace voxshard
