#include "pipelines/tasks/segmentation/dataset/channel_fingerprints.h"

#include <functional>
#include <nlohmann/json.hpp>

#include "pipelines/tasks/channel_grids.h"
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"
#include "pipelines/tasks/segmentation/labels/byte_labels.h"

namespace voxshard {
namespace {

/// Draws the samples of all channels for nnU-Net's fingerprint, from the volumes as the plan orients them.
///   read   reads a channel
///   cases  of the data set
void add_nnunet_samples(CaseFingerprints& found, const PreparePlan& plan,
                        const std::function<Volume(std::size_t)>& read, const Volume& label, std::size_t cases) {
  const auto nonzero = nonzero_of_channels(plan, read);
  NumpyRandom random = nnunet_random();
  for (std::size_t c = 0; c < found.channels.size(); ++c) {
    const Volume image = oriented(read(c), plan);
    const Box box = nonzero ? nonzero->box() : nonzero_box(image.voxels);
    found.channels[c].nnunet =
        nnunet_channel(image, label, {.samples = nnunet_samples(cases), .box = box, .random = random});
  }
}

}  // namespace

CaseFingerprints take_fingerprints(const Case& item, const PreparePlan& plan, std::size_t cases,
                                   const VolumeFormats& formats) {
  SourceCase source = read_source_case(item, plan.classes(), formats, plan.ignore_label);
  const Geometry grid = source.image.geometry;
  const std::size_t channels = plan.channels.size();
  CaseFingerprints found{.channels = {}, .notes = std::move(source.notes)};
  for (std::size_t c = 0; c < channels; ++c) {
    if (c > 0) {
      source.image.voxels = {};
      source.image = read_channel(item, c, grid, plan.resamples_channels, formats);
    }
    found.channels.push_back(take_fingerprint(item.id, source.image, source.label, plan.classes()));
    if (channels > 1 && !is_by_foreground(plan.of_channel(c).normalise)) found.channels.back().histogram.clear();
  }
  if (plan.convention != Convention::kNnunet) return found;
  source.label.voxels = labels_as_i32(std::move(source.label.voxels));
  if (channels > 1) source.image.voxels = {};  // they are read once more, to find what is not 0 in any of them
  const Volume label = oriented(std::move(source.label), plan);
  const auto read = [&](std::size_t c) {
    return channels == 1 ? std::move(source.image) : read_channel(item, c, grid, plan.resamples_channels, formats);
  };
  add_nnunet_samples(found, plan, read, label, cases);
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
