#include "pipelines/tasks/detection/predict_detections.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "io/boxes/coco.h"
#include "io/boxes/frame_results.h"
#include "io/files/atomic_file.h"
#include "io/files/file_name.h"
#include "io/image/draw_boxes.h"
#include "io/image/image_reader.h"
#include "io/output/output_file.h"
#include "io/output/output_folder.h"
#include "io/video/stream.h"
#include "io/video/video_copy.h"
#include "io/video/video_writer.h"
#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"
#include "pipelines/engine/predicted_file.h"
#include "pipelines/engine/prediction.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/codecs_plan.h"
#include "pipelines/tasks/detection/detection_inputs.h"
#include "pipelines/tasks/detection/kept_objects.h"
#include "pipelines/tasks/detection/next_of_detections.h"
#include "pipelines/tasks/video_info.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kDrawnScore = 0.3;  // less likely boxes are in the JSON only, where no other score is asked for

double drawn_score(const DetectionPrediction& d) { return d.min_score > 0 ? d.min_score : kDrawnScore; }

void check_outputs(const PredictOptions& o, const DetectionPrediction& d) {
  const std::string what = "the detections of a RetinaNet run go";
  const OutputPlace place = output_place(o);
  if (is_video_name(o.input)) {  // predict_video checks that its outputs differ
    require_json_output(o, what);
    require_result_files({.json = o.output, .coco = d.video.coco, .mot = d.video.mot}, place.inputs);
    require_output_file(d.draw, written_video(), output_place(o, "{draw}"));
    require_output_file(seen_file_of(o.output), seen_file(), place);
    if (o.held_out)
      throw Error(ErrorKind::kUsage,
                  "[predict] {held-out} chooses among pictures; of a video {range} chooses the frames");
    return;
  }
  if (!d.draw.empty()) require_outside(d.draw, place.inputs, "{draw}");
  require_predicted_file(o, what, coco_results_file());
  if (!d.video.coco.empty() || !d.video.mot.empty())
    throw Error(
        ErrorKind::kUsage,
        "[predict] {coco} and {mot} are for a video; {output} is the file of COCO results for " + o.input.string());
  if (d.video.frames && (o.recursive || !is_data_set(o.input, d.formats)))
    throw Error(ErrorKind::kUsage,
                "[predict] {range}, {stride} and {fps} choose frames of videos; got " + o.input.string());
}

class ImageObjects : public DetectionInputs {
 public:
  /// Opens the folder of drawings, if one is wanted; a folder that cannot be used fails here, before anything is drawn.
  ImageObjects(PredictionBatch& batch, const DetectionPrediction& detection, const TrainedDetector& detector)
      : DetectionInputs(batch, detection, detector) {
    keep_wanted(images_.list, b_.sieve(), hashed_image);
    found_.resize(images_.list.size());
    codecs_plan();  // which measures them before the first picture is read
    if (d_.draw.empty()) return;
    drawn_.emplace(
        FolderUse{.folder = d_.draw, .command = "predict (pictures)", .inputs = o_.read_paths(), .option = "{draw}"});
    made_with_ = prediction_hash(o_, b_.run, how());
    std::set<std::string> names;
    for (const FoundImage& image : images_.list) {
      std::string name = fs::path(image.shown()).replace_extension().generic_string();
      std::ranges::replace(name, '/', '_');
      while (!names.insert(name).second) name += "_" + std::to_string(image.id);
      drawn_names_[image.id] = name;
    }
  }

  std::optional<std::string> kept_with() const override { return how(); }

  bool restore(std::size_t i, const nlohmann::json& rows) override {
    auto found =
        objects_from_rows(rows, {detector_.prediction.detector.first_class, std::ssize(detector_.preparation.classes)});
    if (found) found_[i] = *std::move(found);
    return found.has_value();
  }

  void begin() override {
    DetectionInputs::begin();
    if (!drawn_) return;
    std::set<std::string> parts;
    for (const auto& [id, name] : drawn_names_) parts.insert(name);
    drawn_->start({.options = made_with_, .parts = parts, .protect = true});
  }

  ProcessPlan loaded() const override { return codecs_plan(); }

  /// Predicts one image. Errors: Stopped, before anything of this image is among the results.
  void predict(const PredictionTurn& turn) override {
    const Stopwatch watch;
    const std::size_t i = turn.inputs.front();
    const FoundImage& image = images_.list[i];
    require_utf8_name(image.shown());
    require_image_fits(image);
    const fs::path drawn = drawn_file(image);
    const Tensor pixels = reader_.read(image.file, {.dtype = DType::kF32});
    throw_if_stopped(b_.progress);
    found_[i] = found_in(pixels);
    if (drawn_) draw(image, found_[i], drawn);
    b_.keep(i, object_rows(found_[i]));
    b_.done(i, o_.output, watch.seconds());
  }

  void add_beside(std::size_t i) override {
    const FoundImage& image = images_.list[i];
    require_utf8_name(image.shown());
    if (!drawn_) return;
    require_image_fits(image);
    draw(image, found_[i], drawn_file(image));
  }

  void finish() override {
    PredictReport& report = b_.report;
    const fs::path written = report.interrupted ? incomplete_path(o_.output) : o_.output;
    const std::int64_t objects = write_results(written);
    if (!report.interrupted) remove_incomplete(o_.output);
    for (PredictedCase& c : report.cases) c.file = written;
    const fs::path quarantine = write_left_out(report, o_.output);
    write_input_names(o_.output, paths_, report.foreign);
    report.found = {{"detections", objects}};
    report.text =
        prediction_text(report, quarantine, ", " + std::to_string(objects) + " objects in " + written.string());
    report.next = next_of_detections(o_, d_);
  }

