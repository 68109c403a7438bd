// The images of an input of predict, or the one video: what images and videos have alike in the batch of a detector.
// Each image is refused from its header where it does not fit into the memory.
//
//   class ImageObjects : public DetectionInputs { ... };     // predict_detections.cc
#pragma once

#include <string>
#include <vector>

#include "io/image/image_reader.h"
#include "pipelines/engine/prediction.h"
#include "pipelines/tasks/detection/dataset/find_input_images.h"
#include "pipelines/tasks/detection/predict_detections.h"
#include "pipelines/tasks/detection/scores/trained_detector.h"

namespace voxshard {

class DetectionInputs : public Prediction {
 public:
  /// Finds the images and lists those that cannot be used. All arguments must outlive this.
  DetectionInputs(PredictionBatch& batch, const DetectionPrediction& detection, const TrainedDetector& detector);

  PredictionWords words() const override { return {.inputs = "pictures", .one = "picture "}; }
  std::vector<std::string> names() const override;
  std::vector<PredictionTurn> turns() const override;
  /// As of the largest image, beside which its file is decoded and drawn copies are written.
  BytesBeside bytes_beside(std::size_t model) const override;
  bool fits(const PredictionTurn& turn) const override;
  void begin() override;

 protected:
  /// Refuses an image from its header. Errors: kInput E_SIZE, E_BUDGET; kBudget.
  void require_image_fits(const FoundImage& image);
  /// Returns the memory of drawn copies of videos beside reading, for frames of that size.
  virtual ProcessPlan drawing_plan(const ImageSize& /*frame*/) const { return {}; }
  /// Returns the objects that are written, best first.
  std::vector<Detection> found_in(const Tensor& pixels);

  PredictionBatch& b_;
  const PredictOptions& o_;
  const DetectionPrediction& d_;
  const TrainedDetector& detector_;
  ImageReader reader_;
  FoundImages images_;
  CaseNames paths_;  // of images in folders, which are numbered

 private:
  Shape extents_of(const FoundImage& image) const;
  /// Returns the extents from the header; empty for an image that cannot be read: predict() reports why.
  Shape planned_extents(const FoundImage& image) const;
  /// Returns the memory of reading and drawing an image.
  ProcessPlan beside_cores(const ImageSize& size, std::int64_t pixels) const;
  /// The same of an image in its turn: of the pixels of the file, or of those that the model sees where these are more.
  ProcessPlan beside_cores(const FoundImage& image, const Shape& extents) const;
  /// Returns the number of images that are frames of videos.
  std::int64_t frames() const;
};

}  // namespace voxshard
