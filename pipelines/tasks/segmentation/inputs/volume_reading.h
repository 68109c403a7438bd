// How commands on volumes read their files: limits, and what becomes of irregular series.
//
//   for (Setting& row : prediction_settings(options.of<VolumeReading>())) ...
#pragma once

#include <vector>

#include "io/volume/volume.h"
#include "pipelines/engine/requests.h"

namespace voxshard {

/// How predict reads volumes, and what it does with their label maps.
struct VolumeReading {
  VolumeLimits limits;
  IrregularSlices irregular = IrregularSlices::kReject;
  bool best_series = true;             // of several reconstructions of a scan only the best (io/dicom/same_scan.h)
  std::filesystem::path id_salt;       // file of a secret that ids of cases are made with; empty: there is none
  bool keep_names = false;             // DICOM series are named after their folders
  std::string largest = "auto";        // classes of which small parts are removed (LargestParts)
  bool probabilities = false;          // class probabilities are written beside each label map
  bool read_ahead = true;              // an image is read while the network works on the one before, where both fit
  bool write_behind = true;            // outputs are written while the network works on the next one, where both fit
  bool refer = false;                  // what a person should look at is listed at the end
  std::string write;                   // what else is written, by words with commas (outputs/written_outputs.h)
  std::filesystem::path terms;         // file of coded terms for it; empty: those that are built in
  std::int64_t segments_per_file = 0;  // of a DICOM segmentation of too many frames; 0: one file
  std::filesystem::path outbox;        // where DICOM objects are placed to be sent; empty: nowhere
  bool fill_uids = false;              // empty UIDs of a series are filled, so that objects can be made of it
  bool watch = false;                  // the input is a folder in which further ones arrive
  std::filesystem::path done;          // where finished inputs of that folder go
  double quiet_s = 10;                 // seconds without a change after which one of them is complete
  std::filesystem::path rules;  // file that says which series are predicted (io/datasets/study_rules.h); empty: all
};

/// Returns the settings of the limits, the same for check, prepare and predict.
std::vector<Setting> limit_settings(VolumeLimits& limits);
/// Appends the words of a command line that say how volumes are read, where that is not the default.
void add_reading_words(std::vector<std::string>& words, IrregularSlices irregular, bool resamples_channels);
/// Returns the setting of least_fraction, the same wherever labels are read.
Setting fraction_setting(VolumeLimits& limits);
std::vector<Setting> prediction_settings(VolumeReading& reading);

/// Returns the formats within these limits and that memory, which may be 0: no limit.
VolumeFormats formats_within(const VolumeFormats& formats, VolumeLimits limits, std::int64_t memory_bytes);

/// Checks that label maps go to a folder. Errors: kUsage for an output that is named like a volume and is no folder.
void require_folder_output(const PredictOptions& options);

/// Returns what names label maps beside their files, and what was done to them, for prediction_hash(); results of other
/// settings are not mixed with these.
std::string naming_of(const PredictOptions& options, const VolumeReading& reading);

}  // namespace voxshard
