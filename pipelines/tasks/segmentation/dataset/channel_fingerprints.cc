#include "pipelines/tasks/segmentation/dataset/channel_fingerprints.h"

#include <nlohmann/json.hpp>

#include "io/volume/resample.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"

namespace voxshard {
namespace {

/// Returns the sample of a case for nnU-Net's fingerprint, from the volumes as the plan orients them.
///   cases  of the data set
NnunetCase nnunet_sample(SourceCase source, const PreparePlan& plan, std::size_t cases) {
  if (plan.orientation != "keep") {
    source.image = reorient(std::move(source.image), plan.orientation);
    source.label = reorient(std::move(source.label), plan.orientation);
  }
  return nnunet_case(source.image, source.label, nnunet_samples(cases));
}

}  // namespace

CaseFingerprints take_fingerprints(const Case& item, const PreparePlan& plan, std::size_t cases,
                                   const VolumeFormats& formats) {
  SourceCase source = read_source_case(item, plan.classes(), formats, plan.ignore_label);
  const Geometry grid = source.image.geometry;
  CaseFingerprints found{.channels = {}, .notes = std::move(source.notes)};
  for (std::size_t c = 0; c < plan.channels.size(); ++c) {
    if (c > 0) {
      source.image.voxels = {};
      source.image = read_source_channel(item, c, grid, formats);
    }
    found.channels.push_back(take_fingerprint(item.id, source.image, source.label, plan.classes()));
    if (plan.channels.size() > 1 && plan.of_channel(c).normalise != Normalise::kCt)
      found.channels.back().histogram.clear();
  }
  if (plan.convention == Convention::kNnunet)  // which has one channel
    found.channels.back().nnunet = nnunet_sample(std::move(source), plan, cases);
  return found;
}

nlohmann::ordered_json fingerprint_messages(const std::vector<CaseFingerprint>& fingerprints) {
  auto messages = nlohmann::ordered_json::array();
  for (const CaseFingerprint& one : fingerprints) messages.push_back(fingerprint_message(one));
  return messages;
}

std::vector<CaseFingerprint> fingerprints_of(const nlohmann::ordered_json& messages) {
  std::vector<CaseFingerprint> fingerprints;
  for (const auto& one : messages) fingerprints.push_back(fingerprint_of(one));
  return fingerprints;
}

}  // namespace voxshard
