#include "pipelines/tasks/detection/detection_task.h"

#include <algorithm>
#include <limits>
#include <set>

#include "io/datasets/dataset.h"
#include "io/files/file_name.h"
#include "io/image/picture.h"
#include "libcore/metrics/average_precision.h"
#include "pipelines/engine/case_hashes.h"
#include "pipelines/tasks/detection/detection_dataset.h"
#include "pipelines/tasks/detection/picture_memory.h"
#include "pipelines/tasks/detection/picture_places.h"
#include "pipelines/tasks/detection/predict_image.h"
#include "pipelines/tasks/sided_classes.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kAp50 = 1;  // in a CocoSummary

std::vector<std::string> names_of(const DetectionDataset& dataset) {
  std::vector<std::string> names;
  for (const DetectionImage& image : dataset.images) names.push_back(image.file.filename().string());
  return names;
}

/// What the run began with and has no more is among the notes, each once.
void note_gone(DetectionSets& sets, const KeptSplit& kept) {
  std::vector<std::string> known = names_of(sets.train);
  for (const std::string& name : names_of(sets.val)) known.push_back(name);
  for (const auto* set : {&sets.train, &sets.val})
    for (const EntryNote& note : set->notes) known.push_back(note.entry);
  for (const CaseFailure& gone : gone_from(kept, known)) sets.train.notes.push_back({gone.id, gone.code, gone.message});
}

DetectionSets read_sets(const DetectionTaskOptions& o) {
  const double fraction = o.held_out.validate ? o.held_out.fraction : 0;
  DetectionSets sets =
      read_detection_sets({.data = o.data, .val = o.held_out.file, .val_fraction = fraction, .frames = o.frames.selection(), .most_pixels = o.sampling.most_pixels, .kept = o.kept});
  if (!o.held_out.validate) sets.val.images.clear();
  leave_out_undecoded(sets.train, PictureReader({.most_pixels = o.sampling.most_pixels}), o.pass);
  if (o.kept) note_gone(sets, *o.kept);
  return sets;
}

/// All that the annotations say of a picture, with every digit.
std::string text_of(const DetectionImage& image) {
  Json boxes = Json::array();
  for (const TrueBox& b : image.boxes)
    boxes.push_back({b.category, b.box.x, b.box.y, b.box.width, b.box.height, b.area, b.crowd, b.ignore});
  return Json::array({image.id, image.width, image.height, boxes}).dump();
}

ImagePreparation preparation_of(const DetectionSets& sets, const DetectionTaskOptions& o) {
  return {.classes = sets.train.classes, .pad_multiple = o.sampling.pad_multiple, .output_size = o.sampling.augmentation.output_size};
}

class DetectionTask : public TrainingTask {
 public:
  DetectionTask(const DetectionTaskOptions& options, const RetinaNetConfig& config)
      : o_(options), sets_(read_sets(options)), preparation_(preparation_of(sets_, options)),
        source_(sets_.train.images, preparation_, options.sampling, config, options.seed),
        reader_({.most_pixels = options.sampling.most_pixels}) {
    load_codecs();  // before the plan of the training measures what is resident
  }

  const char* metric() const override { return "ap50"; }

  void complete(ModelSpec& spec) const override {
    spec.set("channels", std::int64_t{3});
    spec.set("classes", first_class(spec.as<RetinaNetConfig>()) + static_cast<std::int64_t>(sets_.train.classes.size()));
  }

  std::int64_t training_cases() const override { return static_cast<std::int64_t>(sets_.train.images.size()); }
  std::int64_t validation_cases() const override { return static_cast<std::int64_t>(sets_.val.images.size()); }
  Json preparation() const override { return to_json(preparation_); }

