// Where the time of a prediction of volumes goes, for its report.
//
//   times.reading += watch.seconds();
//   add_times(times, batch.ahead, batch.behind, report);
#pragma once

#include "pipelines/engine/prediction.h"

namespace voxshard {

/// Seconds of the wall clock, over all predicted cases. The first four follow one another; `writing` is without what is
/// written behind.
struct PredictionTimes {
  double reading = 0, preparing = 0, network = 0, writing = 0;
  double waited_for_reading = 0;  // of `reading`: for a case that was still being read ahead
  double read_ahead = 0;          // of reading and preparing cases while the turn of another one ran
  std::size_t warm = 0;           // cases whose cores took over the memory of those of the case before
};

/// Adds the stages, with the page faults of the process, what was read ahead and what was written behind, to a report's
/// document, and to its text in seconds and shares; nothing where no case was predicted.
void add_times(const PredictionTimes& times, const ReadAhead& ahead, const WriteBehind& behind, PredictReport& report);

}  // namespace voxshard
