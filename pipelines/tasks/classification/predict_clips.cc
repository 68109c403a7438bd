#include "pipelines/tasks/classification/predict_clips.h"

#include <algorithm>
#include <set>

#include "io/files/atomic_file.h"
#include "io/files/file_name.h"
#include "io/output/output_folder.h"
#include "io/video/video_writer.h"
#include "libcore/base/stopwatch.h"
#include "libcore/metrics/classified.h"
#include "pipelines/engine/predicted_file.h"
#include "pipelines/engine/prediction.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/classification/find_videos.h"
#include "pipelines/tasks/classification/samples/clip_reader.h"
#include "pipelines/tasks/classification/samples/window_reader.h"
#include "pipelines/tasks/classification/scores/class_predictions.h"
#include "pipelines/tasks/classification/scores/classify_batch.h"
#include "pipelines/tasks/time_lines/draw_time_line.h"
#include "pipelines/tasks/time_lines/time_line_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// True when several videos are drawn, into a folder.
bool draws_folder(const PredictOptions& o) {
  std::error_code error;
  return fs::is_directory(o.input, error) || lower_case(o.input.extension().string()) == ".csv";
}

void check_outputs(const PredictOptions& o, const ClassPredictionOptions& own) {
  require_predicted_file(o, "the time lines of videos go", class_predictions_file());
  const OutputPlace place = output_place(o);
  const TimeLineFiles files = time_line_files(o.output);
  require_output_file(files.intervals, class_table_file(), place);
  require_output_file(files.windows, class_table_file(), place);
  if (own.draw.empty()) return;
  if (draws_folder(o))
    require_outside(own.draw, place.inputs, "{draw}");
  else
    require_output_file(own.draw, written_video(), output_place(o, "{draw}"));
}

class ClipsPrediction : public Prediction {
 public:
  /// `preparations` of the models that are averaged, or of the one.
  ClipsPrediction(PredictionBatch& batch, const ClassPredictionOptions& own,
                  const std::vector<ClassPreparation>& preparations)
      : b_(batch), o_(batch.options), own_(own), preparations_(preparations), p_(preparations_.front()) {
    steps_ = {.length = p_.clip_length, .stride = p_.clip_stride, .hop = own.hop.value_or(clip_span(p_))};
    const InputNaming naming = input_naming(o_, own.keep_names);
    found_ = find_videos(o_.input, p_, steps_, own.most_pixels, b_.context.threads(), own.kinds,
                         o_.recursive ? &naming : nullptr);
    if (o_.recursive) b_.leave(found_.foreign, own.keep_names);
    if (found_.lie_beside) b_.progress.warn(beside_classes_text(o_.input));
    b_.list(found_.failures);
    keep_wanted(found_.list, b_.sieve(),
                [](const FoundVideo& video) { return HashedCase{.name = video.name, .files = {video.file}}; });
    for (const FoundVideo& video : found_.list) windows_ += ClipWindows(video.frames, steps_).count();
    if (own.draw.empty() || !draws_folder(o_)) return;
    drawn_.emplace(
        FolderUse{.folder = own.draw, .command = "predict (videos)", .inputs = o_.read_paths(), .option = "{draw}"});
    made_with_ = prediction_hash(o_, b_.run, "hop " + std::to_string(steps_.hop));
  }

