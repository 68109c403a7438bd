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
  std::int64_t videos = 0;               // videos labelled with one class from beginning to end
  double video_accuracy = 0;             // of these videos, by the mean over the windows of each; NaN without any
  std::vector<std::int64_t> confusion;   // (classes, classes), of these videos
  TimeScores time;                       // over the labelled time
  std::vector<double> time_confusion_s;  // (classes, classes + 1), the last column for time that no window covers
};

/// Returns predictions for the clips of the references, in their order: each is that of the window with the same
/// frames, else the mean over the windows that share frames with the clip, weighted by the number of shared frames.
/// Clips without a prediction are removed from `truth`; they and predicted videos outside the references are added to
/// `failures`.
Classified matched_clips(const ClassPredictions& found, ClassDataset& truth, std::vector<CaseFailure>& failures);

/// Scores the videos that have predictions and labels. Intervals of a list count as they are written there, also those
/// shorter than a clip; a video without intervals has one class for all of its time.
/// A video counts in the video scores when one class is labelled for all of its time, except gaps of a millisecond.
///   references  as read_unseen_classes takes them
ClipScores score_time_lines(const ClassPredictions& found, const ClassDataset& truth,
                            const std::filesystem::path& references, const ClassKinds& kinds = class_kinds());

nlohmann::ordered_json to_json(const ClipScores& scores, const std::vector<std::string>& classes);
std::string to_text(const ClipScores& scores, const std::vector<std::string>& classes);

}  // namespace voxshard
