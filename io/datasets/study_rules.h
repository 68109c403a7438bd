// The rules of a hospital's loop: which series of the studies that arrive are predicted, how they are received and
// where results go. {rules}, a TOML, JSON or YAML file; data/examples/pacs/rules.toml shows every key.
//
//   [studies]
//   modality = ["CT"]
//   body_part = ["CHEST", "ABDOMEN*"]          # * stands for any text, ? for one character
//   slices = [40, 2000]
//
//   const StudyRules rules = read_study_rules("rules.toml");
//   broken_rule(rules.series, series)           // "slices" for a scout of two slices; empty: it is predicted
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/dicom/dicom_series.h"

namespace voxshard {

/// Which series are predicted: those that every rule that is given allows.
struct SeriesRules {
  std::vector<std::string> modality = {};   // one of these; case does not count
  std::vector<std::string> body_part = {};  // patterns of BodyPartExamined, as in io/datasets/name_pattern.h
  bool takes_missing_body_part = true;      // where a file does not name the part
  std::optional<std::array<std::int64_t, 2>> slices = {};  // the least and the most
  std::optional<std::array<double, 2>> thickness_mm = {};  // between slices, by their positions, to a hundredth
  std::vector<std::string> kernel = {};                    // patterns of the first value of ConvolutionKernel

  bool any() const { return !modality.empty() || !body_part.empty() || slices || thickness_mm || !kernel.empty(); }
};

/// How studies are received (DCMTK's storescp).
struct ReceiveRules {
  std::string aetitle = "VOXSHARD";
  int port = 11112;
  double keep_days = 0;  // days after which received studies in {done} are deleted; 0: they are kept
};

/// Where results are sent.
struct SendRules {
  std::string aetitle, host;
  int port = 0;
};

struct StudyRules {
  SeriesRules series = {};
  std::optional<ReceiveRules> receive = {};
  std::optional<SendRules> send = {};
};

/// The most texts of a list, and the longest of them in bytes.
inline constexpr std::size_t kMostRuleWords = 256, kMostRuleWordBytes = 64;

/// Errors: kConfig with file, table and key: an unknown table or key, a list that is empty or too long, a range whose
/// ends are no numbers or the wrong way round, an AE title that is no 1 to 16 printable ASCII characters without a
/// backslash or with a blank at an end, a port that is no integer of 1 to 65535, a host that is no name or address; an
/// incomplete [send]. data/examples/pacs/loop.py refuses the same values of [receive] and [send].
StudyRules read_study_rules(const std::filesystem::path& path);

/// Returns the key of the first rule that a series breaks, in the order of SeriesRules; empty for one that is
/// predicted.
std::string broken_rule(const SeriesRules& rules, const DicomSeries& series);

}  // namespace voxshard