 private:
  /// Returns the options that decide what is found.
  std::string how() const {
    return d_.postprocess + (d_.min_score > 0 ? " from " + number_text(d_.min_score) + " on" : "");
  }

  /// Writes the objects of all images that ended, in the form of write_json(), and returns their number.
  std::int64_t write_results(const fs::path& file) const {
    std::int64_t objects = 0;
    write_file_atomically(file, [&](std::ostream& out) {
      for (const std::size_t i : b_.done_inputs())
        for (const Detection& d : found_[i]) {
          Json list = Json::array();
          list.push_back(result_of(images_.list[i], d));
          const std::string text = list.dump(2, ' ', false, Json::error_handler_t::replace);  // "[\n  {...}\n]"
          out << (objects++ > 0 ? "," : "[") << std::string_view(text).substr(1, text.size() - 3);
        }
      out << (objects > 0 ? "\n]\n" : "[]\n");
    });
    return objects;
  }

  fs::path drawn_file(const FoundImage& image) const {
    return drawn_ ? named_file(d_.draw, drawn_names_.at(image.id), ".png") : fs::path();
  }

  Json result_of(const FoundImage& image, const Detection& d) const {
    Json result = coco_result({.box = coco_box(d.box), .score = d.score}, image.id, detector_.class_of(d));
    if (images_.numbered) result["file_name"] = image.shown();
    return result;
  }

  void draw(const FoundImage& image, const std::vector<Detection>& found, const fs::path& file) {
    std::vector<DrawnBox> boxes;
    for (const Detection& d : found) {
      if (d.score < drawn_score(d_)) break;                                // they are sorted best first
      const auto colour = static_cast<int>(detector_.category_of(d)) + 1;  // 0 is black
      boxes.push_back({.box = coco_box(d.box),
                       .colour = colour,
                       .caption = detector_.class_of(d).name + " " + fixed_text(d.score, 2)});
    }
    std::reverse(boxes.begin(), boxes.end());  // the best is on top
    const std::string& name = drawn_names_.at(image.id);
    Tensor rgb = reader_.read(image.file);
    draw_boxes(rgb, boxes);
    drawn_->begin(name, {file.filename().string()});
    write_rgb(file, rgb);
    drawn_->commit(name, "");
  }

  std::vector<std::vector<Detection>> found_;  // by image
  std::optional<OutputFolder> drawn_;
  std::map<std::int64_t, std::string> drawn_names_;  // by image, without ending
  std::string made_with_;                            // hash
};

/// One video, frame by frame.
class VideoObjects : public DetectionInputs {
 public:
  VideoObjects(PredictionBatch& batch, const DetectionPrediction& detection, const TrainedDetector& detector)
      : DetectionInputs(batch, detection, detector) {
    wanted_inputs(b_.sieve(), frame_inputs(o_.input, d_.video.frames, d_.most_pixels));
  }

  bool is_one_stream() const override { return true; }

  void predict(const PredictionTurn&) override {
    const Stopwatch watch;
    require_image_fits(images_.list.front());
    const auto boxes_in = [&](const Tensor& rgb) {
      std::vector<ScoredBox> boxes;
      for (const Detection& d : found_in(unit_range(rgb)))
        boxes.push_back({.category = detector_.category_of(d), .box = coco_box(d.box), .score = d.score});
      return boxes;
    };
    const VideoPredictReport video = predict_video({.video = o_.input,
                                                    .json = o_.output,
                                                    .drawn = d_.draw,
                                                    .prediction = d_.video,
                                                    .most_pixels = d_.most_pixels,
                                                    .drawn_score = drawn_score(d_),
                                                    .threads = b_.context.threads()},
                                                   detector_.preparation.classes, boxes_in, b_.progress);
    PredictReport& report = b_.report;
    report.found = {{"detections", video.detections}, {"video", to_json(video)}};
    report.interrupted = video.interrupted;
    if (video.interrupted) report.not_reached = {o_.input.filename().string()};
    if (!video.interrupted) report.cases.push_back({o_.input.filename().string(), o_.output, watch.seconds()});
    report.damaged = video.lost > 0;
    report.text = to_text(video, o_.output);
  }

  void finish() override {
    write_seen(o_.output, b_.report.seen);
    b_.report.next = next_of_detections(o_, d_);
  }

 private:
  ProcessPlan drawing_plan(const ImageSize& frame) const override {
    if (d_.draw.empty()) return {};
    return {{MemoryPart::kReading,
             planned_bytes(drawn_copy_bytes(frame.height * frame.width, drawn_pixels(frame.height, frame.width),
                                            b_.context.threads()))}};
  }
};

}  // namespace

PredictReport predict_detections(const PredictOptions& options, const DetectionPrediction& detection, TrainedRun run,
                                 const RunContext& context) {
  DetectionPrediction d = detection;
  d.video.frames = d.frames.selection();
  const TrainedDetector detector = trained_detector(run, d.postprocess);
  return run_prediction(options, std::move(run), image_work(detector.prediction), context,
                        [&](PredictionBatch& batch) -> std::unique_ptr<Prediction> {
                          check_outputs(options, d);
                          if (is_video_name(options.input)) return std::make_unique<VideoObjects>(batch, d, detector);
                          return std::make_unique<ImageObjects>(batch, d, detector);
                        });
}

}  // namespace voxshard