  Json sampling() const override {
    const ImageSampling& s = o_.sampling;
    Json json = {{"cases", names_of(sets_.train)},
            {"boxes", sets_.train.boxes()},
            {"seed", o_.seed},
            {"crop", s.crop.empty() ? "whole" : to_string(s.crop)},
            {"foreground", s.foreground},
            {"mirror", s.augmentation.mirror},
            {"scale", s.augmentation.scale},
            {"brightness", s.augmentation.brightness},
            {"contrast", s.augmentation.contrast},
            {"saturation", s.augmentation.saturation},
            {"pad_multiple", s.pad_multiple}};
    if (!s.augmentation.output_size.empty()) json["output_size"] = to_string(s.augmentation.output_size);
    return json;
  }

  /// Of a picture's file (of a frame the video's) and its boxes.
  CaseHashes content(bool, WorkerPool& pool, Progress& progress) const override {
    std::vector<HashedCase> cases;
    for (const auto& [role, set] : {std::pair("train/", &sets_.train), std::pair("validate/", &sets_.val)})
      for (const DetectionImage& image : set->images)
        cases.push_back({.name = role + image.file.filename().string(),
                         .files = {picture_address(image.file).file},
                         .text = text_of(image),
                         .part = part_of(image.file),
                         .trains = set == &sets_.train});
    return case_hashes(cases, pool, progress);
  }

  std::vector<std::string> warnings() const override {
    std::vector<std::string> names;
    for (const DetectionClass& c : sets_.train.classes) names.push_back(c.name);
    return o_.sampling.augmentation.mirror > 0 ? mirror_warnings(names, "{mirror}") : std::vector<std::string>();
  }

  std::int64_t left_out() const override { return static_cast<std::int64_t>(failures().size()); }

  void describe(const std::filesystem::path& run) const override {
    write_splits(run / "splits_final.json", {{.train = names_of(sets_.train), .val = names_of(sets_.val)}});
    write_quarantine(run, failures());
    described_ = run;
  }

  /// The annotations of the pictures that validate, which may be those of all.
  Unseen unseen() const override {
    const auto& own = o_.held_out.file.empty() ? sets_.val.source : o_.held_out.file;
    if (!own.empty() && own != sets_.train.source) return {.data = own};
    if (sets_.val.images.empty()) return {};
    return {.data = sets_.train.source, .among_trained = true};
  }

  Shape largest_extents(std::int64_t batch) const override { return source_.largest_extents(batch); }

  std::vector<Shape> validation_extents(const ModelSpec&) const override {
    std::vector<Shape> extents;
    for (const DetectionImage& image : sets_.val.images)
      extents.push_back(image_extents({image.height, image.width}, preparation_.pad_multiple, preparation_.output_size));
    return extents;
  }

  ProcessPlan step_plan(const StepSize& step) const override { return source_.plan(step.extents, step.workers); }
  ProcessPlan validation_plan(const Shape& extents) const override {
    std::int64_t pixels = extents[1] * extents[2];
    if (!preparation_.output_size.empty())  // read at its own size, which may be larger
      for (const DetectionImage& image : sets_.val.images) pixels = std::max(pixels, image.height * image.width);
    return reading_picture_plan(pixels, std::ranges::count_if(sets_.val.images, [](const auto& image) {
                                  return picture_address(image.file).frame.has_value();
                                }));
  }
  std::int64_t step_sizes(std::int64_t batch) const override {
    const std::int64_t sizes = source_.sizes();
    return batch == 1 ? sizes : sizes * sizes;  // the widest extents of those in a batch
  }

  void share(std::int64_t begin, std::int64_t end) override { source_.share(begin, end); }
  Shape load(std::int64_t step, std::int64_t batch, WorkerPool& pool) override { return source_.load(step, batch, pool); }
  void fill(const InputInfo& input, const TensorView& box) const override { source_.fill(input, box); }

