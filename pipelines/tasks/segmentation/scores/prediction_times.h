// Where the time of a prediction of volumes goes, for its report.
//
//   times.reading += watch.seconds();
//   add_times(times, report);
#pragma once

#include "pipelines/engine/prediction.h"

namespace voxshard {

/// Seconds of the wall clock, over all predicted cases.
struct PredictionTimes {
  double reading = 0, preparing = 0, network = 0, writing = 0;
};

/// Adds the stages, with the page faults of the process, to a report's document and their shares to its text; nothing
/// where no case was predicted.
void add_times(const PredictionTimes& times, PredictReport& report);

}  // namespace voxshard
