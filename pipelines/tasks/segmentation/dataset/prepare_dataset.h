// Preparation of volumes: a data set folder to a work folder (pipelines/tasks/segmentation/dataset/prepared_dataset.h).
// Two passes over the cases, both in parallel: the first checks every case and takes its fingerprint, from which the
// plan follows; the second prepares.
//
//   PrepareReport r = prepare_dataset({.dataset = "Dataset001", .work = "work"}, context);
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/volume/volume.h"
#include "pipelines/engine/run_context.h"
#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"

namespace voxshard {

struct PrepareOptions {
  std::filesystem::path dataset, work;
  std::string spacing = "median";      // "median", "keep" or "X,Y,Z" in mm
  std::string orientation = "LPS";     // three letters or "keep"
  std::optional<Range> clip_hu;        // none: the foreground's 0.5 and 99.5 percentiles for ct, -160 to 240 for window
  std::optional<Normalise> normalise;  // none: by the name of the channel
  std::uint64_t seed = 0;              // of the foreground samples
  bool resume = false;                 // skip the cases that are finished and unchanged
  VolumeFormats formats = volume_formats();  // of the data set; their limits.memory_bytes: of all cases in flight
};

struct PrepareReport {
  std::filesystem::path work;
  PreparePlan plan;
  int prepared = 0, skipped = 0;      // skipped: finished by an earlier run
  std::vector<CaseFailure> failures;  // also in quarantine.csv
  std::vector<CaseFailure> warnings;  // what is odd about cases that are used: W_FORMS
  bool interrupted = false;
  double seconds = 0;
  ProcessPlan memory;  // of the cases in flight when they took most
};

/// Writes the work folder; each file whole or not at all, dataset.json last. The processes of a run share out the cases
/// and write their files; one owns the folder and writes the files about all cases: the same bytes for any number of
/// processes, each of which gets the report. A case is refused when the memory of its process does not hold it. Errors:
/// kInput, kNoCase (no case at all, or every case failed), kConfig for bad options, kOutput.
PrepareReport prepare_dataset(const PrepareOptions& options, const RunContext& context);
nlohmann::ordered_json to_json(const PrepareReport& report);

/// "2,2,3.5" to its numbers, low to high. Errors: kUsage names the option.
std::vector<double> parse_numbers(const std::string& text, std::size_t count, const std::string& option);

}  // namespace voxshard
