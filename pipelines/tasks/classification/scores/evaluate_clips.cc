#include "pipelines/tasks/classification/scores/evaluate_clips.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "io/datasets/class_list.h"
#include "io/files/file_name.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/classification/dataset/class_clips.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

std::map<std::string, const ClassPrediction*> rows_by_name(const ClassPredictions& found) {
  std::map<std::string, const ClassPrediction*> rows;
  for (const ClassPrediction& row : found.rows) rows[row.file] = &row;
  return rows;
}

constexpr double kGap = 1e-3;  // s: gap between labels that is ignored, for rounded times in a list

/// Returns the class of a video that is labelled with it from beginning to end; none for other videos.
std::optional<std::int64_t> class_throughout(const std::vector<LabelledTime>& times, double seconds) {
  double until = 0;
  for (const LabelledTime& t : times) {
    if (t.label != times.front().label || t.begin_s > until + kGap) return std::nullopt;
    until = std::max(until, t.end_s);
  }
  return times.empty() || until + kGap < seconds ? std::nullopt : std::optional(times.front().label);
}

/// Returns the probabilities of a clip from the windows that share frames with it; empty when there are none.
std::vector<double> told_of(const std::vector<ReadSpan>& windows, FrameSpan clip) {
  std::vector<double> sum;
  double frames = 0;
  auto w = std::ranges::partition_point(windows, [&](const ReadSpan& s) { return s.frames.end <= clip.begin; });
  for (; w != windows.end() && w->frames.begin < clip.end; ++w) {
    if (w->frames == clip) return w->probabilities;
    const auto shared = static_cast<double>(std::min(w->frames.end, clip.end) - std::max(w->frames.begin, clip.begin));
    if (sum.empty()) sum.assign(w->probabilities.size(), 0);
    for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += shared * w->probabilities[c];
    frames += shared;
  }
  for (double& p : sum) p /= frames;
  return sum;
}

/// Returns the labelled times of each video, in order, in seconds after its first frame.
std::map<std::string, std::vector<LabelledTime>> labelled_times(const ClassPredictions& found,
                                                                const ClassDataset& truth,
                                                                const std::filesystem::path& references,
                                                                const ClassKinds& kinds) {
  const auto rows = rows_by_name(found);
  std::map<std::string, std::vector<LabelledTime>> times;
  const auto whole = [&](const std::string& name, std::int64_t label) {
    if (const auto row = rows.find(name); row != rows.end()) times[name] = {{0, row->second->time_line.seconds, label}};
  };
  const ClassPart part = unseen_part(references, kinds);
  if (!part.kind.has_times) {
    for (const ClassItem& item : truth.items) whole(video_of(item), item.label);
    return times;
  }
  std::vector<CaseFailure> said_already;
  for (const ClassEntry& row : part.kind.entries(part, {.items = ItemKind::kClip}, said_already).list) {
    const auto name = std::ranges::find(found.classes, row.class_name);
    if (name == found.classes.end()) continue;  // E_CLASS, reported when the items are read
    if (row.interval)
      times[row.name].push_back({row.interval->start_s, row.interval->end_s, name - found.classes.begin()});
    else
      whole(row.name, name - found.classes.begin());
  }
  for (auto& [file, list] : times) std::ranges::sort(list, {}, &LabelledTime::begin_s);
  return times;
}

std::vector<LabelledTime> told_times(const ReadTimeLine& line) {
  std::vector<LabelledTime> times;
  for (const ReadSpan& s : line.intervals) times.push_back({s.begin_s, s.end_s, s.label});
  return times;
}

}  // namespace

Classified matched_clips(const ClassPredictions& found, ClassDataset& truth, std::vector<CaseFailure>& failures) {
  auto rows = rows_by_name(found);
  std::set<std::string> known, missing;
  for (const CaseFailure& failure : found.failures) missing.insert(failure.id);  // reported already
  Classified clips{.classes = std::ssize(found.classes)};
  std::erase_if(truth.items, [&](const ClassItem& item) {
    const std::string video = video_of(item);
    known.insert(video);
    const auto row = rows.find(video);
    if (row == rows.end()) {
      if (missing.insert(video).second)
        failures.push_back({video, "E_MISSING", "has no prediction; predict it, or leave it out of the references"});
      return true;
    }
    const auto predicted =
        told_of(row->second->time_line.windows, {item.index, item.index + found.clip_length * found.clip_stride});
    if (predicted.empty()) {
      failures.push_back({item.name, "E_MISSING", "is covered by no window; predict with a smaller {hop}"});
      return true;
    }
    clips.truth.push_back(item.label);
    clips.probabilities.insert(clips.probabilities.end(), predicted.begin(), predicted.end());
    return false;
  });
  for (const CaseFailure& failure : truth.failures) known.insert(failure.id);  // reported already
  for (const auto& [name, row] : rows)
    if (!known.contains(name))
      failures.push_back({name, "E_MISSING", "is predicted, but the references do not have it"});
  return clips;
}

