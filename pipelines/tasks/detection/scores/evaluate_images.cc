#include "pipelines/tasks/detection/scores/evaluate_images.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "io/image/image_reader.h"
#include "libcore/kernels/detection_loss.h"
#include "libcore/metrics/average_precision.h"
#include "pipelines/engine/core_values.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/detection/dataset/find_input_images.h"
#include "pipelines/tasks/detection/samples/decoded_images.h"
#include "pipelines/tasks/detection/samples/detection_source.h"
#include "pipelines/tasks/detection/samples/image_preparation.h"

namespace voxshard {
namespace {

/// A box that a core finds in a sample of the batch.
struct SampleBox {
  std::int64_t sample = 0;
  BoxCandidate box;
};

DetectionDataset read_evaluated(const EvaluateImagesOptions& options, const ImagePreparation& preparation,
                                const RunContext& context) {
  DetectionDataset dataset = read_detection_dataset(unseen_annotations(options.data, options.formats),
                                                    DetectionUse::kTraining, options.most_pixels, options.formats);
  if (const auto unknown = number_as(preparation.classes, dataset))
    throw Error(ErrorKind::kConfig, "[evaluate] " + dataset.source.string() + " has the class " + *unknown +
                                        ", which the run was not trained on; give data of its classes");
  leave_out_undecoded(
      dataset, ImageReader({.most_pixels = options.most_pixels}),
      {.threads = context.threads(), .memory_bytes = context.left_bytes(), .stop = context.progress().stop_check()});
  return dataset;
}

/// Returns the sampling of whole images, as in prediction.
ImageSampling whole_images(const ImagePreparation& preparation, std::int64_t most_pixels) {
  return {.foreground = 0,
          .pad_multiple = preparation.pad_multiple,
          .most_pixels = most_pixels,
          .augmentation = {},
          .output_size = preparation.output_size};
}

class ImageEvaluation : public RunEvaluation {
 public:
  ImageEvaluation(const EvaluateImagesOptions& options, const TrainedRun& run, const RunContext& context)
      : context_(context),
        preparation_(image_preparation_from_json(run.preparation)),
        prediction_{.detector = detector_of(run.spec),
                    .pad_multiple = preparation_.pad_multiple,
                    .output_size = preparation_.output_size},
        dataset_(read_evaluated(options, preparation_, context)),
        source_(dataset_.images, preparation_, whole_images(preparation_, options.most_pixels), prediction_.detector,
                0) {
    for (const CaseFailure& failure : failures())
      context.progress().warn(failure.id + ": " + failure.code + " " + failure.message + " [left out]");
    for (const std::string& warning : size_warnings(dataset_.notes)) context.progress().warn(warning);
  }

  std::string loss_name() const override {
    return "focal + " + std::to_string(static_cast<int>(spec().box_weight)) + " " +
           kBoxLossNames[static_cast<std::size_t>(spec().box_loss)];
  }
  std::string rule() const override { return "cls_loss and box_loss over batches, AP over images"; }

  std::vector<std::string> cases() const override {
    std::vector<std::string> names;
    for (const DetectionImage& image : dataset_.images) names.push_back(image.file.filename().string());
    return names;
  }
  std::vector<CaseFailure> failures() const override { return note_failures(dataset_.notes); }

  SeenInputs seen(const TrainedOn& trained_on) const override {
    std::vector<HashedCase> inputs;
    for (const DetectionImage& image : dataset_.images)
      inputs.push_back(hashed_image({.file = image.file, .id = image.id}));
    SeenInputs seen;
    wanted_inputs({trained_on, false, seen, context_.pool(), context_.progress()}, inputs);
    return seen;
  }

  Shape extents(std::span<const std::size_t> cases) const override { return source_.extents_of(cases); }
  ProcessPlan batch_plan(const Shape& extents) const override { return source_.plan(extents, context_.threads()); }
  void load(std::span<const std::size_t> cases, std::int64_t begin, std::int64_t end, WorkerPool& pool) override {
    source_.share(begin, end);
    source_.load_images(cases, pool);
    batch_.assign(cases.begin(), cases.end());
    candidates_.assign(cases.size(), {});
  }
  void fill(const InputInfo& input, const TensorView& box) const override { source_.fill(input, box); }

  SerialiseCore find() const override {
    return values_of_cores<SampleBox>([this](const nlohmann::json&, const CoreSet& cores, std::size_t core) {
      std::vector<SampleBox> found;
      for (std::size_t n = 0; n < batch_.size(); ++n)
        for (const BoxCandidate& box :
             candidates_of(cores, core, static_cast<std::int64_t>(n), scaled_size(batch_[n]), prediction_))
          found.push_back({static_cast<std::int64_t>(n), box});
      return found;
    });
  }
  TakeCore take() override {
    return take_values<SampleBox>([this](std::size_t core, std::span<const SampleBox> found) {
      const std::scoped_lock lock(taking_);
      for (const SampleBox& one : found) candidates_.at(one.sample)[core].push_back(one.box);
    });
  }

