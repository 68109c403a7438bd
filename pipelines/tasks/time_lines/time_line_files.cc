#include "pipelines/tasks/time_lines/time_line_files.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "io/files/atomic_file.h"
#include "io/files/csv.h"
#include "libcore/base/error.h"
#include "libcore/metrics/classified.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostFrames = std::int64_t{1} << 48;

void open(std::optional<AtomicFile>& file, const std::filesystem::path& path) {
  if (!path.empty()) file.emplace(path);
}

}  // namespace

struct TimeLinesWriter::Impl {
  std::vector<std::string> classes;
  std::optional<AtomicFile> json, intervals, windows;
  std::string file;
  const VideoIndex* index = nullptr;
  bool any_video = false, any_window = false;  // written so far; for any_window: of this video

  double seconds(std::int64_t frame) const {
    return static_cast<double>(shown_ticks(*index, frame) - shown_ticks(*index, 0)) * index->time_base.value();
  }
  Json span_json(FrameSpan span) const {
    return {{"frames", {span.begin, span.end}},
            {"pts", {shown_ticks(*index, span.begin), shown_ticks(*index, span.end)}},
            {"seconds", {seconds(span.begin), seconds(span.end)}}};
  }
  void write_row(AtomicFile& table, FrameSpan span, std::int64_t label, double probability) const {
    table.stream() << csv_text(file) << "," << csv_text(seconds(span.begin)) << "," << csv_text(seconds(span.end))
                   << "," << csv_text(name_of(label)) << "," << csv_text(probability) << "," << span.begin << ","
                   << span.end;
  }
  const std::string& name_of(std::int64_t label) const { return classes.at(label); }
  static std::string text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }
  /// Returns the text of an object without its closing brace, so that entries can be appended.
  static std::string open_text(const Json& json) {
    std::string open = text(json);
    open.pop_back();
    return open;
  }
};

TimeLineFiles time_line_files(const std::filesystem::path& json) {
  return {.json = json,
          .intervals = std::filesystem::path(json).replace_extension(".csv"),
          .windows = std::filesystem::path(json).replace_extension(".windows.csv")};
}

TimeLinesWriter::TimeLinesWriter(const TimeLineFiles& files, const Json& head, std::vector<std::string> classes)
    : impl_(std::make_unique<Impl>()) {
  impl_->classes = std::move(classes);
  open(impl_->json, files.json);
  open(impl_->intervals, files.intervals);
  open(impl_->windows, files.windows);
  if (impl_->json) impl_->json->stream() << Impl::open_text(head) << ",\"predictions\":[";
  if (impl_->intervals) impl_->intervals->stream() << kTimeLineTableHead << "\n";
  if (!impl_->windows) return;
  impl_->windows->stream() << kTimeLineTableHead;
  for (const std::string& name : impl_->classes) impl_->windows->stream() << "," << csv_text("p(" + name + ")");
  impl_->windows->stream() << "\n";
}

TimeLinesWriter::~TimeLinesWriter() = default;

void TimeLinesWriter::begin(const std::string& file, const VideoIndex& index) {
  impl_->file = file, impl_->index = &index, impl_->any_window = false;
}

void TimeLinesWriter::window(const TimeWindow& w) {
  Impl& i = *impl_;
  ensure(i.index != nullptr && w.probabilities.size() == i.classes.size() && w.frames.begin >= 0 &&
             w.frames.begin < w.frames.end && w.frames.end <= i.index->size(),
         "a window is of its video, and has a probability for every class");
  const std::int64_t label = likeliest(w.probabilities);
  if (i.json) {
    if (!i.any_window) {
      const Json video = {{"file", i.file},
                          {"frames", i.index->size()},
                          {"seconds", i.seconds(i.index->size())},
                          {"time_base", rational_text(i.index->time_base)}};
      i.json->stream() << (i.any_video ? ",\n" : "\n") << Impl::open_text(video) << ",\"windows\":[";
    }
    Json row = i.span_json(w.frames);
    row["class"] = i.name_of(label), row["probabilities"] = w.probabilities;
    i.json->stream() << (i.any_window ? ",\n " : "\n ") << Impl::text(row);
  }
  i.any_window = i.any_video = true;
  if (!i.windows) return;
  i.write_row(*i.windows, w.frames, label, w.probabilities[label]);
  for (const double p : w.probabilities) i.windows->stream() << "," << csv_text(p);
  i.windows->stream() << "\n";
}

