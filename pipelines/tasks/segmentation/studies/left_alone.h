// The series of studies that the rules leave alone ({rules}, io/datasets/study_rules.h), counted by the rule that they
// break. No value of a header is named.
//
//   LeftAlone left = leave_by_rules(rules.series, "inbox/st_1", volumes, formats);   // volumes: those that are
//   predicted left.text();                                           // "12 series left alone: 9 by modality, 3 by
//   slices"
//
// Called by find_images.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/datasets/study_rules.h"
#include "io/volume/volume.h"

namespace voxshard {

struct LeftAlone {
  std::map<std::string, std::int64_t> series = {};  // by the rule that they break
  std::int64_t studies = 0;                         // of which no series is predicted

  bool any() const { return !series.empty() || studies > 0; }
  std::int64_t count() const;
  void add(const LeftAlone& other);
  /// Returns "12 series left alone: 9 by modality, 3 by slices"; empty for no series.
  std::string text() const;
};

/// Returns {"series": 12, "studies": 2, "by_rule": {"modality": 9, "slices": 3}}.
nlohmann::ordered_json to_json(const LeftAlone& left);

/// Takes the series that break a rule out of the volumes of a folder or an archive, and says anew of the others which
/// of them are other reconstructions (FoundVolume::better): of those that remain the best stands for its scan. Volumes
/// of other formats have no header to judge, and break the rule "format". Reads headers alone, which the search of
/// the folder has read already. Errors: kInput.
///   input  the folder, archive or file that was searched
LeftAlone leave_by_rules(const SeriesRules& rules, const std::filesystem::path& input,
                         std::vector<FoundVolume>& volumes, const VolumeFormats& formats);

}  // namespace voxshard
