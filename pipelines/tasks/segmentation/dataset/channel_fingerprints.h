// The fingerprints of all channels of a case.
//
//   const CaseFingerprints found = take_fingerprints(dataset.training[0], plan, dataset.training.size(), formats);
//   found.channels[1].mean_hu                       // of the second channel, in its own unit
#pragma once

#include "io/datasets/dataset.h"
#include "pipelines/tasks/segmentation/dataset/fingerprint.h"

namespace voxshard {

struct CaseFingerprints {
  std::vector<CaseFingerprint> channels;
  std::vector<std::string> notes;  // as in SourceCase
};

/// Reads a case with every check of read_source_case() and read_channel(), and takes the fingerprint of each
/// channel; memory holds one of them beside the label. Of several channels those that the plan normalises by the
/// foreground's HU keep their histograms. nnU-Net's convention draws its sample too. Errors: kInput with a code as in
/// CaseFailure.
///   cases  of the data set, from which the size of that sample follows
CaseFingerprints take_fingerprints(const Case& item, const PreparePlan& plan, std::size_t cases,
                                   const VolumeFormats& formats);

/// Convert them to a message for other processes and back, as fingerprint_message().
nlohmann::ordered_json fingerprint_messages(const std::vector<CaseFingerprint>& fingerprints);
std::vector<CaseFingerprint> fingerprints_of(const nlohmann::ordered_json& messages);

}  // namespace voxshard