  Validation validate(Session& session, const ModelSpec& spec, Progress& progress) const override {
    session.release();  // of the training
    const auto& config = spec.as<RetinaNetConfig>();
    const ImagePrediction prediction{config, postprocess_options(config), preparation_.pad_multiple, preparation_.output_size};
    const std::vector<double> scores = lead_numbers(session, image_work(prediction), [&] {
      return validate_alone(session, prediction, progress);
    });
    return {.score = scores.front(), .by_class = {scores.begin() + 1, scores.end()}};
  }

 private:
  /// On rank 0: the score, and that of each class.
  std::vector<double> validate_alone(Session& session, const ImagePrediction& prediction, Progress& progress) const {
    const auto images = static_cast<std::int64_t>(sets_.val.images.size());
    std::vector<ScoredBox> found;
    std::set<std::int64_t> undecoded;
    for (std::int64_t i = 0; i < images; ++i) {
      throw_if_stopped(progress);
      const DetectionImage& image = sets_.val.images[static_cast<std::size_t>(i)];
      if (i == 0) progress.update("validate", 0, images, image.file.filename().string());
      Tensor pixels;
      if (const auto failure = failure_of(image.file.filename().string(), {ErrorKind::kInput},
                                          [&] { pixels = reader_.read(image.file, {.dtype = DType::kF32}); })) {
        list_undecoded(*failure, progress);
        undecoded.insert(i);
        continue;
      }
      pixels = normalised(std::move(pixels), preparation_);
      for (const Detection& d : predict_image(session, pixels, prediction))
        found.push_back({.image = i,
                         .category = d.class_id - first_class(prediction.config),
                         .box = coco_box(d.box),
                         .score = d.score});
      progress.update("validate", i + 1, images, image.file.filename().string());
    }
    session.release();
    if (std::ssize(undecoded) == images)
      progress.warn("none of the " + std::to_string(images) + " pictures that validate can be read: the score of 0 says " +
                    "nothing; give {val} others");
    const auto categories = static_cast<std::int64_t>(preparation_.classes.size());
    std::vector<TrueBox> truth = true_boxes(sets_.val);
    std::erase_if(truth, [&](const TrueBox& box) { return undecoded.contains(box.image); });
    const AveragePrecision scores = average_precision(truth, found, {.images = images, .categories = categories});
    std::vector<double> numbers = {std::max(0.0, scores.summary()[kAp50])};
    for (std::size_t c = 0; c < preparation_.classes.size(); ++c) {
      const double ap50 = scores.summary_of(c)[kAp50];
      numbers.push_back(ap50 >= 0 ? ap50 : std::numeric_limits<double>::quiet_NaN());
    }
    return numbers;
  }

  /// What does not validate since it cannot be read, each once; it joins the list that describe() wrote.
  void list_undecoded(const CaseFailure& failure, Progress& progress) const {
    if (std::ranges::find(undecoded_, failure.id, &CaseFailure::id) != undecoded_.end()) return;
    undecoded_.push_back(failure);
    progress.warn(shown_name(failure.id) + ": " + failure.message + " [left out of validation]");
    if (!described_.empty()) write_quarantine(described_, failures());
  }

  std::vector<CaseFailure> failures() const {
    std::vector<EntryNote> notes = sets_.train.notes;
    notes.insert(notes.end(), sets_.val.notes.begin(), sets_.val.notes.end());
    std::vector<CaseFailure> all = note_failures(notes);
    all.insert(all.end(), undecoded_.begin(), undecoded_.end());
    return all;
  }

  DetectionTaskOptions o_;
  DetectionSets sets_;
  ImagePreparation preparation_;
  DetectionSource source_;
  PictureReader reader_;  // of validation
  mutable std::vector<CaseFailure> undecoded_;  // of validation, so far
  mutable std::filesystem::path described_;     // the run whose quarantine.csv lists them; empty: none yet
};

}  // namespace

std::unique_ptr<TrainingTask> detection_task(const DetectionTaskOptions& options, const RetinaNetConfig& config) {
  return std::make_unique<DetectionTask>(options, config);
}

}  // namespace voxshard
