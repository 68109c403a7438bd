#include "libcore/metrics/iou_tracker.h"

#include <algorithm>
#include <numeric>

#include "libcore/base/error.h"

namespace voxshard {

IouTracker::IouTracker(const TrackOptions& options) : options_(options) {
  if (!(options.least_iou > 0 && options.least_iou <= 1))
    throw Error(ErrorKind::kUsage, "[track] the least overlap of a track is an IoU above 0 and at most 1, got " +
                                       std::to_string(options.least_iou));
  if (options.most_missed < 0)
    throw Error(ErrorKind::kUsage, "[track] the number of frames that a track may miss is 0 or more, got " +
                                       std::to_string(options.most_missed));
}

IouTracker::Track* IouTracker::best_of(const ScoredBox& detection) {
  Track* best = nullptr;
  double best_iou = 0;
  for (Track& track : live_) {
    if (track.taken || track.category != detection.category) continue;
    const double iou = coco_iou(detection.box, track.box, false);
    if (iou < options_.least_iou || iou <= best_iou) continue;
    best = &track, best_iou = iou;
  }
  return best;
}

std::vector<std::int64_t> IouTracker::next(std::span<const ScoredBox> detections) {
  std::vector<std::size_t> order(detections.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return detections[a].score > detections[b].score; });
  for (Track& track : live_) track.taken = false;
  std::vector<std::int64_t> tracks(detections.size(), -1);
  std::vector<Track> started;
  for (const std::size_t i : order) {
    const ScoredBox& detection = detections[i];
    if (detection.score < options_.least_score) continue;
    Track* track = best_of(detection);
    if (track == nullptr) {
      started.push_back({.id = ++tracks_, .category = detection.category});
      track = &started.back();
    }
    track->box = detection.box, track->missed = 0, track->taken = true;
    tracks[i] = track->id;
  }
  std::erase_if(live_, [&](Track& track) { return !track.taken && ++track.missed > options_.most_missed; });
  live_.insert(live_.end(), started.begin(), started.end());
  return tracks;
}

}  // namespace voxshard
