#include "pipelines/tasks/detection/scores/detection_validation.h"

#include <algorithm>
#include <limits>

#include "io/image/image_reader.h"
#include "libcore/metrics/average_precision.h"

namespace voxshard {
namespace {

constexpr std::size_t kAp50 = 1;  // in a CocoSummary

class DetectionValidation : public ValidationPass {
 public:
  DetectionValidation(const DetectionDataset& dataset, const ImagePreparation& preparation,
                      const ImagePrediction& prediction, const ImageReader& reader)
      : dataset_(dataset), preparation_(preparation), prediction_(prediction), reader_(reader) {}

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
    for (const Detection& d : predict_image(session, normalised(std::move(pixels), preparation_), prediction_))
      found_.push_back({.image = static_cast<std::int64_t>(i),
                        .category = d.class_id - prediction_.detector.first_class,
                        .box = coco_box(d.box),
                        .score = d.score});
    return {};
  }

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
  std::set<std::int64_t> unread_;  // images
};

}  // namespace

std::unique_ptr<ValidationPass> validate_images(const DetectionDataset& dataset, const ImagePreparation& preparation,
                                                const ImagePrediction& prediction, const ImageReader& reader) {
  return std::make_unique<DetectionValidation>(dataset, preparation, prediction, reader);
}

}  // namespace voxshard
