// The flags of the cases of one call of `predict`: each label map is judged before it counts as written, its flags are
// logged and listed in quality.csv of the output folder, and the report tells them all at the end.
//
//   CaseFlags flags(ranges, names, {.folder = output, .keeps = true}, progress);
//   flags.judge(id, labels, channels, left_bytes);
//   flags.add_to(report);
#pragma once

#include <filesystem>
#include <map>

#include "io/volume/volume.h"
#include "pipelines/engine/prediction.h"
#include "pipelines/tasks/segmentation/quality/quality_rules.h"

namespace voxshard {

inline constexpr const char* kQualityFile = "quality.csv";

struct FlagOutput {
  std::filesystem::path folder;
  bool keeps = false;   // true: an earlier call with the same options may have written label maps that stay
  bool refers = false;  // the report lists what a person should look at
};

class CaseFlags {
 public:
  /// Says once what cannot be judged.
  ///   ranges  of the run; none: it is one of before
  CaseFlags(std::optional<QualityRanges> ranges, std::vector<std::string> class_names, FlagOutput output,
            Progress& progress);

  /// Gives a case its flags and lists them. Nothing is held but these. Errors: kOutput.
  ///   labels      as they are written, on the grid of the files
  ///   channels    quantiles of the prepared image
  ///   left_bytes  memory that this may take; 0: no limit
  void judge(const std::string& id, const Volume& labels, const std::vector<Quantiles>& channels,
             std::int64_t left_bytes);
  /// Returns the flags that judge() gave last; none where nothing is judged.
  const std::vector<QualityFlag>& last() const { return last_; }
  /// Forgets a case whose label map is removed.
  void drop(const std::string& id) { is_listed_ = rows_.erase(id) == 0 && is_listed_; }
  /// Adds the flags of the report's cases, those of kept ones too, to its document and its text. Errors: kOutput.
  void add_to(PredictReport& report);

 private:
  /// A row of quality.csv without the case.
  struct Row {
    std::string code, label_class, what;
  };
  bool judges() const { return ranges_ && ranges_->enough(); }
  void say_what_is_not_judged(Progress& progress) const;
  void read();
  static std::string text_of(const std::string& id, const std::vector<Row>& rows);
  void write();
  bool append(const std::string& id) const;

  std::optional<QualityRanges> ranges_;
  std::vector<std::string> class_names_;
  FlagOutput output_;
  Progress& progress_;
  std::vector<QualityFlag> last_;
  std::map<std::string, std::vector<Row>> rows_;  // by case; without a row: nothing is odd
  bool is_listed_ = false;                        // the file is of this call and lists exactly these
};

}  // namespace voxshard
