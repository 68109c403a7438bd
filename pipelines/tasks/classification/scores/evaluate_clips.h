// Scores of time lines: clip by clip, video by video, and second by second.
//
//   Classified clips = matched_clips(found, truth, failures);          // accuracy(clips), as of images
//   ClipScores scores = score_time_lines(found, truth, "films.csv");
//   scores.time.accuracy;                                              // the share of the labelled time
#pragma once

#include "libcore/metrics/classified.h"
#include "libcore/metrics/labelled_time.h"
#include "pipelines/tasks/classification/dataset/class_dataset.h"
#include "pipelines/tasks/classification/scores/class_predictions.h"

namespace voxshard {

struct ClipScores {
  std::int64_t videos = 0;               // that are labelled with one class from their beginning to their end
  double video_accuracy = 0;             // of them, by the mean over the windows of each; NaN without one
  std::vector<std::int64_t> confusion;   // (classes, classes), of them
  TimeScores time;                       // of what is labelled
  std::vector<double> time_confusion_s;  // (classes, classes + 1), the last for time that no window covers
};

/// The clips of the references, in their order: each is told by the window of the same frames, else by the mean over
/// the windows that share frames with it, weighted by how many. What has no prediction, or is not in the references,
/// goes into `failures`, and its items leave `truth`.
Classified matched_clips(const ClassPredictions& found, ClassDataset& truth, std::vector<CaseFailure>& failures);

/// Of the videos that are both predicted and known. Intervals of a list count as they are written there, what is
/// shorter than a clip included; a video without intervals has one class for all of its time.
/// A video counts by itself when one class is labelled for all of its time, but for gaps of a millisecond.
///   references  as read_unseen_classes takes them
ClipScores score_time_lines(const ClassPredictions& found, const ClassDataset& truth,
                            const std::filesystem::path& references, const ClassKinds& kinds = class_kinds());

nlohmann::ordered_json to_json(const ClipScores& scores, const std::vector<std::string>& classes);
std::string to_text(const ClipScores& scores, const std::vector<std::string>& classes);

}  // namespace voxshard
