#include "pipelines/tasks/segmentation/scores/prediction_times.h"

#include <nlohmann/json.hpp>

#include "io/system/process_memory.h"
#include "libcore/base/text.h"

namespace voxshard {

void add_times(const PredictionTimes& times, const ReadAhead& ahead, const WriteBehind& behind, PredictReport& report) {
  const double writing = times.writing + behind.waited_seconds();
  const double all = times.reading + times.preparing + times.network + writing;
  if (all <= 0) return;
  const PageFaults faults = page_faults();
  report.found["stages"] = {{"reading", times.reading},
                            {"preparing", times.preparing},
                            {"network", times.network},
                            {"writing", writing},
                            {"waited_for_reading", times.waited_for_reading},
                            {"read_ahead", times.read_ahead},
                            {"images_ahead", ahead.inputs()},
                            {"images_over_budget", ahead.over_budget()},
                            {"waited_for_writing", behind.waited_seconds()},
                            {"written_behind", behind.seconds()},
                            {"images_behind", behind.inputs()},
                            {"images_behind_over_budget", behind.over_budget()},
                            {"images_warm", times.warm},
                            {"pages_given", faults.given},
                            {"pages_read", faults.read}};
  const auto stage = [&](double seconds) {
    return fixed_text(seconds, 1) + " s (" + fixed_text(100 * seconds / all, 0) + " %)";
  };
  report.text += "time: reading " + stage(times.reading) + ", preparing " + stage(times.preparing) + ", network " +
                 stage(times.network) + ", restoring and writing " + stage(writing) +
                 "; page faults: " + std::to_string(faults.given) + ", from disk: " + std::to_string(faults.read) +
                 "\n";
  const auto images = [](std::size_t count) {
    return std::to_string(count) + (count == 1 ? " image was" : " images were");
  };
  if (ahead.inputs() > 0)
    report.text += images(ahead.inputs()) + " read while the one before was predicted, in " +
                   duration_text(times.read_ahead) + ", of which the network waited for " +
                   duration_text(times.waited_for_reading) + "\n";
  if (ahead.over_budget() > 0)
    report.text += images(ahead.over_budget()) +
                   " read in turn: the memory of the process does not hold the one before beside it\n";
  if (behind.inputs() > 0)
    report.text += images(behind.inputs()) + " written while the next was predicted, in " +
                   duration_text(behind.seconds()) + ", of which it was waited for " +
                   duration_text(behind.waited_seconds()) + "\n";
  if (behind.over_budget() > 0)
    report.text +=
        images(behind.over_budget()) + " written in turn: the memory of the process does not hold the next beside it\n";
}

}  // namespace voxshard
