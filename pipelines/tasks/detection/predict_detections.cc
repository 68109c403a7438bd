#include "pipelines/tasks/detection/predict_detections.h"

#include <algorithm>
#include <set>

#include "io/boxes/coco.h"
#include "io/boxes/frame_results.h"
#include "io/files/atomic_file.h"
#include "io/files/file_name.h"
#include "io/files/output_file.h"
#include "io/files/output_folder.h"
#include "io/image/draw_boxes.h"
#include "io/image/picture.h"
#include "io/video/stream.h"
#include "io/video/video_writer.h"
#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/follow_predictions.h"
#include "pipelines/tasks/detection/find_pictures.h"
#include "pipelines/tasks/detection/image_preparation.h"
#include "pipelines/tasks/detection/picture_memory.h"
#include "pipelines/tasks/detection/predict_image.h"
#include "pipelines/tasks/predicted_file.h"
#include "pipelines/tasks/seen_inputs.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kDrawnScore = 0.3;  // less likely boxes are in the JSON only

void check_outputs(const PredictOptions& o, const DetectionPrediction& d) {
  const std::string what = "the detections of a RetinaNet run go";
  const OutputPlace place = {.inputs = {o.input, o.run}};
  if (is_video_name(o.input)) {  // predict_video sees to it that its outputs differ
    require_json_output(o, what);
    require_result_files({.json = o.output, .coco = d.video.coco, .mot = d.video.mot}, place.inputs);
    require_output_file(d.draw, written_video(), {.inputs = place.inputs, .option = "{draw}"});
    require_output_file(seen_file_of(o.output), seen_file(), place);
    if (o.held_out)
      throw Error(ErrorKind::kUsage, "[predict] {held-out} chooses among pictures; of a video {range} chooses the frames");
    return;
  }
  if (!d.draw.empty()) require_outside(d.draw, place.inputs, "{draw}");
  require_predicted_file(o, what, coco_results_file());
  if (!d.video.coco.empty() || !d.video.mot.empty())
    throw Error(ErrorKind::kUsage, "[predict] {coco} and {mot} are for a video; {output} is the file of COCO results for " + o.input.string());
  if (d.video.frames && !is_data_set(o.input))
    throw Error(ErrorKind::kUsage, "[predict] {range}, {stride} and {fps} choose frames of videos; got " + o.input.string());
}

std::string text_of(const VideoPredictReport& v, const fs::path& output) {
  std::string text = std::to_string(v.frames) + " frames, " + std::to_string(v.detections) + " objects in " +
                     std::to_string(v.tracks) + " tracks";
  if (v.lost > 0) text += ", " + std::to_string(v.lost) + " frames too damaged to decode";
  if (v.not_drawn > 0) text += ", " + std::to_string(v.not_drawn) + " not drawn";
  if (v.interrupted) text += "; INCOMPLETE: stopped, what was found until then is in " + incomplete_path(output).string();
  for (const std::string& note : v.notes) text += "\n  " + note;
  return text + "\n";
}

ImagePreparation preparation_of(const TrainedRun& run) {
  ImagePreparation preparation;
  try {
    preparation = image_preparation_from_json(run.preparation);
  } catch (const Error& e) {
    throw Error(ErrorKind::kCheckpoint, run.file.string() + ": " + e.what());
  }
  const auto& config = run.spec.as<RetinaNetConfig>();
  if (first_class(config) + static_cast<std::int64_t>(preparation.classes.size()) != config.classes)
    throw Error(ErrorKind::kCheckpoint, run.file.string() + ": names " + std::to_string(preparation.classes.size()) +
                                            " classes of objects, which are not those of its model");
  return preparation;
}

ImagePrediction prediction_of(const TrainedRun& run, const ImagePreparation& preparation, const std::string& postprocess) {
  const auto& config = run.spec.as<RetinaNetConfig>();
  return {config, postprocess_of(postprocess, config), preparation.pad_multiple, preparation.output_size};
}

class Detector {
 public:
  /// Draws into a folder of its own, if asked; nothing is drawn when that cannot be.
  Detector(const PredictOptions& options, const DetectionPrediction& detection, TrainedRun run, Progress& progress)
      : o_(options), d_(detection), progress_(progress), pool_(options.threads), reader_({.most_pixels = detection.most_pixels}), pictures_(find_pictures(options.input, detection.video.frames, detection.most_pixels)) {
    preparation_ = preparation_of(run);
    prediction_ = prediction_of(run, preparation_, detection.postprocess);
    session_ = prediction_session(options, run, pool_);
    session_->set_stop(progress.stop_check());
    report_.failures = pictures_.failures;
    const InputSieve sieve{run.trained_on, o_.held_out, report_.seen, pool_, progress_};
    if (is_video_name(o_.input)) wanted_inputs(sieve, frame_inputs(o_.input, d_.video.frames, d_.most_pixels));
    else keep_wanted(pictures_.list, sieve, picture_input);
    if (d_.draw.empty() || is_video_name(o_.input)) return;
    drawn_.emplace(FolderUse{.folder = d_.draw, .command = "predict (pictures)", .inputs = {o_.input, o_.run}, .option = "{draw}"});
    made_with_ = prediction_hash(o_, run.file, d_.postprocess);
    std::set<std::string> names;
    for (const Picture& picture : pictures_.list) {
      std::string name = picture.file.stem().string();
      while (!names.insert(name).second) name += "_" + std::to_string(picture.id);
      drawn_names_[picture.id] = name;
    }
  }