  double loss_of(const TensorView& sums) const override {
    const Tensor value(DType::kF64, {1});
    detection_kernels(KernelSet::kFast).loss(sums, value.view(), spec());
    return value.as<double>()[0];
  }

  /// Returns the parts of the loss: like the loss, they are computed per replica and averaged.
  std::vector<NamedScore> score(std::span<const std::size_t> cases, const TensorView& sums) override {
    double focal = 0, box_loss = 0;
    const double of_anchor = spec().box_share() / spec().box_weight;  // Huber loss is the mean of four numbers
    const std::int64_t groups = sums.extent()[0];
    for (std::int64_t g = 0; g < groups; ++g) {
      const double* row = sums.as<double>() + g * sums.strides[0];
      const double objects = (row[2] + 1) * static_cast<double>(groups);
      focal += row[0] / objects, box_loss += row[1] * of_anchor / objects;
    }
    for (std::size_t n = 0; n < cases.size(); ++n) add_found(cases[n], n);
    parts_.push_back({focal, box_loss});
    return {{"cls_loss", focal}, {"box_loss", box_loss}};
  }

  std::vector<NamedScore> totals() const override {
    double focal = 0, box_loss = 0;
    for (const auto& [of_classes, of_boxes] : parts_) {
      focal += of_classes / static_cast<double>(parts_.size());
      box_loss += of_boxes / static_cast<double>(parts_.size());
    }
    std::vector<NamedScore> scores = {{"cls_loss", focal}, {"box_loss", box_loss}};
    std::vector<TrueBox> truth = true_boxes(dataset_);
    std::erase_if(truth, [&](const TrueBox& box) { return !evaluated_.contains(box.image); });
    const CocoSummary summary =
        average_precision(truth, found_,
                          {.images = std::ssize(dataset_.images), .categories = std::ssize(preparation_.classes)})
            .summary();
    for (std::size_t i = 0; i < kCocoNumbers; ++i) scores.push_back({coco_names()[i], summary[i]});
    return scores;
  }

 private:
  DetectionLossSpec spec() const {
    return {.box_loss = prediction_.detector.box_loss, .box_weight = prediction_.detector.box_weight};
  }

  /// Returns H W of the image at the size that the network gets.
  Dims scaled_size(std::size_t image) const {
    const Dims size{dataset_.images[image].height, dataset_.images[image].width};
    return preparation_.output_size.empty() ? size : fit_into(size, preparation_.output_size).size;
  }

  /// Adds the objects of a sample, in pixels of its image. An image that is repeated counts once.
  void add_found(std::size_t image, std::size_t sample) {
    const auto index = static_cast<std::int64_t>(image);
    if (!evaluated_.insert(index).second) return;
    std::vector<BoxCandidate> all;
    for (const auto& [core, boxes] : candidates_[sample]) all.insert(all.end(), boxes.begin(), boxes.end());
    const Dims size{dataset_.images[image].height, dataset_.images[image].width};
    const Fit fit = preparation_.output_size.empty() ? Fit{.size = size} : fit_into(size, preparation_.output_size);
    for (const Detection& d : detect(std::move(all), prediction_.postprocess))
      found_.push_back(
          {.image = index,
           .category = d.class_id - prediction_.detector.first_class,
           .box = coco_box({d.box.y0 / fit.by_y, d.box.x0 / fit.by_x, d.box.y1 / fit.by_y, d.box.x1 / fit.by_x}),
           .score = d.score});
  }

  const RunContext& context_;
  ImagePreparation preparation_;
  ImagePrediction prediction_;
  DetectionDataset dataset_;
  DetectionSource source_;
  std::vector<std::size_t> batch_;  // images of the batch that was loaded last
  std::vector<std::map<std::size_t, std::vector<BoxCandidate>>> candidates_;  // by sample of the batch, by core
  std::mutex taking_;
  std::set<std::int64_t> evaluated_;  // images
  std::vector<ScoredBox> found_;
  std::vector<std::pair<double, double>> parts_;  // of the loss, by batch
};

}  // namespace

std::unique_ptr<RunEvaluation> evaluate_images(const EvaluateImagesOptions& options, const TrainedRun& run,
                                               const RunContext& context) {
  return std::make_unique<ImageEvaluation>(options, run, context);
}

}  // namespace voxshard
