#include "pipelines/tasks/detection/samples/detection_source.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "libcore/base/rng.h"
#include "pipelines/tasks/detection/samples/image_memory.h"
#include "pipelines/tasks/epoch_order.h"
#include "pipelines/tasks/place_sample.h"

namespace voxshard {
namespace {

/// An object that a crop cuts is a target when at least this share of its area is left.
constexpr double kLeastVisible = 0.25;

/// The random numbers of one sample, at fixed indices so that a new one does not shift the others.
enum Draw : std::uint64_t { kPlaceY, kPlaceX, kForeground, kObject, kDraws = 8 };

/// A part of an image.
struct Part {
  std::array<std::int64_t, 2> begin{};  // y x
  Dims size;                            // H W
};

/// Chooses the crop of an image that is larger than `canvas`: at random, or so that an object's centre is inside.
Part choose_part(const AugmentedImage& image, const Dims& canvas, double foreground, const RngKey& key,
                 std::uint64_t draw) {
  const Shape& shape = image.pixels.shape();
  Part part;
  const CocoBox* object = nullptr;
  if (!image.boxes.empty() && rng_uniform(key, draw + kForeground) < foreground)
    object = &image
                  .boxes[static_cast<std::size_t>(
                      rng_below(key, draw + kObject, static_cast<std::int64_t>(image.boxes.size())))]
                  .box;
  for (int a = 0; a < 2; ++a) {
    part.size.push_back(std::min(canvas[a], shape[a]));
    const std::int64_t room = shape[a] - part.size[a];
    std::int64_t low = 0, high = room;
    if (object != nullptr) {
      const double middle = a == 0 ? object->y + object->height / 2 : object->x + object->width / 2;
      low = std::clamp<std::int64_t>(static_cast<std::int64_t>(middle) - part.size[a] + 1, 0, room);
      high = std::clamp<std::int64_t>(static_cast<std::int64_t>(middle), low, room);
    }
    part.begin[static_cast<std::size_t>(a)] = low + rng_below(key, draw + (a == 0 ? kPlaceY : kPlaceX), high - low + 1);
  }
  return part;
}

Tensor cut(const Tensor& pixels, const Part& part) {
  if (Dims{pixels.shape()[0], pixels.shape()[1]} == part.size) return pixels;
  Tensor made(DType::kF32, {part.size[0], part.size[1], 3});
  copy(pixels.view().sub({{part.begin[0], part.begin[1], 0}, made.shape()}),
       dense_view(made.data(), DType::kF32, {{part.begin[0], part.begin[1], 0}, made.shape()}));
  return made;
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
  if (!sampling_.augmentation.output_size.empty()) return sampling_.augmentation.output_size;
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
                       .scale = sampling_.augmentation.scale[1],
                       .output_pixels = sampling_.augmentation.output_size.empty() ? 0 : extents[1] * extents[2]};
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
    const Fit fit = a.output_size.empty() ? Fit{} : fit_into({image.height, image.width}, a.output_size);
    for (const TrueBox& box : image.boxes)
      for (const double factor : factors)
        if (box.box.area() > 0)
          sizes.push_back({box.box.height * fit.by_y * factor, box.box.width * fit.by_x * factor});
  }
  return sizes;
}

DetectionSource::Sample DetectionSource::load_one(const Drawn& drawn) const {
  const auto [index, sample] = drawn;
  const DetectionImage& image = images_[index];
  const auto count = static_cast<std::int64_t>(images_.size());
  const AugmentedImage changed =
      augment_image({reader_.read(image.file, {.dtype = DType::kF32}), image.boxes}, sampling_.augmentation,
                    {.seed = seed_, .image = index, .epoch = static_cast<std::uint64_t>(sample / count)});
  const Part part = choose_part(changed, canvas(index), sampling_.foreground, {seed_, rng_stream("crop")},
                                static_cast<std::uint64_t>(sample) * kDraws);
  Sample made{.pixels = normalised(cut(changed.pixels, part), preparation_)};
  for (TrueBox box : changed.boxes) {
    const double area = box.box.area();
    box.box.y -= static_cast<double>(part.begin[0]);
    box.box.x -= static_cast<double>(part.begin[1]);
    const auto visible = clipped_to_image(box, part.size[1], part.size[0]);
    if (visible && visible->box.area() >= kLeastVisible * area)
      made.objects.push_back({pixel_box(visible->box), detector_.first_class + box.category});
  }
  return made;
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
    Sample& sample = samples_[static_cast<std::size_t>(i)];
    sample = load_one(batch[static_cast<std::size_t>(i)]);
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
    const Sample& sample = samples_[static_cast<std::size_t>(n)];
    const Tensor* targets = targets_of(sample, input);
    if (targets == nullptr) {
      place_sample(sample.pixels, n, box);
      continue;
    }
    Box whole = Box::whole(targets->shape()), one = box.box;
    whole.begin[0] = n;
    one.set(0, n, n + 1);
    copy(dense_view(targets->data(), targets->dtype(), whole).sub(one), box.sub(one));
  }
}

}  // namespace voxshard
