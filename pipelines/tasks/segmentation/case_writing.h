// The outputs of a case that was predicted, once its label map is restored: all that it takes to write them, on
// whichever thread does.
//
//   CaseWriting writing{.item = item, .labels = restored, .opened = opened, .file = "predictions/liver_03.nii.gz"};
//   writing.write(outputs, plan, formats);
#pragma once

#include <filesystem>
#include <vector>

#include "pipelines/tasks/segmentation/case_predictor.h"
#include "pipelines/tasks/segmentation/outputs/case_outputs.h"

namespace voxshard {

struct CaseWriting {
  Case item;
  Volume labels;  // as they are written, on the grid of the files
  CaseOutputs::Opened opened;
  std::vector<QualityFlag> flags = {};
  PredictedVolume found = {};                      // where the probabilities are written too
  std::filesystem::path file, probabilities = {};  // `probabilities` empty: they are not written
  std::vector<RefusedOutput> refused = {};         // what could not be written
  double seconds = 0;                              // of the case, once its files are complete

  /// Returns the memory that is held until they are written.
  ProcessPlan plan() const;
  /// Writes the label map, what is written beside it, and the probabilities of its voxels. Each volume is released when
  /// the next one is made: the memory plan counts on that. Errors: kOutput.
  void write(const CaseOutputs& outputs, const PreparePlan& plan, const VolumeFormats& formats);
};

}  // namespace voxshard