  PredictReport run() {
    lead_predictions(o_, *session_, image_work(prediction_), [&] {
      plan_all();
      make_folder_of(o_.output);
      is_video_name(o_.input) ? video() : pictures();
      report_.next = next();
    });
    return report_;
  }

 private:
  void pictures() {
    if (drawn_) start_drawing();
    const auto total = static_cast<std::int64_t>(pictures_.list.size() + pictures_.failures.size());
    progress_.update("predict", 0, total, "");
    for (const Picture& picture : pictures_.list) {
      const std::string name = picture.file.filename().string();
      try {
        if (!report_.interrupted) one(picture);
      } catch (const Stopped&) {
        report_.interrupted = true;
      }
      if (report_.interrupted) report_.not_reached.push_back(name);
      else progress_.update("predict", static_cast<std::int64_t>(report_.cases.size() + report_.failures.size()), total, name);
    }
    if (report_.cases.empty() && !report_.interrupted)
      throw Error(ErrorKind::kNoCase, "[predict] none of " + std::to_string(report_.failures.size()) +
                                          " pictures could be predicted; the first: " + report_.failures.front().message);
    const fs::path written = report_.interrupted ? incomplete_path(o_.output) : o_.output;
    write_json(written, results_);
    if (!report_.interrupted) remove_incomplete(o_.output);
    for (PredictedCase& c : report_.cases) c.file = written;
    const fs::path quarantine = write_left_out(report_, o_.output);
    report_.found = {{"detections", detections_}};
    report_.text = prediction_text(report_, quarantine,
                                   ", " + std::to_string(detections_) + " objects in " + written.string());
  }

  void video() {
    require_picture_fits(pictures_.list.front());
    const auto found_in = [&](const Tensor& rgb) {
      std::vector<ScoredBox> boxes;
      for (const Detection& d : predict_image(*session_, normalised(unit_range(rgb), preparation_), prediction_))
        boxes.push_back({.category = d.class_id - first_class(prediction_.config), .box = coco_box(d.box), .score = d.score});
      return boxes;
    };
    const VideoPredictReport video = predict_video({.video = o_.input,
                                   .json = o_.output,
                                   .drawn = d_.draw,
                                   .prediction = d_.video,
                                   .most_pixels = d_.most_pixels,
                                   .drawn_score = kDrawnScore,
                                   .threads = o_.threads},
                                  preparation_.classes, found_in, progress_);
    report_.found = {{"detections", video.detections}, {"video", to_json(video)}};
    report_.interrupted = video.interrupted;
    report_.damaged = video.lost > 0;
    report_.text = text_of(video, o_.output);
    write_seen(o_.output, report_.seen);
  }

  /// To score what was found where the input says what is there, else to look at it.
  std::vector<std::string> next() const {
    const std::string output = o_.output.string(), input = o_.input.string();
    if (is_data_set(o_.input)) {
      std::vector<std::string> words = {"evaluate", output, input, "{output}", (o_.output.parent_path() / "scores.json").string()};
      const FrameChoice& frames = d_.frames;
      if (!frames.range.empty()) words.insert(words.end(), {"{range}", frames.range});
      if (frames.stride) words.insert(words.end(), {"{stride}", std::to_string(*frames.stride)});
      if (!frames.per_second.empty()) words.insert(words.end(), {"{fps}", frames.per_second});
      return words;
    }
    if (!d_.draw.empty()) return {"info", d_.draw.string()};
    const std::string drawn = (o_.output.parent_path() / (is_video_name(o_.input) ? "drawn.mp4" : "drawn")).string();
    return {"predict", o_.run.string(), input, "{output}", output, "{draw}", drawn};
  }

  /// Plans every size there is from the headers. An unreadable picture is left to its turn.
  void plan_all() {
    std::set<Shape> sizes;
    for (const Picture& picture : pictures_.list) {
      try {
        sizes.insert(extents_of(picture));
      } catch (const Error&) {
      }
    }
    frames_ = std::ranges::count_if(pictures_.list, [](const Picture& p) { return picture_address(p.file).frame.has_value(); });
    load_codecs();
    planned_ = plan_predictions(*session_, sizes, std::to_string(pictures_.list.size()) + " pictures",
                                {o_.host_budget_bytes, o_.base_bytes}, progress_);
    report_.memory.plan = planned_.held;
    report_.bytes_per_core = planned_.core;
    report_.host_bytes = planned_.host;
  }

  Shape extents_of(const Picture& picture) const {
    const PictureSize size = reader_.size(picture.file);
    return image_extents({size.height, size.width}, prediction_.pad_multiple, prediction_.output_size);
  }

