#include "pipelines/tasks/segmentation/samples/sample_source.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "libcore/base/rng.h"
#include "pipelines/tasks/epoch_order.h"

namespace voxshard {
namespace {

/// The random numbers of one sample, at fixed indices so that a new one does not shift the others.
enum Draw : std::uint64_t {
  kForeground,
  kClass,
  kVoxel,
  kPlaceD,
  kPlaceH,
  kPlaceW,
  kFlipD,
  kFlipH,
  kFlipW,
  kScale,
  kDraws = 16
};

/// Returns a stream of random numbers of a channel: the first has the plain name.
std::uint64_t stream_of(const std::string& name, std::size_t channel) {
  return rng_stream(channel == 0 ? name : name + "/" + std::to_string(channel));
}

float air_of_channel(const PreparePlan& plan) {
  if (plan.normalise == Normalise::kWindow) return -1;
  if (plan.normalise == Normalise::kCt)
    return static_cast<float>(((plan.clip_hu ? plan.clip_hu->low : -1000.0) - plan.mean_hu) / plan.std_hu);
  return 0;
}

}  // namespace

std::vector<float> air_values(const PreparePlan& plan) {
  std::vector<float> air;
  for (std::size_t c = 0; c < plan.channels.size(); ++c) air.push_back(air_of_channel(plan.of_channel(c)));
  return air;
}

ValueRange value_range(const PreparePlan& plan) {
  if (plan.normalise == Normalise::kWindow) return {-1, 1};
  if (plan.normalise == Normalise::kCt && plan.clip_hu)
    return {(plan.clip_hu->low - plan.mean_hu) / plan.std_hu, (plan.clip_hu->high - plan.mean_hu) / plan.std_hu};
  if (plan.normalise != Normalise::kNone) return {};
  return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
}

SampleSource::SampleSource(const PreparedDataset& dataset, std::vector<std::size_t> cases, SamplingOptions options)
    : options_(options), air_(air_values(dataset.plan)), unknown_(dataset.plan.ignore_label.value_or(-1)) {
  if (cases.empty())
    throw Error(ErrorKind::kNoCase, "[train] no case is left to train on; prepare more, or use {fold} all");
  for (std::size_t c = 0; c < air_.size(); ++c) ranges_.push_back(value_range(dataset.plan.of_channel(c)));
  for (std::size_t index : cases) {
    const PreparedCase& item = dataset.cases[index];
    std::vector<MappedVolume> images;
    for (const std::filesystem::path& image : item.images) images.push_back(MappedVolume::open(image));
    volumes_.push_back({std::move(images), MappedVolume::open(item.label),
                        load_foreground(item, dataset.plan.classes()), !item.annotated.has_value()});
    for (const MappedVolume& image : volumes_.back().images)
      if (image.shape() != volumes_.back().shape())
        throw Error(ErrorKind::kInput, "E_SHAPE",
                    "[" + item.id + "] image and label have other shapes; run `voxshard prepare` again");
  }
}

Dims SampleSource::sample_size(std::size_t item) const {
  if (!options_.crop.empty()) return options_.crop;
  Dims size;
  for (auto extent : volumes_[item].shape())
    size.push_back(ceil_div(extent, options_.pad_multiple) * options_.pad_multiple);
  return size;
}

Shape SampleSource::largest_extents(std::int64_t batch_size) const {
  Dims largest = sample_size(0);
  for (std::size_t i = 1; i < volumes_.size(); ++i) {
    const Dims size = sample_size(i);
    if (batch_size == 1 && element_count(size) > element_count(largest)) largest = size;
    for (int a = 0; batch_size > 1 && a < 3; ++a) largest[a] = std::max(largest[a], size[a]);
  }
  return {batch_size, largest[0], largest[1], largest[2]};
}

Sample SampleSource::sample(std::int64_t index) const {
  const RngKey key{options_.seed, rng_stream("sample")};
  const std::uint64_t base = static_cast<std::uint64_t>(index) * kDraws;
  Sample s{.number = static_cast<std::uint64_t>(index)};
  s.item = item_of(options_.seed, index, volumes_.size());
  const Volumes& v = volumes_[s.item];
  const Shape shape = v.shape();
  for (std::size_t a = 0; a < 3; ++a) s.mirrored[a] = options_.flip[a] && rng_uniform(key, base + kFlipD + a) < 0.5;
  s.size = sample_size(s.item);
  if (options_.crop.empty()) {
    for (int a = 0; a < 3; ++a) s.begin[static_cast<std::size_t>(a)] = -((s.size[a] - shape[a]) / 2);
    return s;
  }
  std::array<std::int64_t, 3> centre{};
  for (int a = 0; a < 3; ++a)
    centre[static_cast<std::size_t>(a)] = rng_below(key, base + kPlaceD + static_cast<std::uint64_t>(a), shape[a]);
  std::vector<const Tensor*> present;
  for (const Tensor& voxels : v.foreground.by_class)
    if (!voxels.empty() && voxels.shape()[0] > 0) present.push_back(&voxels);
  if (!present.empty() && (!v.complete || rng_uniform(key, base + kForeground) < options_.foreground)) {
    const Tensor& voxels =
        *present[static_cast<std::size_t>(rng_below(key, base + kClass, static_cast<std::int64_t>(present.size())))];
    const std::int64_t row = rng_below(key, base + kVoxel, voxels.shape()[0]);
    for (std::size_t a = 0; a < 3; ++a) centre[a] = voxels.as<std::int32_t>()[row * 3 + static_cast<std::int64_t>(a)];
  }
  for (int a = 0; a < 3; ++a) {
    const std::int64_t room = shape[a] - s.size[a];
    s.begin[static_cast<std::size_t>(a)] =
        room <= 0 ? -((-room) / 2)
                  : std::clamp<std::int64_t>(centre[static_cast<std::size_t>(a)] - s.size[a] / 2, 0, room);
  }
  return s;
}

std::vector<Sample> SampleSource::batch(std::int64_t step, std::int64_t size) const {
  std::vector<Sample> samples;
  for (std::int64_t i = 0; i < size; ++i) samples.push_back(sample(step * size + i));
  for (int a = 0; a < 3; ++a) {  // whole volumes of one batch share the largest extents
    std::int64_t widest = 0;
    for (const Sample& s : samples) widest = std::max(widest, s.size[a]);
    for (Sample& s : samples) {
      s.begin[static_cast<std::size_t>(a)] -= (widest - s.size[a]) / 2;
      s.size[a] = widest;
    }
  }
  return samples;
}

Shape SampleSource::extents(std::span<const Sample> batch) const {
  const Dims& size = batch.front().size;
  return {static_cast<std::int64_t>(batch.size()), size[0], size[1], size[2]};
}

void SampleSource::prefetch(std::span<const Sample> batch) const {
  for (const Sample& s : batch) {
    const Volumes& v = volumes_[s.item];
    const Box read = place_change(s).moves() ? map(s).sources({{0, 0, 0}, s.size})
                                             : Box{{s.begin[0], s.begin[1], s.begin[2]}, s.size};
    const Box crop = intersect(read, Box::whole(v.shape()));
    for (const MappedVolume& image : v.images) image.will_need(crop);
    v.label.will_need(crop);
  }
}

void SampleSource::done_with(std::span<const Sample> batch) const {
  for (const Sample& s : batch) {
    for (const MappedVolume& image : volumes_[s.item].images) image.forget();
    volumes_[s.item].label.forget();
  }
}

std::int64_t SampleSource::sizes() const {
  std::set<Shape> sizes;
  for (std::size_t i = 0; i < volumes_.size(); ++i) sizes.insert(sample_size(i));
  return static_cast<std::int64_t>(sizes.size());
}

std::int64_t SampleSource::mapped_bytes(const Shape& extents) const {
  std::int64_t most = 0;
  for (const Volumes& v : volumes_) {
    const Shape shape = v.shape();
    const std::int64_t planes = std::min(shape[0], extents[1]);
    std::int64_t voxel_bytes = v.label.voxel_bytes();
    for (const MappedVolume& image : v.images) voxel_bytes += image.voxel_bytes();
    most = std::max(most, planes * shape[1] * shape[2] * voxel_bytes);
  }
  return extents[0] * most;
}

std::int64_t SampleSource::augmentation_bytes() const {
  std::int64_t most = 0;
  for (const Volumes& v : volumes_)
    most = std::max(most, voxshard::augmentation_bytes(options_.augmentation, v.label.geometry()));
  return most;
}

std::int64_t SampleSource::copied_bytes() const {
  std::int64_t bytes = 0;
  for (const Volumes& v : volumes_) {
    bytes += v.label.copied_bytes();
    for (const MappedVolume& image : v.images) bytes += image.copied_bytes();
  }
  return bytes;
}

void SampleSource::fill(std::span<const Sample> batch, const InputInfo& input, const TensorView& box) const {
  const auto* labels = std::get_if<input::Labels>(&input);
  ensure(labels != nullptr || std::holds_alternative<input::Image>(input), "volumes feed an image and labels");
  for (std::int64_t n = box.box.begin[0]; n < box.box.end(0); ++n) {
    Box one = box.box;
    one.set(0, n, n + 1);
    const Sample& s = batch[static_cast<std::size_t>(n)];
    if (labels != nullptr) {
      fill_labels(s, static_cast<std::int32_t>(labels->ignored), box.sub(one));
      continue;
    }
    for (std::int64_t c = box.box.begin[4]; c < box.box.end(4); ++c) {
      one.set(4, c, c + 1);
      fill_channel(s, static_cast<std::size_t>(c), box.sub(one));
    }
  }
}

namespace {

/// Mirrors a (D, H, W) tensor along the chosen axes.
template <class T>
void mirror(Tensor& values, const std::array<bool, 3>& axes) {
  if (!axes[0] && !axes[1] && !axes[2]) return;
  const Shape& e = values.shape();
  T* voxels = values.as<T>();
  std::int64_t here = 0;
  for (std::int64_t d = 0; d < e[0]; ++d)
    for (std::int64_t h = 0; h < e[1]; ++h)
      for (std::int64_t w = 0; w < e[2]; ++w, ++here) {
        const std::int64_t there =
            ((axes[0] ? e[0] - 1 - d : d) * e[1] + (axes[1] ? e[1] - 1 - h : h)) * e[2] + (axes[2] ? e[2] - 1 - w : w);
        if (here < there) std::swap(voxels[here], voxels[there]);
      }
}

/// Returns the voxels of a box (D H W of the sample) that is neither turned nor scaled, `outside` around the volume.
template <class T>
Tensor placed_voxels(const MappedVolume& volume, const Sample& s, Box box, T outside) {
  for (int a = 0; a < 3; ++a) {
    const auto i = static_cast<std::size_t>(a);  // a mirrored axis runs from the crop's far end
    box.begin[a] = s.begin[i] + (s.mirrored[i] ? s.size[a] - box.end(a) : box.begin[a]);
  }
  Tensor values = read_padded(volume, box, outside);
  mirror<T>(values, s.mirrored);
  return values;
}

/// Calls body(tile, its box D H W) for the tiles of a box (1, D, H, W, 1), or once for the whole box.
template <class Body>
void each_tile(const TensorView& box, bool tiled, const Body& body) {
  Dims size{box.box.extent[1], box.box.extent[2], box.box.extent[3]};
  for (int a = 0; tiled && a < 3; ++a) size[a] = std::min(size[a], kAugmentationTile[static_cast<std::size_t>(a)]);
  Box tile = box.box;
  for (std::int64_t d = box.box.begin[1]; d < box.box.end(1); d += size[0])
    for (std::int64_t h = box.box.begin[2]; h < box.box.end(2); h += size[1])
      for (std::int64_t w = box.box.begin[3]; w < box.box.end(3); w += size[2]) {
        tile.set(1, d, std::min(d + size[0], box.box.end(1)));
        tile.set(2, h, std::min(h + size[1], box.box.end(2)));
        tile.set(3, w, std::min(w + size[2], box.box.end(3)));
        body(box.sub(tile), Box{{d, h, w}, {tile.extent[1], tile.extent[2], tile.extent[3]}});
      }
}

/// Calls body(index of the voxel in the tile, its place in the sample, its offset in the view) for each voxel of a
/// tile.
template <class Body>
void each_voxel(const TensorView& tile, const Sample& s, const Body& body) {
  const Box& b = tile.box;
  std::int64_t voxel = 0;
  for (std::int64_t d = 0; d < b.extent[1]; ++d)
    for (std::int64_t h = 0; h < b.extent[2]; ++h)
      for (std::int64_t w = 0; w < b.extent[3]; ++w, ++voxel)
        body(voxel, ((b.begin[1] + d) * s.size[1] + b.begin[2] + h) * s.size[2] + b.begin[3] + w,
             d * tile.strides[1] + h * tile.strides[2] + w * tile.strides[3]);
}

}  // namespace

double SampleSource::scale(const Sample& s, std::size_t channel) const {
  const double normal = rng_normal({options_.seed, stream_of("scale", channel)}, s.number * kDraws + kScale);
  return 1 + options_.intensity_scale * std::clamp(normal, -3.0, 3.0);
}

PlaceChange SampleSource::place_change(const Sample& s) const {
  return draw_place(options_.augmentation, options_.seed, s.number, volumes_[s.item].label.geometry());
}

SpatialMap SampleSource::map(const Sample& s) const {
  return place_map(place_change(s), {.begin = s.begin, .size = s.size, .mirrored = s.mirrored},
                   volumes_[s.item].label.geometry());
}

void SampleSource::fill_channel(const Sample& s, std::size_t channel, const TensorView& box) const {
  const Volumes& v = volumes_[s.item];
  const ValueChange change = draw_values(options_.augmentation, options_.seed, s.number, channel, v.label.geometry());
  const SpatialMap place = map(s);
  const bool mixes = place_change(s).moves() || change.mixes_voxels();
  const RngKey key{options_.seed + s.number * 0x9e3779b97f4a7c15ULL, stream_of("noise", channel)};
  const double factor = scale(s, channel) * change.brightness, noise = std::hypot(options_.noise, change.noise);
  each_tile(box, mixes, [&](const TensorView& tile, const Box& at) {
    const Tensor values = mixes ? mixed_values(v.images.at(channel), place, change, at, air_[channel])
                                : placed_voxels(v.images.at(channel), s, at, air_[channel]);
    each_voxel(tile, s, [&](std::int64_t voxel, std::int64_t in_sample, std::int64_t offset) {
      double x = changed_value(values.as<float>()[voxel], change, ranges_[channel]) * factor;
      if (noise > 0) x += noise * rng_normal(key, static_cast<std::uint64_t>(in_sample));
      store(tile, offset, x);
    });
  });
}

void SampleSource::fill_labels(const Sample& s, std::int32_t ignored, const TensorView& box) const {
  const Volumes& v = volumes_[s.item];
  const bool moves = place_change(s).moves();
  const SpatialMap place = map(s);
  each_tile(box, moves, [&](const TensorView& tile, const Box& at) {
    const Tensor values = moves ? warp_labels(v.label, place, at, ignored) : placed_voxels(v.label, s, at, ignored);
    each_voxel(tile, s, [&](std::int64_t voxel, std::int64_t, std::int64_t offset) {
      const std::int32_t label = values.as<std::int32_t>()[voxel];
      const bool is_unknown = label == unknown_ || (label == 0 && !v.complete);
      store(tile, offset, is_unknown ? ignored : label);
    });
  });
}

}  // namespace voxshard
