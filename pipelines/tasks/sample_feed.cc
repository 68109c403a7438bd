#include "pipelines/tasks/sample_feed.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

/// Returns the number of samples per replica: the samples of every input are divided evenly among the replicas.
std::int64_t samples_per_replica(const Node& input, const Mesh& mesh) {
  const std::int64_t samples = input.type.shape[0];
  ensure(mesh.replicas >= 1 && samples >= mesh.replicas && samples % mesh.replicas == 0,
         "the samples of an input divide over the replicas that it is cut for");
  return samples / mesh.replicas;
}

}  // namespace

void FeedReport::add_step(double step_input_s, double whole_step_s) {
  ++steps;
  input_s += step_input_s, step_s += whole_step_s;
  if (step_input_s > whole_step_s - step_input_s) ++waiting_steps;
}

std::optional<std::string> FeedReport::warning() const {
  if (steps <= 3 || 10 * waiting_steps <= steps) return std::nullopt;
  return "input is slower than the step in " + std::to_string(waiting_steps) + " of " + std::to_string(steps) +
         " steps: loading and feeding took " + fixed_text(100 * input_s / step_s, 0) +
         " % of the time; give it a faster disk or more {threads}, smaller crops" +
         (mode == FeedMode::kPerHost ? ", or {feed} boxes" : "");
}

nlohmann::ordered_json to_json(const FeedReport& r) {
  return {{"mode", kFeedNames[static_cast<std::size_t>(r.mode)]},
          {"bytes_read", r.bytes_read},
          {"largest_read_bytes", r.largest_read_bytes},
          {"staged_peak_bytes", r.staged_peak_bytes},
          {"seconds", r.input_s},
          {"share_of_steps", r.step_s > 0 ? r.input_s / r.step_s : 0.0},
          {"waiting_steps", r.waiting_steps}};
}

std::string to_text(const FeedReport& r) {
  return "fed by " + std::string(r.mode == FeedMode::kBoxes ? "boxes" : "whole samples on the host of core 0") + ": " +
         bytes_text(r.bytes_read) + " read, at most " + bytes_text(r.largest_read_bytes) + " at once, " +
         (r.mode == FeedMode::kBoxes ? std::string()
                                     : "up to " + bytes_text(r.staged_peak_bytes) + " of whole samples held, ") +
         fixed_text(r.input_s, 2) + " s of " + fixed_text(r.step_s, 2) + " s of steps";
}

void SampleFeed::begin(double load_s) {
  staged_.clear();
  load_s_ = load_s, first_s_ = -1, last_s_ = 0;
  watch_ = {};
}

void SampleFeed::end(double step_s) {
  std::int64_t held = 0;
  for (const auto& [key, staged] : staged_) held += staged->samples.bytes();
  report_.staged_peak_bytes = std::max(report_.staged_peak_bytes, held);
  staged_.clear();
  report_.add_step(load_s_ + std::max(0.0, last_s_ - first_s_), step_s);
}

void SampleFeed::fill(const Node& input, const TensorView& box) {
  {
    const std::lock_guard lock(mutex_);
    if (first_s_ < 0) first_s_ = watch_.seconds();
  }
  if (report_.mode == FeedMode::kPerHost)
    cut(input, box);
  else
    read(input, box);
  const std::lock_guard lock(mutex_);
  last_s_ = std::max(last_s_, watch_.seconds());
}

void SampleFeed::read(const Node& input, const TensorView& box) {
  task_.fill(input.input, box);
  const std::int64_t bytes = box.count() * dtype_bytes(box.dtype);
  const std::lock_guard lock(mutex_);
  report_.bytes_read += bytes;
  report_.largest_read_bytes = std::max(report_.largest_read_bytes, bytes);
}

/// Fills a box from the staged samples of its replicas. When an input is whole on every core, its box spans several
/// replicas.
void SampleFeed::cut(const Node& input, const TensorView& box) {
  if (box.box.empty()) return;
  const std::int64_t samples = samples_per_replica(input, mesh_);
  for (std::int64_t replica = box.box.begin[0] / samples; replica * samples < box.box.end(0); ++replica) {
    Box part = box.box;
    part.set(0, std::max(box.box.begin[0], replica * samples), std::min(box.box.end(0), (replica + 1) * samples));
    take(input, replica, box.sub(part));
  }
}

void SampleFeed::take(const Node& input, std::int64_t replica, const TensorView& box) {
  const std::int64_t samples = samples_per_replica(input, mesh_);
  Box whole = Box::whole(input.type.shape);
  whole.set(0, replica * samples, (replica + 1) * samples);
  const Key key{input.name, replica};
  std::shared_ptr<Staged> staged;
  {
    const std::lock_guard lock(mutex_);
    auto& place = staged_[key];
    if (!place) place = std::make_shared<Staged>();
    staged = place;
  }
  TensorView all;
  {
    const std::lock_guard lock(staged->reading);
    const bool first = staged->samples.empty();
    if (first) staged->samples = Tensor(input.type.dtype, whole.extent);
    all = dense_view(staged->samples.data(), input.type.dtype, whole);
    if (first) read(input, all);
  }
  copy(all.sub(box.box), box);
}

}  // namespace voxshard
