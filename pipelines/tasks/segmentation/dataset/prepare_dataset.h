// Prepares the volumes of a data set folder into a work folder
// (pipelines/tasks/segmentation/dataset/prepared_dataset.h) in two parallel passes over the cases: the first checks
// every case and takes its fingerprint, from which the plan follows; the second prepares.
//
//   PrepareReport r = prepare_dataset({.dataset = "Dataset001", .work = "work"}, context);
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/volume/volume.h"
#include "pipelines/engine/requests.h"
#include "pipelines/engine/run_context.h"
#include "pipelines/tasks/segmentation/dataset/dataset_source.h"
#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"
#include "pipelines/tasks/segmentation/labels/class_coverage.h"
#include "pipelines/tasks/segmentation/labels/missing_classes.h"

namespace voxshard {

/// Returns what is odd about cases among each other, from the records in dataset.json and the names of the classes.
using CaseJudge = std::function<std::vector<CaseFailure>(const nlohmann::ordered_json& records,
                                                         const std::vector<std::string>& class_names)>;

/// Returns why a case would be left out, from the headers of its files.
using HeaderJudge = std::function<std::vector<CaseFailure>(const Case& item, const VolumeFormats& formats)>;

struct PrepareOptions {
  std::filesystem::path dataset, work;
  Convention convention = Convention::kVoxshard;
  // "auto": the median, for images that are not near it; "median" (or nnU-Net's target spacing) for all, "keep", or
  // "X,Y,Z" in mm
  std::string spacing = "auto";
  bool chooses_spacing() const { return spacing == "auto" || spacing == "median"; }
  std::string orientation = "LPS";  // three letters or "keep"
  // none: the foreground's 0.5 and 99.5 percentiles for ct and soft_tissue, -160 to 240 for window
  std::optional<Range> clip_hu;
  std::optional<Normalise> normalise;                    // none: by the name of the channel
  std::uint64_t seed = 0;                                // for the foreground samples
  bool resume = false;                                   // skip the cases that are finished and unchanged
  bool dry_run = false;                                  // nothing is prepared or written: the report has `planned`
  std::optional<MissingClasses> missing = std::nullopt;  // none: auto, background in nnU-Net's convention
  IrregularSlices irregular = IrregularSlices::kReject;
  bool resamples_channels = false;           // as in PreparePlan
  VolumeFormats formats = volume_formats();  // of the data set, made for `irregular`; limits.memory_bytes is for all
                                             // cases in flight together
  DatasetSource source = {};                 // where cases come from; its folder is `dataset`
  HeaderJudge headers = nullptr;             // of a dry run; null: files that can be read at all are usable
  CaseJudge judge = nullptr;                 // what is odd about the prepared cases; null: nobody looks
};

struct PrepareReport {
  std::filesystem::path work;
  PreparePlan plan;
  int prepared = 0, skipped = 0;      // skipped: finished by an earlier run
  std::int64_t voxels = 0;            // of all these cases on the prepared grid, one channel
  std::vector<CaseFailure> failures;  // also in quarantine.csv
  std::vector<CaseFailure> warnings;  // anomalies of cases that are used: W_FORMS, and what `judge` found
  std::string ids = "names";          // or "ordinals", "salted"
  ClassCoverage coverage;             // of the cases that are prepared
  MissingClasses missing_rule = MissingClasses::kAuto;
  std::vector<MissingClass> missing;     // the classes that some case lacks, and what was decided
  std::vector<PlannedInput> planned;     // of a dry run
  std::int64_t patients_of_several = 0;  // patients with several prepared cases, as far as headers tell them apart
  bool interrupted = false;
  double seconds = 0;
  ProcessPlan memory;              // of the cases in flight at the peak
  std::vector<std::string> check;  // words of `check` that name the data set; empty: no text speaks of it
};

/// Writes the work folder; each file whole or not at all, dataset.json last. The processes of a run divide the cases
/// and write their files; the first process owns the folder and writes the files about all cases. The bytes are the
/// same for any number of processes, and all get the report. A case is refused when the memory of its process does not
/// hold it. Errors: kInput, kNoCase (no case at all, or every case failed), kConfig for bad options, kOutput.
PrepareReport prepare_dataset(const PrepareOptions& options, const RunContext& context);
nlohmann::ordered_json to_json(const PrepareReport& report);
std::string to_text(const PrepareReport& report);

/// Parses "2,2,3.5" into `count` numbers. Errors: kUsage names the option.
std::vector<double> parse_numbers(const std::string& text, std::size_t count, const std::string& option);

}  // namespace voxshard
