// The folder that `voxshard prepare` writes and `voxshard train` reads:
//
//   WORK/manifest.jsonl  plans.json  dataset.json  fingerprint.json  quarantine.csv  run.json
//   WORK/images/CASE.nii (f32, plain)  labels/CASE.nii (u8 or i16)  foreground/CASE.safetensors  cases/CASE.json
//   with several channels a file each: images/CASE_0000.nii, CASE_0001.nii, ...
//
//   PreparedDataset d = read_prepared("work");
//   MappedVolume image = MappedVolume::open(d.cases[0].images[0]);      // each core reads its own box
//   ForegroundVoxels seeds = load_foreground(d.cases[0], d.plan.classes());
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libcore/tensor/tensor.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/model_runs/trained_on.h"
#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"

namespace voxshard {

struct PreparedCase {
  std::string id;
  std::vector<std::filesystem::path> images;  // by channel
  std::filesystem::path label, foreground;
  std::map<std::filesystem::path, std::string> hashes;  // hashes of these files, as `prepare` noted them
  Shape shape;                                          // (D, H, W) of both volumes
  std::vector<std::int64_t> class_voxels;               // by class, on the prepared grid
  std::vector<std::string> sources;                     // hashes of the files that it was prepared from
  std::optional<std::vector<int>> annotated = {};       // the classes that were annotated; none: all of them
};

struct PreparedDataset {
  std::string name;
  std::filesystem::path folder;
  PreparePlan plan;
  std::vector<PreparedCase> cases;                          // sorted by id
  std::vector<std::vector<std::string>> same_patient = {};  // ids of cases that have one patient, where that is known
};

/// Return the paths of the volumes of a case, which are written once and then mapped. Errors of these four functions:
/// kInput E_NAME for an id that is no plain name.
std::filesystem::path prepared_image(const std::filesystem::path& folder, const std::string& id,
                                     std::size_t channel = 0, std::size_t channels = 1);
std::filesystem::path prepared_label(const std::filesystem::path& folder, const std::string& id);
/// Return the paths of the foreground voxels of each class, and of the record of the case.
std::filesystem::path prepared_foreground(const std::filesystem::path& folder, const std::string& id);
std::filesystem::path prepared_record(const std::filesystem::path& folder, const std::string& id);
/// Returns all of these paths, relative to the work folder.
std::set<std::string> case_files(const std::string& id, std::size_t channels = 1);

/// Names of the parts of the folder in its manifest.
inline constexpr const char* kPlansPart = "plans";
inline constexpr const char* kFingerprintPart = "fingerprint";
inline constexpr const char* kDatasetPart = "dataset";
std::string case_part(const std::string& id);

/// True for a folder whose manifest is that of `prepare`, which may not have come to its end. Errors: as
/// read_manifest().
bool is_prepared(const std::filesystem::path& folder);

/// Returns the folder of the data set that was prepared there, as run.json says it; empty where that does not tell.
std::filesystem::path source_of_prepared(const std::filesystem::path& folder);

/// Reads a work folder. Errors: kInput when the folder was not written by `prepare`, when that did not finish, or when
/// cases (named) are missing or differ from what the plan's `prepare` wrote; kNoCase when it has no case.
///   left_out  gets the cases that are missing or changed, instead of that error; null: the error is thrown
PreparedDataset read_prepared(const std::filesystem::path& folder, std::vector<CaseFailure>* left_out = nullptr);

/// Returns which of the cases (indices) a run was trained on, recognised by the image hashes that `prepare` noted.
SeenInputs seen_cases(const PreparedDataset& dataset, const std::vector<std::size_t>& cases,
                      const TrainedOn& trained_on);

/// Up to kForegroundSamples voxels of each class but the background, spread evenly over all voxels of the class in
/// raster order.
struct ForegroundVoxels {
  std::vector<Tensor> by_class;  // [class]: (n, 3) i32, each row (z, y, x) on the prepared grid; empty when n = 0
};
inline constexpr std::int64_t kForegroundSamples = 10000;

/// Errors: as load_safetensors; kInput for tensors that are no such rows.
ForegroundVoxels load_foreground(const PreparedCase& item, int classes);

/// Draws the foreground voxels; the same id and seed give the same voxels.
///   label  (D, H, W) i32 or u8, 0 or more; from `classes` on: ignored
ForegroundVoxels sample_foreground(const Tensor& label, int classes, const std::string& id, std::uint64_t seed);
void save_foreground(const std::filesystem::path& path, const ForegroundVoxels& voxels);

}  // namespace voxshard
