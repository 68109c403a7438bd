// Data set folders in the formats of the field: nnU-Net raw (v1 and v2) and Medical Segmentation Decathlon. The keys of
// dataset.json tell which one it is, not the folder's name.
//
//   Dataset d = read_dataset("Dataset001_OpenKBP");
//   for (const Case& c : d.training) read_image(c.images[0]);
//   auto splits = make_splits(case_ids(d.training));
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace voxshard {

/// A file of named structures, DICOM-SEG or RT-STRUCT, and the class of each structure that is used.
struct ClassedStructures {
  std::filesystem::path file;
  std::map<int, int> class_of = {};  // by the structure's number
};

struct Case {
  std::string id;                             // "liver_03"
  std::vector<std::filesystem::path> images;  // one per channel: a file, or an address in a file that holds several
  std::optional<std::filesystem::path> label;
  std::vector<ClassedStructures> structures = {};            // stand in for a label map, on the grid of the image
  std::optional<std::vector<int>> annotated = std::nullopt;  // the classes that were contoured; none: all of them
  bool anonymous = false;  // its files may be named after a patient: no message names them
  int patient = 0;         // counts the patients of the set, from 1, where headers tell them apart; 0: unknown

  bool has_label() const { return label.has_value() || !structures.empty(); }
};

/// Labels that count as one: a region of nnU-Net, such as the whole tumour of several parts.
struct LabelRegion {
  std::string name;
  std::vector<int> labels;
};

/// A case that cannot be used, and why.
struct CaseProblem {
  std::string id;    // made safe for a terminal
  std::string code;  // E_MISSING, E_NAME, E_DUPLICATE
  std::string reason;
  std::vector<std::filesystem::path> files = {};  // those that are there, as far as they are known
};

struct Dataset {
  std::string name;
  std::filesystem::path folder;
  std::vector<std::string> channels;     // "CT", in channel order
  std::vector<std::string> label_names;  // by class; [0] is the background
  std::optional<int> ignore_label;       // nnU-Net's "ignore" (voxels without annotation): one above the last class
  std::vector<Case> training;            // sorted by id; only cases whose files all exist
  std::vector<Case> test;                // from imagesTs; with a label where labelsTs holds one
  std::string file_ending = ".nii.gz";
  std::vector<CaseProblem> problems;      // cases left out: a file is missing, the id is no plain name or occurs twice
  std::string kind;                       // "nnU-Net v2", "nnU-Net v1", "Decathlon", "images and labels" or "studies"
  std::vector<CaseProblem> notes;         // about cases that are used: W_SERIES
  std::vector<LabelRegion> regions = {};  // in their order; empty: the set has classes alone
};

/// The choice whether errors show ids of cases, which may be names of patients, and the text at a syntax error.
enum class IdsInErrors : std::uint8_t { kShown, kHidden };

/// True for a folder of TotalSegmentator's layout: a folder for each subject, with its image and a folder
/// "segmentations" of a mask for each class.
bool holds_masks_by_subject(const std::filesystem::path& folder);

/// Reads a data set folder. Errors: kInput for a missing folder or dataset.json, invalid JSON or missing keys; kNoCase
/// when no training case and no test case is usable. Image files are searched for, not opened; macOS "._*" files are
/// skipped.
Dataset read_dataset(const std::filesystem::path& folder, IdsInErrors ids = IdsInErrors::kShown);

/// Writes an nnU-Net v2 dataset.json atomically into dataset.folder (numTraining = training.size()).
void write_dataset_json(const Dataset& dataset);

std::vector<std::string> case_ids(const std::vector<Case>& cases);

/// One fold: the ids of the training cases and of the validation cases.
struct Split {
  std::vector<std::string> train, val;
};

/// K folds over the sorted ids, the same as nnU-Net's default (sklearn KFold, shuffle, random_state = seed).
/// Errors: kConfig when there are fewer ids than folds or folds < 2.
std::vector<Split> make_splits(std::vector<std::string> ids, int folds = 5, std::uint32_t seed = 12345);

/// Returns the ids of cases that have one patient, each list sorted; of patients with several cases alone.
std::vector<std::vector<std::string>> cases_by_patient(const std::vector<Case>& cases);

/// Returns numpy.random.RandomState(seed).permutation(count), from which the folds are cut.
std::vector<std::size_t> numpy_permutation(std::size_t count, std::uint32_t seed);

/// Reads splits_final.json. Errors: kInput for an unreadable or malformed file.
std::vector<Split> read_splits(const std::filesystem::path& path);
void write_splits(const std::filesystem::path& path, const std::vector<Split>& splits);

}  // namespace voxshard
