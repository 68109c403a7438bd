#include "pipelines/tasks/detection/scores/detection_validation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/image/image_reader.h"
#include "libcore/metrics/average_precision.h"
#include "pipelines/engine/worst_and_best.h"
#include "pipelines/tasks/detection/scores/detection_detail.h"

namespace voxshard {
namespace {

constexpr std::size_t kAp50 = 1;  // in a CocoSummary

class DetectionValidation : public ValidationPass {
 public:
  DetectionValidation(const DetectionDataset& dataset, const ImagePreparation& preparation,
                      const ImagePrediction& prediction, const ImageReader& reader)
      : dataset_(dataset),
        preparation_(preparation),
        prediction_(prediction),
        reader_(reader),
        ap50_by_image_(dataset.images.size(), std::numeric_limits<double>::quiet_NaN()) {}

  CoreWork work() const override { return image_work(prediction_); }

  std::vector<PredictionTurn> turns() const override {
    std::vector<PredictionTurn> turns;
    for (std::size_t i = 0; i < dataset_.images.size(); ++i) {
      const DetectionImage& image = dataset_.images[i];
      turns.push_back(
          {image_extents({image.height, image.width}, prediction_.pad_multiple, prediction_.output_size), {i}});
    }
    return turns;
  }
  std::string name(std::size_t input) const override { return dataset_.images[input].file.filename().string(); }

  std::vector<CaseFailure> validate(Session& session, const PredictionTurn& turn) override {
    const std::size_t i = turn.inputs.front();
    Tensor pixels;
    if (const auto failure = failure_of(name(i), {ErrorKind::kInput}, [&] {
          pixels = reader_.read(dataset_.images[i].file, {.dtype = DType::kF32});
        })) {
      unread_.insert(static_cast<std::int64_t>(i));
      return {*failure};
    }
    const Tensor small = drawn_.keeps_any() ? small_copy(pixels) : Tensor();
    std::vector<TrueBox> truth = dataset_.images[i].boxes;
    for (TrueBox& box : truth) box.image = 0;
    std::vector<ScoredBox> found;  // of this image alone
    for (const Detection& d : predict_image(session, normalised(std::move(pixels), preparation_), prediction_))
      found.push_back({.image = 0,
                       .category = d.class_id - prediction_.detector.first_class,
                       .box = coco_box(d.box),
                       .score = d.score});
    const double ap50 = ap50_by_image_[i] = ap50_of_image(truth, found, std::ssize(preparation_.classes));
    if (std::isfinite(ap50))
      drawn_.add(-ap50, [&] { return DrawnImage{.image = i, .ap50 = ap50, .jpeg = jpeg_text(small)}; });
    for (ScoredBox& box : found) {
      box.image = static_cast<std::int64_t>(i);
      found_.push_back(box);
    }
    return {};
  }
  void keep_slices(std::int64_t cases) override { drawn_.keep(cases); }

  Validation result() const override {
    std::vector<TrueBox> truth = true_boxes(dataset_);
    std::erase_if(truth, [&](const TrueBox& box) { return unread_.contains(box.image); });
    const AveragePrecision scores = average_precision(
        truth, found_, {.images = std::ssize(dataset_.images), .categories = std::ssize(preparation_.classes)});
    Validation validation{.score = std::max(0.0, scores.summary()[kAp50])};
    for (std::size_t c = 0; c < preparation_.classes.size(); ++c) {
      validation.classes.push_back(preparation_.classes[c].name);
      const double ap50 = scores.summary_of(c)[kAp50];
      validation.by_class.push_back(ap50 >= 0 ? ap50 : std::numeric_limits<double>::quiet_NaN());
    }
    std::vector<DrawnImage> drawn;
    for (const auto& one : drawn_.worst_first()) drawn.push_back(one.shown);
    validation.detail = detection_detail({.dataset = dataset_,
                                          .classes = validation.classes,
                                          .truth = truth,
                                          .found = found_,
                                          .scores = scores,
                                          .ap50_by_image = ap50_by_image_,
                                          .drawn = std::move(drawn)});
    return validation;
  }
  std::string nothing_read() const override {
    return "pictures that validate can be read: the score of 0 says nothing";
  }

 private:
  const DetectionDataset& dataset_;
  const ImagePreparation& preparation_;
  ImagePrediction prediction_;
  const ImageReader& reader_;
  std::vector<ScoredBox> found_;
  std::set<std::int64_t> unread_;      // images
  std::vector<double> ap50_by_image_;  // of each image alone; NaN where it has no object
  WorstAndBest<DrawnImage> drawn_;
};

}  // namespace

std::unique_ptr<ValidationPass> validate_images(const DetectionDataset& dataset, const ImagePreparation& preparation,
                                                const ImagePrediction& prediction, const ImageReader& reader) {
  return std::make_unique<DetectionValidation>(dataset, preparation, prediction, reader);
}

}  // namespace voxshard
