// Assigns track numbers to the detections of a video's frames, so that an object keeps its number from frame to frame,
// by overlap alone: the best detection first takes the free track of its class that it overlaps most.
//
//   IouTracker tracker({.least_iou = 0.3, .most_missed = 5});
//   std::vector<std::int64_t> tracks = tracker.next(detections_of_frame_0);     // {1, 2}
//   tracks = tracker.next(detections_of_frame_1);                               // {2, 3}: 2 was seen before, 3 is new
//
// It is deterministic and has no motion model. After Bochinski, Eiselein, Sikora, "High-Speed Tracking-by-Detection
// Without Using Image Information", AVSS 2017, with the detections in the order of their scores and gaps allowed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libcore/metrics/average_precision_match.h"

namespace voxshard {

struct TrackOptions {
  double least_iou = 0.3;        // minimum overlap with the track's last box
  double least_score = 0.3;      // detections with a lower score get no track
  std::int64_t most_missed = 5;  // a track ends after more frames in a row without a detection
};

class IouTracker {
 public:
  /// Errors: kUsage for an IoU outside of (0, 1], or a negative number of frames.
  explicit IouTracker(const TrackOptions& options);

  /// Returns the track of each detection of the next frame, 1, 2, ... in the order of their first detections; -1 for
  /// none. Among equal scores the earlier detection goes first, among equal overlaps the older track; `image` is not
  /// read. Cost: detections x live tracks.
  std::vector<std::int64_t> next(std::span<const ScoredBox> detections);

  /// The number of tracks so far.
  std::int64_t tracks() const { return tracks_; }

 private:
  struct Track {
    std::int64_t id = 0, category = 0;
    CocoBox box;              // last detected box
    std::int64_t missed = 0;  // frames since that detection
    bool taken = false;       // matched in this frame
  };
  Track* best_of(const ScoredBox& detection);

  TrackOptions options_;
  std::vector<Track> live_;  // oldest first
  std::int64_t tracks_ = 0;
};

}  // namespace voxshard