  PredictionWords words() const override { return {.inputs = "videos"}; }

  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const FoundVideo& video : found_.list) names.push_back(video.name);
    return names;
  }

  std::vector<PredictionTurn> turns() const override {
    std::vector<PredictionTurn> turns;
    for (std::size_t i = 0; i < found_.list.size(); ++i) turns.push_back({found_.list[i].extents, {i}});
    return turns;
  }

  std::int64_t pieces() const override { return windows_; }

  void begin() override {
    make_folder_of(o_.output);
    Json head = predictions_head({.classes = p_.classes,
                                  .items = p_.items,
                                  .clip_length = p_.clip_length,
                                  .clip_stride = p_.clip_stride,
                                  .trained_on = std::ssize(b_.report.seen.trained_on),
                                  .averaged = averaged_runs_of(b_.run)});
    head["hop"] = steps_.hop;
    writer_.emplace(time_line_files(o_.output), head, p_.classes);
    if (drawn_) start_drawing();
  }

  /// Predicts one video. Errors: Stopped; the windows up to the stop are among the results.
  void predict(const PredictionTurn& turn) override {
    const Stopwatch watch;
    const std::size_t i = turn.inputs.front();
    const FoundVideo& video = found_.list[i];
    require_video_fits(video);
    const TimeLine line = time_line(video);
    if (line.segments.empty())
      throw Error(ErrorKind::kInput, "E_READ",
                  "[input] " + video.file.string() +
                      ": none of its frames that a clip looks at can be decoded; copy it "
                      "again from its source");
    b_.done(i, o_.output, 0);
    const std::int64_t label = likeliest(line.mean);
    told_.push_back({{"file", video.name},
                     {"class", p_.classes[label]},
                     {"probability", line.mean[label]},
                     {"windows", ClipWindows(video.frames, steps_).count()},
                     {"intervals", merged(line.segments).size()}});
    if (!own_.draw.empty()) {
      const auto failure = failure_of(video.name, {ErrorKind::kInput}, [&] { draw(video, line); });
      if (failure && drawn_) drawn_->drop(drawn_names_.at(video.name));
      if (failure) say_not_drawn(video, *failure);
    }
    b_.report.cases.back().seconds = watch.seconds();
  }

  /// Keeps the results so far, as after a stop, when an error ends the run (a full disk, while videos are drawn).
  void abandon() override {
    if (b_.report.cases.empty()) return;
    try {
      writer_->close(false);
      b_.progress.log("the time lines until the error are in " + incomplete_path(o_.output).string());
    } catch (const Error& e) {
      b_.progress.log(e.what());
    }
  }

  void finish() override {
    writer_->close(!b_.report.interrupted);
    report(time_line_files(o_.output));
  }

 private:
  /// Refuses a video that does not fit, from its header. Errors: kInput E_BUDGET; kBudget of its plan.
  void require_video_fits(const FoundVideo& video) {
    const PredictionTurn turn{video.extents, {}};
    const ProcessPlan windows = windows_plan({.steps = steps_,
                                              .frames = video.frames,
                                              .pixels = video.pixels,
                                              .drawn_pixels = video.drawn_pixels,
                                              .extents = video.extents,
                                              .channels = p_.channels,
                                              .classes = std::ssize(p_.classes),
                                              .drawing_threads = own_.draw.empty() ? 0 : b_.context.threads(),
                                              .readers = std::ssize(preparations_)});
    b_.take(turn, windows, video.name, "Scale it down, or train with {fit} resize and a {size}");
  }

  /// Predicts window after window; the entry of the video in the files is closed also after an error.
  TimeLine time_line(const FoundVideo& video) {
    TimeLinesWriter& writer = *writer_;
    VideoReadOptions reading = {.threads = b_.context.threads(), .most_pixels = own_.most_pixels, .scan = video.scan};
    std::vector<std::unique_ptr<VideoReader>> readers;  // of each model, whose frames have intensities of their own
    for (std::size_t model = 0; model < b_.models(); ++model) {
      readers.push_back(std::make_unique<VideoReader>(video.file, reading));
      reading.scan = readers.back()->scan();
    }
    VideoReader& reader = *readers.front();
    const ClipWindows windows(reader.index().size(), steps_);
    std::vector<WindowReader> windows_of;  // by model
    for (std::size_t model = 0; model < b_.models(); ++model)
      windows_of.emplace_back(*readers[model], windows, preparations_[model]);
    const WindowReader& clips = windows_of.front();
    writer.begin(video.name, reader.index());
    TimeLineMaker maker;
    const auto end = [&](bool complete) {
      TimeLine line = maker.finish();
      if (clips.lost() > 0) lost_ = b_.report.damaged = true;
      writer.end(line, {.repeated = clips.lost(), .notes = reader.notes(), .complete = complete});
      return line;
    };
    try {
      const std::int64_t at_once = video.extents[0];
      for (std::int64_t first = 0; first < windows.count(); first += at_once) {
        const std::int64_t count = std::min(at_once, windows.count() - first);
        for (WindowReader& one : windows_of) one.load(first, count, b_.progress.stop_check());
        std::vector<std::int64_t> usable;
        for (std::int64_t w = first; w < first + count; ++w)
          if (clips.usable(w)) usable.push_back(w);
        const auto rows = usable.empty() ? std::vector<std::vector<double>>() : rows_of(video, usable, windows_of);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          writer.window({.frames = windows.frames(usable[i]), .probabilities = rows[i]});
          maker.add(windows.frames(usable[i]), rows[i]);
        }
        done_ += count;
        b_.progress.update("predict", done_, std::max(done_, windows_), video.name);
      }
    } catch (...) {
      end(false);
      throw;
    }
    return end(true);
  }

  /// Returns the probabilities of windows, averaged over the models.
  std::vector<std::vector<double>> rows_of(const FoundVideo& video, const std::vector<std::int64_t>& usable,
                                           const std::vector<WindowReader>& windows_of) {
    RowAverages averages;
    for (std::size_t model = 0; model < b_.models(); ++model) {
      const auto rows =
          classify(b_.session(model), video.extents, std::ssize(usable),
                   [&](std::int64_t n, const TensorView& box) { windows_of[model].place(usable[n], n, box); });
      for (std::size_t i = 0; i < rows.size(); ++i) averages.add(i, rows[i], b_.run_of(model).times);
    }
    std::vector<std::vector<double>> rows;
    for (std::size_t i = 0; i < usable.size(); ++i) rows.push_back(averages.row(i));
    return rows;
  }

  void draw(const FoundVideo& video, const TimeLine& line) {
    const std::string part = drawn_ ? drawn_names_.at(video.name) : "";
    const fs::path file = drawn_ ? named_file(own_.draw, part, ".mp4") : own_.draw;
    if (drawn_) drawn_->begin(part, {file.filename().string()});
    const DrawReport drawn = draw_time_line({.video = video.file,
                                             .drawn = file,
                                             .name = video.name,
                                             .most_pixels = own_.most_pixels,
                                             .threads = b_.context.threads(),
                                             .keeps_stopped = !drawn_,
                                             .scan = video.scan},
                                            line.segments, p_.classes, b_.progress);
    if (drawn.interrupted) throw Stopped();
    if (drawn_) drawn_->commit(part, "");
    not_drawn_ += drawn.not_drawn;
  }

  /// Says that a video was predicted, but not drawn.
  void say_not_drawn(const FoundVideo& video, const CaseFailure& why) {
    const std::string reason = b_.shown(why.message);
    b_.progress.warn(shown_name(video.name) + ": W_OUTPUT it is not drawn: " + reason);
    b_.report.damaged = true;
    b_.report.found["not_written"].push_back(
        {{"case", why.id}, {"output", "draw"}, {"code", why.code}, {"reason", reason}});
  }

  void start_drawing() {
    std::set<std::string> parts;
    for (const FoundVideo& video : found_.list) {
      std::string name = fs::path(video.name).replace_extension().generic_string();
      std::ranges::replace(name, '/', '_');
      while (!parts.insert(name).second) name += "_" + std::to_string(parts.size());
      drawn_names_[video.name] = name;
    }
    drawn_->start({.options = made_with_, .parts = parts, .protect = true});
  }

  void report(const TimeLineFiles& files) {
    PredictReport& report = b_.report;
    if (!report.interrupted)
      for (const fs::path& file : {files.json, files.intervals, files.windows}) remove_incomplete(file);
    const fs::path json = report.interrupted ? incomplete_path(o_.output) : o_.output;
    for (PredictedCase& c : report.cases) c.file = json;
    const fs::path quarantine = write_left_out(report, o_.output);
    write_input_names(o_.output, found_.paths, report.foreign);
    const Json own = {
        {"classes", p_.classes}, {"table", files.intervals.string()}, {"windows_table", files.windows.string()},
        {"videos", told_},       {"damaged", report.damaged},         {"not_drawn", not_drawn_}};
    report.found.update(own);
    report.text = videos_text(told_) + prediction_text(report, quarantine,
                                                       ", time lines in " + json.string() + ", " +
                                                           files.intervals.string() + " and " + files.windows.string());
    if (lost_) report.text += "frames that could not be decoded are stood in for by those before them\n";
    const std::string output = o_.output.string(), input = o_.input.string();
    if (found_.labelled)
      report.next = {"evaluate", output, input, "{output}", beside_output(o_, "scores.json").string()};
    else if (own_.draw.empty() && o_.further_runs.empty())
      report.next = {"predict",
                     o_.run.string(),
                     input,
                     "{output}",
                     output,
                     "{draw}",
                     beside_output(o_, draws_folder(o_) ? "drawn" : "drawn.mp4").string()};
    else if (!own_.draw.empty() && !draws_folder(o_))
      report.next = {"info", own_.draw.string()};
    if (o_.recursive && own_.draw.empty() && !report.next.empty()) report.next.emplace_back("{recursive}");
  }

  PredictionBatch& b_;
  const PredictOptions& o_;
  const ClassPredictionOptions& own_;
  const std::vector<ClassPreparation>& preparations_;
  const ClassPreparation& p_;  // of the first model; all but the intensities is that of all
  ClipSteps steps_;
  FoundVideos found_;
  std::optional<TimeLinesWriter> writer_;
  Json told_ = Json::array();  // one entry per video
  bool lost_ = false;          // frames that do not decode
  std::int64_t windows_ = 0, done_ = 0, not_drawn_ = 0;
  std::optional<OutputFolder> drawn_;
  std::map<std::string, std::string> drawn_names_;  // by video, without ending
  std::string made_with_;                           // hash
};

}  // namespace

PredictReport predict_clips(const PredictOptions& options, const ClassPredictionOptions& own, TrainedRun run,
                            const std::vector<ClassPreparation>& preparations, const RunContext& context) {
  return run_prediction(options, std::move(run), class_work(), context, [&](PredictionBatch& batch) {
    check_outputs(options, own);
    return std::make_unique<ClipsPrediction>(batch, own, preparations);
  });
}

}  // namespace voxshard
