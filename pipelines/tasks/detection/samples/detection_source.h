// The samples of a training step of a detector: the images, their augmentation and crop, and the targets of each
// anchor. A pure function of the seed and the step, so that a resumed run continues with the same samples; each core
// fills only its own box.
//
//   DetectionSource source(set.images, preparation, {.crop = {256, 256}}, detector, 1);
//   Shape extents = source.load(step, 4, pool);                               // (4, 256, 256)
//   trainer.step(extents, [&](auto& input, auto& box) { source.fill(input.input, box); });
#pragma once

#include <limits>
#include <span>

#include "io/image/image_reader.h"
#include "libcore/base/parallel.h"
#include "libcore/models/detector.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/tasks/augmentation/image_pieces.h"
#include "pipelines/tasks/detection/samples/augment_image.h"
#include "pipelines/tasks/detection/samples/image_preparation.h"
#include "pipelines/tasks/detection/samples/mosaic.h"

namespace voxshard {

struct ImageSampling {
  Dims crop;                               // H W; empty: whole images
  double foreground = 0.7;                 // share of crops that hold the centre of a random object, before a rotation
  std::int64_t pad_multiple = 32;          // whole images: extents are rounded up to it
  std::int64_t most_pixels = kMostPixels;  // of an image or frame; larger ones are left out
  ImageAugmentation augmentation{.mirror = 0.5};
  Dims output_size = {};  // H W that every image is scaled to fit into at scale 1, long side first; empty: none
  double mosaic = 0;      // share of samples that show parts of four images (mosaic.h)
};

class DetectionSource {
 public:
  /// Errors: kNoCase when there is no image.
  DetectionSource(std::vector<DetectionImage> images, ImagePreparation preparation, const ImageSampling& sampling,
                  const Detector& detector, std::uint64_t seed);

  /// Returns N and the extents of the largest possible batch.
  Shape largest_extents(std::int64_t batch) const;
  /// Returns the memory of load(): used during the call and kept after it. Images that are scaled or cropped count as
  /// the largest.
  ProcessPlan plan(const Shape& extents, int workers) const;
  /// Returns the number of different extents of whole images; 1 for crops.
  std::int64_t sizes() const;
  /// Returns the number of boxes that train: neither crowds nor to be ignored.
  std::int64_t boxes() const;
  /// Returns the heights and widths of all boxes in pixels of a step's samples. Where `scale` is random, each box
  /// counts at three of its factors, as likely ones as others. Boxes that a crop cuts count whole, rotated ones as they
  /// are in the image.
  std::vector<Aspect> box_sizes() const;
  /// Makes the targets of the following samples with this detector.
  void take(const Detector& detector) { detector_ = detector; }
  /// Changes the following samples so.
  void take(const ImageAugmentation& augmentation) { sampling_.augmentation = augmentation; }
  /// See TrainingTask::share().
  void share(std::int64_t begin, std::int64_t end) { begin_ = begin, end_ = end; }
  /// Reads and prepares the samples of a step, each in one job of the pool, and returns their extents: the largest of
  /// the batch, to which the others are padded. Each epoch visits all images in a new order. Errors: kInput names an
  /// image that cannot be read.
  Shape load(std::int64_t step, std::int64_t batch, WorkerPool& pool);
  /// Does the same for the images with these indices, as in the first epoch.
  Shape load_images(std::span<const std::size_t> images, WorkerPool& pool);
  Shape extents_of(std::span<const std::size_t> images) const;
  /// Fills `box` of the image or of a level's targets from the loaded samples; of a rotated image the pixels of `box`
  /// alone are interpolated. Threads: any number at once.
  void fill(const InputInfo& input, const TensorView& box) const;

 private:
  struct Sample {
    std::vector<ImagePiece> pieces;
    std::vector<ObjectBox> objects;
    ImageTargets targets;
  };
  /// An image and its sample number, which determines all random choices.
  struct Drawn {
    std::size_t image = 0;
    std::int64_t sample = 0;
  };
  Dims canvas(std::size_t image) const;
  static const Tensor* targets_of(const Sample& sample, const InputInfo& input);
  Shape load(const std::vector<Drawn>& batch, WorkerPool& pool);
  Sample load_one(const Drawn& drawn) const;
  /// Reads the image of a tile, and adds what it shows and the objects in it. `number` counts the tiles of the sample.
  void add_tile(const MosaicTile& tile, std::int64_t sample, int number, Sample& made) const;

  std::vector<DetectionImage> images_;
  ImagePreparation preparation_;
  ImageSampling sampling_;
  Detector detector_;
  std::uint64_t seed_;
  ImageReader reader_;
  std::vector<Sample> samples_;                                              // samples of the step that was loaded last
  std::int64_t begin_ = 0, end_ = std::numeric_limits<std::int64_t>::max();  // range of a step's samples that are read
};

}  // namespace voxshard
