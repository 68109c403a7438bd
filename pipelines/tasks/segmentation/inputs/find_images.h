// The images that `predict` is given: one file or address, the files of a folder, the series of a study, the volumes of
// an archive; with {rules} those of them that the rules choose.
//
//   find_images("study.zip", volume_formats(), {}, progress).images   // study.zip/#series=ct_77dddbdf335a
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "io/inbox/inbox.h"
#include "io/volume/volume.h"
#include "pipelines/engine/foreign_files.h"
#include "pipelines/engine/requests.h"
#include "pipelines/engine/run_context.h"
#include "pipelines/tasks/segmentation/studies/left_alone.h"

namespace voxshard {

struct ImageSearch {
  bool best_only = true;  // of several reconstructions of a scan only the one that stands for it (io/dicom/same_scan.h)
  bool recursive = false;              // of a folder everything in it and in the folders in it (list_volumes_below)
  const SeriesRules* rules = nullptr;  // what is predicted of that; null: all
};

struct FoundImageFiles {
  std::vector<std::filesystem::path> images = {};  // sorted
  std::vector<FoundVolume> others = {};            // other reconstructions of their scans, which are left out
  ForeignFiles foreign = {};                       // of a folder of files
  LeftAlone left_alone = {};                       // by the rules
  std::vector<CaseFailure> unreadable = {};        // entries of an inbox of which nothing can be read, by their names
};

/// Returns the paths of the images; logs series and volumes that are left out. Errors: kInput when the input is missing
/// or damaged; kNoCase when it holds no image, or none that the rules choose.
FoundImageFiles find_images(const std::filesystem::path& input, const VolumeFormats& formats, const ImageSearch& search,
                            Progress& progress);
/// Writes what was left out into a report: "other_reconstructions", and with rules "left_alone".
void add_left_out(const FoundImageFiles& found, const ImageSearch& search, PredictReport& report);

/// The contents of an entry of an inbox.
struct EntryImages {
  enum class Kind {
    kNothing,    // no volume: it stays where it is
    kImages,     // images to predict
    kLeftAlone,  // studies of which the rules choose nothing
    kBad,        // with rules: a study, or an archive, that cannot be read
  };
  Kind kind = Kind::kNothing;
  FoundImageFiles found = {};
  std::optional<FailureReason> bad = {};
};
/// Finds the images of an entry of an inbox. Errors: those that are not about the entry.
EntryImages images_of_entry(const std::filesystem::path& entry, const VolumeFormats& formats, const ImageSearch& search,
                            Progress& progress);

}  // namespace voxshard
