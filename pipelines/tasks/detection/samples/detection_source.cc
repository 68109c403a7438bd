#include "pipelines/tasks/detection/samples/detection_source.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "pipelines/tasks/augmentation/sample_draws.h"
#include "pipelines/tasks/detection/samples/image_memory.h"
#include "pipelines/tasks/epoch_order.h"

namespace voxshard {
namespace {

/// An object that the border of a part cuts is a target when at least this share of its area is left; of a rotated one
/// the area of its hull. Others: SSD (Liu et al. 2016) keeps an object whose centre is left, YOLOv5 one of which more
/// than a tenth is.
constexpr double kLeastVisible = 0.25;

/// The random numbers of one sample, at fixed indices so that a new one does not shift the others.
enum Draw : std::uint64_t { kPlaceY, kPlaceX, kForeground, kObject, kDraws = 8 };

/// Chooses the crop of an image that is larger than `canvas`: at random, or so that an object's centre is inside.
ImagePart choose_part(const AugmentedImage& image, const Dims& canvas, double foreground, const SampleDraws& draws) {
  const Shape& shape = image.pixels.shape();
  ImagePart part;
  const CocoBox* object = nullptr;
  if (!image.boxes.empty() && draws.happens(kForeground, foreground))
    object = &image.boxes[draws.below(kObject, std::ssize(image.boxes))].box;
  for (int a = 0; a < 2; ++a) {
    part.extent.push_back(std::min(canvas[a], shape[a]));
    const std::int64_t room = shape[a] - part.extent[a];
    std::int64_t low = 0, high = room;
    if (object != nullptr) {
      const double middle = a == 0 ? object->y + object->height / 2 : object->x + object->width / 2;
      low = std::clamp<std::int64_t>(static_cast<std::int64_t>(middle) - part.extent[a] + 1, 0, room);
      high = std::clamp<std::int64_t>(static_cast<std::int64_t>(middle), low, room);
    }
    part.begin[a] = low + draws.below(a == 0 ? kPlaceY : kPlaceX, high - low + 1);
  }
  return part;
}

Tensor cut(const Tensor& pixels, const ImagePart& part) {
  if (Dims{pixels.shape()[0], pixels.shape()[1]} == part.extent) return pixels;
  Tensor made(DType::kF32, {part.extent[0], part.extent[1], 3});
  copy(pixels.view().sub({{part.begin[0], part.begin[1], 0}, made.shape()}),
       dense_view(made.data(), DType::kF32, {{part.begin[0], part.begin[1], 0}, made.shape()}));
  return made;
}

/// Returns a box of the image in pixels of a sample that shows a part of it.
CocoBox box_in_part(const CocoBox& box, const ImagePart& part, double degrees) {
  if (degrees != 0) return coco_box(rotated_box(pixel_box(box), part, degrees));
  return {.x = box.x - static_cast<double>(part.begin[1]),
          .y = box.y - static_cast<double>(part.begin[0]),
          .width = box.width,
          .height = box.height};
}

}  // namespace

DetectionSource::DetectionSource(std::vector<DetectionImage> images, ImagePreparation preparation,
                                 const ImageSampling& sampling, const Detector& detector, std::uint64_t seed)
    : images_(std::move(images)),
      preparation_(std::move(preparation)),
      sampling_(sampling),
      detector_(detector),
      seed_(seed),
      reader_({.most_pixels = sampling.most_pixels}) {
  if (images_.empty())
    throw Error(ErrorKind::kNoCase,
                "[train] no picture is left to train on; give more, hold fewer out, or use {fold} all");
  for (DetectionImage& image : images_)
    std::erase_if(image.boxes, [](const TrueBox& box) { return box.crowd || box.ignore; });
}

Dims DetectionSource::canvas(std::size_t image) const {
  if (!sampling_.output_size.empty()) return sampling_.output_size;
  if (!sampling_.crop.empty()) return sampling_.crop;
  return padded_size({images_[image].height, images_[image].width}, sampling_.pad_multiple);
}

Shape DetectionSource::largest_extents(std::int64_t batch) const {
  Dims largest = canvas(0);
  for (std::size_t i = 1; i < images_.size(); ++i) {
    const Dims size = canvas(i);
    if (batch == 1 && element_count(size) > element_count(largest)) largest = size;
    for (int a = 0; batch > 1 && a < 2; ++a) largest[a] = std::max(largest[a], size[a]);
  }
  return {batch, largest[0], largest[1]};
}

ProcessPlan DetectionSource::plan(const Shape& extents, int workers) const {
  SampleImages samples{.batch = extents[0],
                       .in_flight = std::min<std::int64_t>(extents[0], workers),
                       .sample_pixels = extents[1] * extents[2],
                       .targets_per_pixel = detector_.targets_per_pixel,
                       .scales = sampling_.augmentation.scales(),
                       .scale = sampling_.augmentation.scale[1],
                       .output_pixels = sampling_.output_size.empty() ? 0 : extents[1] * extents[2]};
  if (sampling_.augmentation.rotation_degrees > 0) {
    samples.rotated_pixels = kept_pixels({extents[1], extents[2]}, 1);
    samples.pieces = sampling_.mosaic > 0 ? 4 : 1;
    samples.rotating_threads = workers;
  }
  for (const DetectionImage& image : images_) {
    samples.image_pixels = std::max(samples.image_pixels, image.height * image.width);
    samples.frames += image_address(image.file).frame.has_value();
  }
  return sample_images_plan(samples);
}

std::int64_t DetectionSource::sizes() const {
  std::set<Dims> sizes;
  for (std::size_t i = 0; i < images_.size(); ++i) sizes.insert(canvas(i));
  return static_cast<std::int64_t>(sizes.size());
}

std::int64_t DetectionSource::boxes() const {
  std::int64_t count = 0;
  for (const DetectionImage& image : images_) count += std::ssize(image.boxes);
  return count;
}

std::vector<Aspect> DetectionSource::box_sizes() const {
  const ImageAugmentation& a = sampling_.augmentation;
  std::vector<double> factors = {a.scale[0]};
  if (a.scale[1] > a.scale[0]) {
    factors.clear();
    for (const double share : {1.0 / 6, 0.5, 5.0 / 6})
      factors.push_back(a.scale[0] * std::pow(a.scale[1] / a.scale[0], share));
  }
  std::vector<Aspect> sizes;
  for (const DetectionImage& image : images_) {
    const Fit fit =
        sampling_.output_size.empty() ? Fit{} : fit_into({image.height, image.width}, sampling_.output_size);
    for (const TrueBox& box : image.boxes)
      for (const double factor : factors)
        if (box.box.area() > 0)
          sizes.push_back({box.box.height * fit.by_y * factor, box.box.width * fit.by_x * factor});
  }
  return sizes;
}

DetectionSource::Sample DetectionSource::load_one(const Drawn& drawn) const {
  Sample made;
  const std::vector<MosaicTile> tiles =
      sample_tiles({.probability = sampling_.mosaic, .seed = seed_, .images = images_.size()}, drawn.sample,
                   drawn.image, canvas(drawn.image));
  for (std::size_t i = 0; i < tiles.size(); ++i) add_tile(tiles[i], drawn.sample, static_cast<int>(i), made);
  return made;
}

void DetectionSource::add_tile(const MosaicTile& tile, std::int64_t sample, int number, Sample& made) const {
  const DetectionImage& image = images_[tile.image];
  const std::int64_t epoch = sample / static_cast<std::int64_t>(images_.size());
  AugmentedImage changed =
      augment_image({reader_.read(image.file, {.dtype = DType::kF32}), image.boxes}, sampling_.augmentation,
                    {.seed = seed_, .image = tile.image, .epoch = static_cast<std::uint64_t>(epoch), .part = number},
                    sampling_.output_size);
  const ImagePart part =
      choose_part(changed, tile.extent, sampling_.foreground,
                  {{seed_, rng_stream(stream_of_part("crop", number))}, static_cast<std::uint64_t>(sample) * kDraws});
  const std::int64_t y = tile.begin[0], x = tile.begin[1];
  if (changed.degrees != 0) {
    const SpatialMap map = map_of_part(part, {.degrees = changed.degrees})
                               .on_lattice({1, 1, 1}, {-static_cast<double>(y), -static_cast<double>(x), 0});
    made.pieces.push_back(moved_piece(normalised(std::move(changed.pixels), preparation_),
                                      {{y, x, 0}, {part.extent[0], part.extent[1], 3}}, map));
  } else {
    made.pieces.push_back(unmoved_piece(normalised(cut(changed.pixels, part), preparation_), y, x));
  }
  for (TrueBox box : changed.boxes) {
    box.box = box_in_part(box.box, part, changed.degrees);
    const auto visible = clipped_to_image(box, part.extent[1], part.extent[0]);
    if (!visible || visible->box.area() < kLeastVisible * box.box.area()) continue;
    CocoBox in_sample = visible->box;
    in_sample.y += static_cast<double>(y), in_sample.x += static_cast<double>(x);
    made.objects.push_back({pixel_box(in_sample), detector_.first_class + box.category});
  }
}

Shape DetectionSource::load(std::int64_t step, std::int64_t batch, WorkerPool& pool) {
  std::vector<Drawn> drawn;
  for (std::int64_t sample = step * batch; sample < (step + 1) * batch; ++sample)
    drawn.push_back({item_of(seed_, sample, images_.size()), sample});
  return load(drawn, pool);
}

Shape DetectionSource::load_images(std::span<const std::size_t> images, WorkerPool& pool) {
  std::vector<Drawn> drawn;
  for (const std::size_t image : images) drawn.push_back({image, static_cast<std::int64_t>(image)});
  return load(drawn, pool);
}

Shape DetectionSource::extents_of(std::span<const std::size_t> images) const {
  Dims extents{0, 0};
  for (const std::size_t image : images) {
    const Dims size = canvas(image);
    for (int a = 0; a < 2; ++a) extents[a] = std::max(extents[a], size[a]);
  }
  return {std::ssize(images), extents[0], extents[1]};
}

Shape DetectionSource::load(const std::vector<Drawn>& batch, WorkerPool& pool) {
  std::vector<std::size_t> images;
  for (const Drawn& drawn : batch) images.push_back(drawn.image);
  const Shape extents = extents_of(images);
  samples_.assign(batch.size(), {});
  pool.run(std::ssize(batch), [&](std::int64_t i, int) {
    if (i < begin_ || i >= end_) return;
    Sample& sample = samples_[i];
    sample = load_one(batch[i]);
    sample.targets = detector_.targets({extents[1], extents[2]}, sample.objects);
  });
  return extents;
}

/// Returns the targets for an input of a level; null for the image input.
const Tensor* DetectionSource::targets_of(const Sample& sample, const InputInfo& input) {
  const auto level = [&](int l) -> const LevelTargets& {
    const auto found = std::ranges::find(sample.targets.levels, l, &LevelTargets::level);
    ensure(found != sample.targets.levels.end(), "a detector has targets for all of its inputs");
    return *found;
  };
  if (const auto* classes = std::get_if<input::ClassTargets>(&input)) return &level(classes->level).classes;
  if (const auto* boxes = std::get_if<input::BoxTargets>(&input)) return &level(boxes->level).boxes;
  ensure(std::holds_alternative<input::Image>(input), "pictures feed an image and targets");
  return nullptr;
}

void DetectionSource::fill(const InputInfo& input, const TensorView& box) const {
  for (std::int64_t n = box.box.begin[0]; n < box.box.end(0); ++n) {
    const Sample& sample = samples_[n];
    const Tensor* targets = targets_of(sample, input);
    if (targets == nullptr) {
      ensure(!sample.pieces.empty(), "a sample that is filled was loaded");
      place_pieces(sample.pieces, n, box);
      continue;
    }
    Box whole = Box::whole(targets->shape()), one = box.box;
    whole.begin[0] = n;
    one.set(0, n, n + 1);
    copy(dense_view(targets->data(), targets->dtype(), whole).sub(one), box.sub(one));
  }
}

}  // namespace voxshard
