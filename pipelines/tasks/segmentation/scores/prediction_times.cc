#include "pipelines/tasks/segmentation/scores/prediction_times.h"

#include <nlohmann/json.hpp>

#include "io/system/process_memory.h"
#include "libcore/base/text.h"

namespace voxshard {

void add_times(const PredictionTimes& times, PredictReport& report) {
  const double all = times.reading + times.preparing + times.network + times.writing;
  if (all <= 0) return;
  const PageFaults faults = page_faults();
  report.found["stages"] = {{"reading", times.reading}, {"preparing", times.preparing}, {"network", times.network},
                            {"writing", times.writing}, {"pages_given", faults.given},  {"pages_read", faults.read}};
  const auto share = [&](double seconds) { return fixed_text(100 * seconds / all, 0) + " %"; };
  report.text += "time: reading " + share(times.reading) + ", preparing " + share(times.preparing) + ", network " +
                 share(times.network) + ", restoring and writing " + share(times.writing) + "\n";
}

}  // namespace voxshard