ClipScores score_time_lines(const ClassPredictions& found, const ClassDataset& truth,
                            const std::filesystem::path& references, const ClassKinds& kinds) {
  const auto classes = std::ssize(found.classes);
  const auto rows = rows_by_name(found);
  ClipScores scores{.time_confusion_s = std::vector<double>(static_cast<std::size_t>(classes * (classes + 1)), 0)};
  Classified videos{.classes = classes};
  for (const auto& [name, times] : labelled_times(found, truth, references, kinds)) {
    const auto row = rows.find(name);
    if (row == rows.end()) continue;
    if (const auto label = class_throughout(times, row->second->time_line.seconds)) {
      videos.truth.push_back(*label);
      const auto& predicted = row->second->probabilities;
      videos.probabilities.insert(videos.probabilities.end(), predicted.begin(), predicted.end());
    }
    std::vector<LabelledTime> within = times;
    for (LabelledTime& t : within) {  // labels beyond the end of the video are cut
      t.end_s = std::min(t.end_s, row->second->time_line.seconds);
      t.begin_s = std::min(t.begin_s, t.end_s);
    }
    const auto seconds = time_confusion(told_times(row->second->time_line), within, classes);
    for (std::size_t i = 0; i < seconds.size(); ++i) scores.time_confusion_s[i] += seconds[i];
  }
  scores.videos = videos.count();
  scores.video_accuracy = accuracy(videos);
  scores.confusion = confusion_matrix(videos);
  scores.time = time_scores(scores.time_confusion_s, classes);
  return scores;
}

Json to_json(const ClipScores& s, const std::vector<std::string>& classes) {
  const auto rows_of = [&](const auto& values, std::size_t columns) {
    Json rows = Json::array();
    for (std::size_t c = 0; c < classes.size(); ++c) {
      Json row = Json::array();
      for (std::size_t i = 0; i < columns; ++i) row.push_back(values[c * columns + i]);
      rows.push_back(std::move(row));
    }
    return rows;
  };
  Json of_class = Json::array();
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const ClassTime& t = s.time.classes[c];
    of_class.push_back({{"name", classes[c]},
                        {"true_s", t.true_s},
                        {"found_s", t.found_s},
                        {"recall", json_number(t.recall)},
                        {"precision", json_number(t.precision)}});
  }
  return {{"videos",
           {{"items", s.videos},
            {"accuracy", json_number(s.video_accuracy)},
            {"confusion", rows_of(s.confusion, classes.size())}}},
          {"time",
           {{"rule", "of the labelled seconds; those that no window covers are not right"},
            {"labelled_s", s.time.labelled_s},
            {"covered_s", s.time.found_s},
            {"right_s", s.time.right_s},
            {"accuracy", json_number(s.time.accuracy)},
            {"classes", of_class},
            {"confusion_s", rows_of(s.time_confusion_s, classes.size() + 1)}}}};
}

std::string to_text(const ClipScores& s, const std::vector<std::string>& classes) {
  constexpr std::size_t kMostRows = 40;
  std::vector<std::vector<std::string>> rows = {{"class", "seconds", "recall", "precision"}};
  for (std::size_t c = 0; c < std::min(kMostRows, classes.size()); ++c) {
    const ClassTime& t = s.time.classes[c];
    rows.push_back({shown_name(classes[c]), fixed_text(t.true_s, 1), fixed_text(t.recall), fixed_text(t.precision)});
  }
  std::string text = text_table(rows);
  if (classes.size() > kMostRows)
    text += "... and " + std::to_string(classes.size() - kMostRows) + " more classes; all of them with {json}\n";
  return text + "of the labelled time: " + fixed_text(s.time.accuracy) + " of " + fixed_text(s.time.labelled_s, 1) +
         " s right, " + fixed_text(s.time.found_s, 1) + " s covered; of " + std::to_string(s.videos) +
         " videos of one class: accuracy " + fixed_text(s.video_accuracy) + "\n";
}

}  // namespace voxshard