void TimeLinesWriter::end(const TimeLine& line, const TimeLineEnd& end) {
  Impl& i = *impl_;
  if (!i.any_window) return;
  const std::vector<TimeSegment> intervals = merged(line.segments);
  if (i.json) {
    i.json->stream() << "],\"intervals\":[";
    for (std::size_t k = 0; k < intervals.size(); ++k) {
      Json row = i.span_json(intervals[k].frames);
      row["class"] = i.name_of(intervals[k].label), row["probability"] = intervals[k].probability;
      i.json->stream() << (k > 0 ? ",\n " : "\n ") << Impl::text(row);
    }
    const Json rest = {{"repeated_frames", end.repeated},
                       {"notes", end.notes},
                       {"complete", end.complete},
                       {"class", i.name_of(likeliest(line.mean))},
                       {"probabilities", line.mean}};
    i.json->stream() << "]," << Impl::text(rest).substr(1);
  }
  for (const TimeSegment& interval : intervals) {
    if (!i.intervals) break;
    i.write_row(*i.intervals, interval.frames, interval.label, interval.probability);
    i.intervals->stream() << "\n";
  }
  i.index = nullptr;
}

void TimeLinesWriter::close(bool complete) {
  if (impl_->json) impl_->json->stream() << "\n]}\n";
  for (auto* file : {&impl_->json, &impl_->intervals, &impl_->windows})
    if (*file) (*file)->commit(complete);
}

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::kInput, "E_SYNTAX", what + "; predict again");
}

/// Reads [begin, end) from the list of that name in `row`.
template <class Number>
std::pair<Number, Number> two_of(const nlohmann::json& row, const char* name) {
  const nlohmann::json& values = row.at(name);
  const auto fits = [](const nlohmann::json& v) {
    return std::is_integral_v<Number> ? v.is_number_integer() : v.is_number();
  };
  if (!values.is_array() || values.size() != 2 || !fits(values[0]) || !fits(values[1]))
    refuse(std::string("has a span whose ") + name + " are not two numbers");
  return {values[0].get<Number>(), values[1].get<Number>()};
}

ReadSpan span_from_json(const nlohmann::json& row) {
  const auto [begin, end] = two_of<std::int64_t>(row, "frames");
  const auto [begin_s, end_s] = two_of<double>(row, "seconds");
  if (begin < 0 || begin >= end || end > kMostFrames || !std::isfinite(begin_s) || !std::isfinite(end_s) ||
      begin_s > end_s)
    refuse("has a span that ends before it begins, or is out of range");
  return {.frames = {begin, end}, .begin_s = begin_s, .end_s = end_s};
}

const nlohmann::json& list_of(const nlohmann::json& video, const char* name) {
  const nlohmann::json& list = video.at(name);
  if (!list.is_array()) refuse(std::string("has no list of ") + name);
  return list;
}

}  // namespace

std::vector<double> probabilities_from_json(const nlohmann::json& values, std::size_t classes) {
  if (!values.is_array() || values.size() != classes) refuse("does not have a probability for each of the classes");
  std::vector<double> probabilities;
  for (const nlohmann::json& value : values) {
    const double p = value.is_number() ? value.get<double>() : -1;
    if (!(p >= 0 && p <= 1)) refuse("has a probability that is no number from 0 to 1");
    probabilities.push_back(p);
  }
  return probabilities;
}

ReadTimeLine time_line_from_json(const nlohmann::json& video, const std::vector<std::string>& classes) {
  ReadTimeLine line{.seconds = video.at("seconds").get<double>()};
  if (!std::isfinite(line.seconds) || line.seconds < 0) refuse("lasts no number of seconds");
  for (const nlohmann::json& row : list_of(video, "windows")) {
    ReadSpan window = span_from_json(row);
    if (!line.windows.empty() &&
        (window.frames.begin <= line.windows.back().frames.begin ||
         window.frames.end < line.windows.back().frames.end || window.begin_s < line.windows.back().begin_s))
      refuse("has windows out of order");
    window.probabilities = probabilities_from_json(row.at("probabilities"), classes.size());
    window.label = likeliest(window.probabilities);
    line.windows.push_back(std::move(window));
  }
  for (const nlohmann::json& row : list_of(video, "intervals")) {
    ReadSpan interval = span_from_json(row);
    if (!line.intervals.empty() &&
        (interval.frames.begin < line.intervals.back().frames.end || interval.begin_s < line.intervals.back().end_s))
      refuse("has intervals out of order");
    const auto name = std::ranges::find(classes, row.at("class").get<std::string>());
    if (name == classes.end()) refuse("has an interval of a class that it does not name");
    interval.label = name - classes.begin();
    line.intervals.push_back(std::move(interval));
  }
  return line;
}

}  // namespace voxshard
