// By what a later call knows that it may keep the prediction of a case.
//
//   folder.holds(item.id, made_hash(batch, item, turn, hashes_of(files_of_case(item, formats))));
#pragma once

#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "pipelines/engine/prediction.h"

namespace voxshard {

/// Returns the hashes of files, in their order. Errors: kInput.
std::vector<std::string> hashes_of(const VolumeFiles& files);

/// Returns a hash of the case's files, whether they were resampled, and PredictionBatch::version_and_cut(). Errors:
/// kInput.
///   hashes  of all its files
std::string made_hash(const PredictionBatch& batch, const Case& item, const PredictionTurn& turn,
                      const std::vector<std::string>& hashes);

/// Hashes of which UIDs are made, whatever the names and the order of the files.
struct ObjectKeys {
  std::string input;   // of the files
  std::string object;  // of them and of the run with its settings
};
///   run     a hash of the run with its settings
///   hashes  of all files of the case
ObjectKeys object_keys(const std::string& run, std::vector<std::string> hashes);

/// Returns the hash of which the UIDs of a label map's objects are made: of another label map, or on another series of
/// the case, they are others. Input, run and settings do not decide a label map to the bit: a network that is divided
/// otherwise, or other instructions, round otherwise.
///   object  a hash of input, run and terms
///   series  the UID of the series
///   labels  (D, H, W) i32 on its slices
std::string uid_key(const std::string& object, const std::string& series, const Tensor& labels);

}  // namespace voxshard
