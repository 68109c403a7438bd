// Where the cases of a data set come from: a folder with a dataset.json (nnU-Net, Decathlon), two plain folders of
// images and label maps, or a tree of DICOM studies; and how their ids are made.
//
//   DatasetSource from{.folder = "studies", .classes = "map.toml"};
//   SourceDataset found = read_dataset_source(from, "work", formats, context, gate);
//   found.dataset.training[0].id        // "case_0001"
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/datasets/case_ids.h"
#include "io/datasets/dataset.h"
#include "io/volume/volume.h"
#include "pipelines/engine/flow/memory_gate.h"
#include "pipelines/engine/run_context.h"
#include "pipelines/settings/setting.h"

namespace voxshard {

struct DatasetSource {
  std::filesystem::path folder;          // with a dataset.json, or a tree of studies; empty with the next two
  std::filesystem::path images, labels;  // two plain folders
  std::string channels;                  // names of the channels of `images`, "CT,PET"; empty: one, a CT
  std::filesystem::path classes;         // class map (io/datasets/class_map.h); required for a tree
  std::filesystem::path id_salt;         // file of a secret that ids are made with; empty: none
  bool keep_names = false;               // ids are the names of files and folders
};

/// Returns the settings that prepare and check share.
std::vector<Setting> source_settings(DatasetSource& source);

struct SourceDataset {
  Dataset dataset;
  CaseNames names;        // by id; empty when ids are the names
  std::string ids;        // "names", "ordinals" or "salted"
  bool folders_of_names;  // the source's own names may be those of patients: folders, or a tree
};

/// Finds the cases and gives them ids: those of a dataset.json keep theirs unless there is a secret; those of plain
/// folders and of trees get anonymous ones unless `keep_names`. Says what was chosen, found and left out. The processes
/// of a run all call it and find the same.
///   work  folder of an earlier call, whose ids hold; may be empty
/// Errors: kUsage for a source that is not complete; kConfig for a class map; those of read_any_dataset,
/// pair_folders, read_study_tree and read_secret.
SourceDataset read_dataset_source(const DatasetSource& source, const std::filesystem::path& work,
                                  const VolumeFormats& formats, const RunContext& context, MemoryGate& gate);

/// Gives the cases of a data set ids, as read_dataset_source() does.
///   folders_of_names  the source's own names may be those of patients: they are ids with `keep_names` only
/// Errors: kUsage for both a secret and `keep_names`; those of read_secret and read_case_names.
SourceDataset with_ids(Dataset dataset, bool folders_of_names, const DatasetSource& source,
                       const std::filesystem::path& work, Progress& progress);
/// The same with the names of earlier calls, where they are read already.
SourceDataset with_ids(Dataset dataset, bool folders_of_names, const DatasetSource& source, const CaseNames& earlier,
                       Progress& progress);

/// True for a folder that is a tree of DICOM studies, in folders or archives, and no data set with a dataset.json.
bool is_study_tree(const std::filesystem::path& folder);

/// True for such a tree with a file of labels, a DICOM segmentation or a structure set. Errors: as find_dicom_series.
bool holds_structures(const std::filesystem::path& folder);

/// Reads a tree of studies, source.folder, and gives its cases ids. Errors: kUsage without a class map; those of
/// read_study_tree and with_ids.
SourceDataset read_studies(const DatasetSource& source, const std::filesystem::path& work, const VolumeFormats& formats,
                           Progress& progress);

/// Reads the secret that ids are made with, and warns when others may read it; none for an empty path. Errors: as
/// read_secret.
std::optional<Secret> secret_for_ids(const std::filesystem::path& id_salt, Progress& progress);

/// Returns whether errors of a dataset.json may name its cases: not where they get ids of another kind.
IdsInErrors ids_in_errors(const DatasetSource& source);

/// Returns the folders that a source names.
std::vector<std::filesystem::path> folders_of(const DatasetSource& source);

/// Returns the words of a command line that name the source, for a next command: {"data"}, {"{images}", "A", ...}.
std::vector<std::string> words_of(const DatasetSource& source);

}  // namespace voxshard
