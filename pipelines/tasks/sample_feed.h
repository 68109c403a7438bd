// Feeds samples to the cores of a training step and measures the cost. Either each core reads its own box, or, as with
// the original's PER_HOST_V2, the host of a replica's core 0 reads the whole samples and cuts them (greedy ceil) for
// all cores of the replica. Both give the same bits; the second needs a host that holds whole samples.
//
//   SampleFeed feed(FeedMode::kPerHost, mesh, *task);
//   feed.begin(seconds_of_loading);
//   trainer.step(extents, [&](const Node& input, const TensorView& box) { feed.fill(input, box); });
//   feed.end(seconds_of_the_step);
//   feed.report().staged_peak_bytes      // the most bytes of whole samples held at once
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "libcore/base/stopwatch.h"
#include "libcore/graph/graph.h"
#include "libcore/partition/mesh.h"
#include "pipelines/tasks/training_task.h"

namespace voxshard {

enum class FeedMode { kBoxes, kPerHost };
inline constexpr const char* kFeedNames[] = {"boxes", "per-host"};

/// The cost of feeding in the steps so far.
struct FeedReport {
  FeedMode mode = FeedMode::kBoxes;
  std::int64_t steps = 0;
  std::int64_t bytes_read = 0;          // in the type in which they are fed
  std::int64_t largest_read_bytes = 0;  // the largest single box: that of a core, or a replica's whole samples
  std::int64_t staged_peak_bytes = 0;   // the most bytes of whole samples held at once beside the cores
  double input_s = 0, step_s = 0;       // input: loading and feeding; step: the whole step
  std::int64_t waiting_steps = 0;       // steps whose input took longer than the rest of the step

  void add_step(double step_input_s, double whole_step_s);
  /// Returns a warning that input is slower than the steps; none in the first three steps, or while at most one step in
  /// ten waits for its input.
  std::optional<std::string> warning() const;
};
nlohmann::ordered_json to_json(const FeedReport& report);
std::string to_text(const FeedReport& report);

class SampleFeed {
 public:
  /// `task` fills boxes of the step that it loaded last; it must outlive the feed.
  SampleFeed(FeedMode mode, const Mesh& mesh, const TrainingTask& task) : mesh_(mesh), task_(task) {
    report_.mode = mode;
  }

  void begin(double load_s);
  /// Threads: several at once.
  void fill(const Node& input, const TensorView& box);
  ///   step_s  seconds of the step, loading included
  void end(double step_s);
  const FeedReport& report() const { return report_; }

 private:
  /// A replica's part of an input, for the step.
  struct Staged {
    std::mutex reading;
    Tensor samples;
  };
  using Key = std::pair<std::string, std::int64_t>;  // name of the input, replica

  void read(const Node& input, const TensorView& box);
  void cut(const Node& input, const TensorView& box);
  void take(const Node& input, std::int64_t replica, const TensorView& box);

  Mesh mesh_;
  const TrainingTask& task_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Staged>> staged_;
  FeedReport report_;
  Stopwatch watch_;  // since begin()
  double load_s_ = 0, first_s_ = -1, last_s_ = 0;
};

}  // namespace voxshard
