#include "pipelines/tasks/classification/samples/window_reader.h"

#include <algorithm>

#include "pipelines/tasks/classification/samples/clip_reader.h"
#include "pipelines/tasks/classification/samples/sample_memory.h"
#include "pipelines/tasks/place_sample.h"
#include "pipelines/tasks/video_info.h"

namespace voxshard {

WindowReader::WindowReader(VideoReader& video, const ClipWindows& windows, const ClassPreparation& preparation)
    : video_(video), windows_(windows), preparation_(preparation) {
  ensure(windows.steps().length == preparation.clip_length && windows.steps().stride == preparation.clip_stride,
         "windows are clips of the model");
}

void WindowReader::load(std::int64_t first, std::int64_t count, const StopCheck& stop) {
  std::erase_if(frames_,
                [&](const auto& held) { return windows_.first_looking_at(held.first, first) == windows_.count(); });
  const std::int64_t last = std::min(first + count, windows_.count()) - 1;
  const std::int64_t end = windows_.begin(last) + windows_.steps().reach();
  VideoFrame frame;
  for (next_ = std::max(next_, windows_.begin(first)); next_ < end; ++next_) {
    if (windows_.first_looking_at(next_, first) == windows_.count()) continue;
    throw_if_stopped(stop);
    Tensor seen;
    if (read_frame(video_, next_, frame)) seen = clip_frame(frame.rgb, preparation_);
    lost_ += seen.empty();
    frames_[next_] = std::move(seen);
    most_held_ = std::max<std::int64_t>(most_held_, std::ssize(frames_));
  }
}

bool WindowReader::usable(std::int64_t window) const {
  for (std::int64_t t = 0; t < windows_.steps().length; ++t)
    if (!frames_.at(windows_.begin(window) + t * windows_.steps().stride).empty()) return true;
  return false;
}

/// Returns the frame at `t`; when it is lost, the one before it in the window, else the one after it.
const Tensor* WindowReader::frame_at(std::int64_t window, std::int64_t t) const {
  const auto seen = [&](std::int64_t at) {
    const Tensor& frame = frames_.at(windows_.begin(window) + at * windows_.steps().stride);
    return frame.empty() ? nullptr : &frame;
  };
  for (std::int64_t at = t; at >= 0; --at)
    if (const Tensor* frame = seen(at)) return frame;
  for (std::int64_t at = t + 1; at < windows_.steps().length; ++at)
    if (const Tensor* frame = seen(at)) return frame;
  return nullptr;
}

void WindowReader::place(std::int64_t window, std::int64_t n, const TensorView& box) const {
  ensure(box.axes() == 5, "windows are placed into (N, T, H, W, C)");
  const auto without_time = [](const Dims& dims) { return Dims{dims[0], dims[2], dims[3], dims[4]}; };
  for (std::int64_t t = box.box.begin[1]; t < std::min(box.box.end(1), windows_.steps().length); ++t) {
    const Tensor* frame = frame_at(window, t);
    ensure(frame != nullptr, "a window that is placed has a frame");
    Box at = box.box;
    at.set(1, t, t + 1);
    TensorView moment = box.sub(at);
    moment.box = {without_time(at.begin), without_time(at.extent)};
    moment.strides = without_time(moment.strides);
    place_sample(*frame, n, moment);
  }
}

std::int64_t most_frames_held(const ClipSteps& steps, std::int64_t batch) {
  const std::int64_t overlapping = (steps.reach() + steps.hop - 1) / steps.hop;
  return std::min((batch - 1) * steps.hop + steps.reach(), steps.length * (batch + overlapping));
}

ProcessPlan windows_plan(const WindowMemory& m) {
  const auto readers = static_cast<double>(m.readers);
  const double kIndexBytes =
      m.drawing_threads > 0 ? 24 + 8 : 24;  // index, which readers share, and the times of the drawn copy
  constexpr double kWindowBytes = 2 * (32 + 32);
  constexpr double kDrawnBytes = 3 + kDecoderBytes;  // a pixel: a frame that is decoded and drawn into
  const auto d = [](std::int64_t v) { return static_cast<double>(v); };
  const double windows = d(ClipWindows(m.frames, m.steps).count()), batch = d(m.extents[0]);
  const double overlapping = d((m.steps.span() + m.steps.hop - 1) / m.steps.hop);
  const double frame = 4 * d(m.channels) * d(m.extents[2] * m.extents[3]);
  ProcessPlan reading = reading_items_plan(m.steps.length * m.pixels, m.readers,
                                           {.items = ItemKind::kClip, .clip_length = m.steps.length});
  reading += {{MemoryPart::kFeeding, planned_bytes(readers * frame * d(most_frames_held(m.steps, m.extents[0])))}};
  const double drawn = kDrawnBytes * d(m.pixels) + drawn_copy_bytes(m.pixels, m.drawn_pixels, m.drawing_threads);
  const ProcessPlan drawing = {{MemoryPart::kReading, planned_bytes(m.drawing_threads > 0 ? drawn : 0)}};
  return widest(reading, drawing) +
         ProcessPlan{{MemoryPart::kReading, planned_bytes(kIndexBytes * d(m.frames))},
                     {MemoryPart::kResults,
                      planned_bytes(kWindowBytes * windows + 8 * d(m.classes) * (batch + overlapping + 2))}};
}

}  // namespace voxshard
