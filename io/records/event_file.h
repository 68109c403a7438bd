// TensorBoard's event files: TFRecord frames (io/records/record_file.h) of tensorflow.Event, here with scalars alone.
// Written through protobuf (tf_event.proto); no TensorFlow is needed.
//
//   file << event_file_head(now_s) << event_record({.time_s = now_s, .step = 7, .values = {{"train/loss", 0.5}}});
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace voxshard {

struct ScalarEvent {
  double time_s = 0;  // since 1970
  std::int64_t step = 0;
  std::vector<std::pair<std::string, double>> values;  // by tag: "train/loss"; stored as f32, as TensorBoard has it
};

/// Returns the first records of a file: its version, and a start, at which TensorBoard drops what earlier files of
/// the folder said of the same steps.
std::string event_file_head(double time_s);
std::string event_record(const ScalarEvent& event);

/// Returns "events.out.tfevents.1700000000.voxshard". TensorBoard reads the files of a folder in the order of their
/// names. There is no host in it, which TensorFlow writes there: a run folder is handed on.
///   time_s  since 1970, in whole seconds; 0 to 9999999999
std::string event_file_name(std::int64_t time_s);
/// Returns the time in a name of that form; -1 for other names.
std::int64_t event_file_time(std::string_view name);

}  // namespace voxshard
