// Writes trace events as text, one by one: a long profile never exists as a tree in memory, and a rank sends its events
// to rank 0 in pieces.
//
//   EventStream stream([&](const std::string& text) { out << text; });
//   put_wall(stream, recorder, {.pid = 0, .name = "rank 0 on node-a"});
//   stream.flush();
//
// The format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (Trace Event Format),
// complete events ("ph": "X") and, from the send of a message to its arrival, flows ("s", "f"); times in microseconds.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "libcore/runtime/trace.h"

namespace voxshard {

class EventStream {
 public:
  /// Receives the next piece of the text, never an empty one.
  using Sink = std::function<void(const std::string& text)>;
  /// `continues`: other events precede those of this stream.
  explicit EventStream(Sink sink, bool continues = false) : sink_(std::move(sink)), first_(!continues) {}

  void put(const nlohmann::ordered_json& event);
  void name(const char* what, int process, std::int64_t thread, const std::string& name);
  void complete(const std::string& name, const std::string& category, int process, std::int64_t thread, double begin_s,
                double seconds, const nlohmann::ordered_json& args);
  /// Passes the buffered text to the sink.
  void flush();

 private:
  Sink sink_;
  std::string text_;
  bool first_;
};

/// A process of the profile that shows a wall clock: all workers, or those of one rank.
struct WallProcess {
  int pid = 0;
  std::string name;
  int rank = -1;       // -1: the only one
  double ahead_s = 0;  // added to its times to convert them to the clock of rank 0
};
void put_wall(EventStream& stream, const TraceRecorder& recorder, const WallProcess& process);

}  // namespace voxshard