  /// Refuses a picture from its header. Errors: kInput E_SIZE, E_BUDGET; kBudget.
  void require_picture_fits(const Picture& picture) {
    const Shape extents = extents_of(picture);
    if (const auto refused = planned_.refused.find(extents); refused != planned_.refused.end()) throw refused->second;
    const PictureSize size = reader_.size(picture.file);
    const std::int64_t pixels = std::max(extents[1] * extents[2], size.height * size.width), most = o_.host_budget_bytes;
    const ProcessPlan plan = planned_.held + planned_.cores(extents) + reading_picture_plan(pixels, frames_);
    const double held = static_cast<double>(planned_.held.total());
    const double share = (static_cast<double>(most) - held) / (static_cast<double>(plan.total()) - held);
    require_fits(plan, most, ErrorKind::kInput, picture.file.filename().string(),
                           share > 0 ? std::to_string(planned_bytes(share * static_cast<double>(pixels))) + " pixels would fit: cut it"
                                     : std::string("the network alone does not fit"));
    report_.memory.plan = widest(report_.memory.plan, plan);
  }

  /// Errors: Stopped, before anything of this picture is among the results.
  void one(const Picture& picture) {
    const Stopwatch watch;
    const std::string name = picture.file.filename().string();
    const auto failure = failure_of(name, {ErrorKind::kInput, ErrorKind::kBudget}, [&] {
      require_utf8_name(name);
      require_picture_fits(picture);
      const fs::path drawn = drawn_ ? named_file(d_.draw, drawn_names_.at(picture.id), ".png") : fs::path();
      const Tensor pixels = normalised(reader_.read(picture.file, {.dtype = DType::kF32}), preparation_);
      throw_if_stopped(progress_);
      const std::vector<Detection> found = predict_image(*session_, pixels, prediction_);
      for (const Detection& d : found) results_.push_back(result_of(picture, d));
      if (drawn_) draw(picture, found, drawn);
      detections_ += static_cast<std::int64_t>(found.size());
      report_.cases.push_back({name, o_.output, watch.seconds()});
    });
    if (failure && failure->code == kRefusedMemory) session_->release();
    if (failure) fail(*failure);
  }

  void fail(const CaseFailure& failure) {
    report_.failures.push_back(failure);
    progress_.log("picture " + shown_name(failure.id) + ": " + failure.message + " [quarantined]");
  }

  const DetectionClass& class_of(const Detection& d) const {
    return preparation_.classes.at(static_cast<std::size_t>(d.class_id - first_class(prediction_.config)));
  }

  Json result_of(const Picture& picture, const Detection& d) const {
    Json result = coco_result({.box = coco_box(d.box), .score = d.score}, picture.id, class_of(d).id);
    if (pictures_.numbered) result["file_name"] = picture.file.filename().string();
    return result;
  }

  void start_drawing() {
    std::set<std::string> parts;
    for (const auto& [id, name] : drawn_names_) parts.insert(name);
    drawn_->start({.options = made_with_, .parts = parts, .protect = true});
  }

  void draw(const Picture& picture, const std::vector<Detection>& found, const fs::path& file) {
    std::vector<DrawnBox> boxes;
    for (const Detection& d : found) {
      if (d.score < kDrawnScore) break;  // they come best first
      const auto colour = static_cast<int>(d.class_id - first_class(prediction_.config)) + 1;  // 0 is black
      boxes.push_back({.box = coco_box(d.box), .colour = colour, .caption = class_of(d).name + " " + fixed_text(d.score, 2)});
    }
    std::reverse(boxes.begin(), boxes.end());  // the best is on top
    const std::string& name = drawn_names_.at(picture.id);
    Tensor rgb = reader_.read(picture.file);
    draw_boxes(rgb, boxes);
    drawn_->begin(name, {file.filename().string()});
    write_rgb(file, rgb);
    drawn_->commit(name, "");
  }

  const PredictOptions& o_;
  const DetectionPrediction& d_;
  Progress& progress_;
  WorkerPool pool_;
  PictureReader reader_;
  Pictures pictures_;
  ImagePreparation preparation_;
  ImagePrediction prediction_;
  std::unique_ptr<Session> session_;
  PlannedBytes planned_;
  std::int64_t frames_ = 0;  // of videos, among the pictures
  PredictReport report_;
  std::int64_t detections_ = 0;
  Json results_ = Json::array();
  std::optional<OutputFolder> drawn_;
  std::map<std::int64_t, std::string> drawn_names_;  // by picture, without ending
  std::string made_with_;                            // hash
};

}  // namespace

PredictReport predict_detections(const PredictOptions& options, const DetectionPrediction& detection, TrainedRun run, Progress& progress) {
  DetectionPrediction d = detection;
  d.video.frames = d.frames.selection();
  if (follows(options)) {
    const RankWork work = image_work(prediction_of(run, preparation_of(run), d.postprocess));
    return follow_predictions(options, std::move(run), work, progress);
  }
  check_outputs(options, d);
  return Detector(options, d, std::move(run), progress).run();
}

}  // namespace voxshard
