// Windows of a video against a plain loop over its frames.
#include "pipelines/tasks/time_lines/clip_windows.h"

#include <gmock/gmock.h>

#include <vector>

namespace voxshard {
namespace {

/// Returns the frames of a window.
std::vector<std::int64_t> frames_of(const ClipWindows& windows, std::int64_t window) {
  std::vector<std::int64_t> frames;
  for (std::int64_t k = 0; k < windows.steps().length; ++k)
    frames.push_back(windows.begin(window) + k * windows.steps().stride);
  return frames;
}

template <class Body>
void for_all_steps(const Body& body) {
  for (std::int64_t length : {1, 2, 5})
    for (std::int64_t stride : {1, 2, 3})
      for (std::int64_t hop : {1, 2, 3, 5, 6, 11, 40})
        for (std::int64_t frames = 0; frames <= 45; ++frames)
          body(frames, ClipSteps{.length = length, .stride = stride, .hop = hop});
}

TEST(ClipWindows, OneBeginsEveryHopAndTheLastEndsTheVideo) {
  for_all_steps([](std::int64_t frames, const ClipSteps& steps) {
    SCOPED_TRACE(std::to_string(frames) + " frames, " + std::to_string(steps.length) + " x " +
                 std::to_string(steps.stride) + " every " + std::to_string(steps.hop));
    const ClipWindows windows(frames, steps);
    std::vector<std::int64_t> begins;  // the plain loop
    for (std::int64_t begin = 0; begin + (steps.length - 1) * steps.stride < frames; begin += steps.hop)
      begins.push_back(begin);
    if (!begins.empty() && begins.back() + steps.length * steps.stride < frames)
      begins.push_back(frames - 1 - (steps.length - 1) * steps.stride);
    ASSERT_EQ(windows.count(), std::ssize(begins));
    for (std::int64_t w = 0; w < windows.count(); ++w) {
      EXPECT_EQ(windows.begin(w), begins[w]);
      EXPECT_LT(frames_of(windows, w).back(), windows.frames(w).end) << "it looks at frames that it stands for";
      EXPECT_LE(windows.frames(w).end, frames);
    }
    if (windows.count() > 0) {
      EXPECT_EQ(windows.frames(windows.count() - 1).end, frames);
    }
  });
}

TEST(ClipWindows, WithoutAHopEveryFrameIsCoveredOnceButForTheEnd) {
  for (std::int64_t frames = 8; frames <= 60; ++frames) {
    const ClipWindows windows(frames, {.length = 4, .stride = 2, .hop = 8});
    for (std::int64_t w = 0; w + 1 < windows.count(); ++w)
      EXPECT_LE(windows.frames(w + 1).begin, windows.frames(w).end) << "no gap";
    for (std::int64_t w = 0; w + 2 < windows.count(); ++w)
      EXPECT_EQ(windows.frames(w + 1).begin, windows.frames(w).end) << "no overlap";
  }
}

TEST(ClipWindows, TheWindowsThatLookAtAFrameAreFound) {
  for_all_steps([](std::int64_t frames, const ClipSteps& steps) {
    const ClipWindows windows(frames, steps);
    for (std::int64_t frame = 0; frame < frames; ++frame)
      for (const std::int64_t from : {std::int64_t{0}, windows.count() / 2, windows.count()}) {
        std::int64_t first = windows.count();
        for (std::int64_t w = windows.count() - 1; w >= from; --w)
          if (std::ranges::count(frames_of(windows, w), frame) > 0) first = w;
        ASSERT_EQ(windows.first_looking_at(frame, from), first)
            << frame << " of " << frames << " from " << from << ": " << steps.length << " x " << steps.stride
            << " every " << steps.hop;
      }
  });
}

TEST(ClipWindows, AVideoThatIsTooShortHasNone) {
  EXPECT_EQ(ClipWindows(6, {.length = 4, .stride = 2, .hop = 1}).count(), 0);
  EXPECT_EQ(ClipWindows(7, {.length = 4, .stride = 2, .hop = 1}).count(), 1);
  EXPECT_ANY_THROW(ClipWindows(7, {.length = 4, .stride = 2, .hop = 0}));
}

}  // namespace
}  // namespace voxshard
