// How the boxes of samples are filled: the second half of SampleSource.
#include <algorithm>
#include <cmath>
#include <utility>

#include "pipelines/tasks/segmentation/samples/sample_source.h"

namespace voxshard {
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

SamplePlace place_of(const Sample& s) { return {.begin = s.begin, .size = s.size, .mirrored = s.mirrored}; }

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

void SampleSource::fill(std::span<const Sample> batch, const InputInfo& input, const TensorView& box) const {
  const auto* labels = std::get_if<input::Labels>(&input);
  const bool known = std::holds_alternative<input::Known>(input);
  ensure(labels != nullptr || known || std::holds_alternative<input::Image>(input),
         "volumes feed an image, labels and the known classes");
  for (std::int64_t n = box.box.begin[0]; n < box.box.end(0); ++n) {
    Box one = box.box;
    one.set(0, n, n + 1);
    const Sample& s = batch[n];
    if (labels != nullptr) {
      fill_labels(s, *labels, box.sub(one));
      continue;
    }
    for (std::int64_t c = box.box.begin[1]; known && c < box.box.end(1); ++c)
      store(box, (n - box.box.begin[0]) * box.strides[0] + c - box.box.begin[1],
            c == 0 || is_known(volumes_[s.item], static_cast<int>(c)) ? 1 : 0);
    if (known) continue;
    for (std::int64_t c = box.box.begin[4]; c < box.box.end(4); ++c) {
      one.set(4, c, c + 1);
      fill_channel(s, static_cast<std::size_t>(c), box.sub(one));
    }
  }
}

std::optional<SpatialMap> SampleSource::moved(const Sample& s) const {
  const Geometry& geometry = volumes_[s.item].label.geometry();
  const PlaceChange change = draw_place(options_.augmentation, options_.seed, s.number, geometry);
  return change.moves() ? std::optional(place_map(change, place_of(s), geometry)) : std::nullopt;
}

void SampleSource::fill_channel(const Sample& s, std::size_t channel, const TensorView& box) const {
  const Volumes& v = volumes_[s.item];
  const Geometry& geometry = v.label.geometry();
  const ValueChange change = draw_values(options_.augmentation, options_.seed, s.number, channel, geometry);
  std::optional<SpatialMap> map = moved(s);
  if (!map && change.mixes_voxels()) map = place_map({}, place_of(s), geometry);
  const RngKey key = noise_key(s, channel);
  const double factor = scale(s, channel) * change.brightness, noise = std::hypot(options_.noise, change.noise);
  each_tile(box, map.has_value(), [&](const TensorView& tile, const Box& at) {
    const Tensor values = map ? mixed_values(v.images.at(channel), *map, change, at, air_[channel])
                              : placed_voxels(v.images.at(channel), s, at, air_[channel]);
    each_voxel(tile, s, [&](std::int64_t voxel, std::int64_t in_sample, std::int64_t offset) {
      double x = changed_value(values.as<float>()[voxel], change, ranges_[channel]) * factor;
      if (noise > 0) x += noise * rng_normal(key, static_cast<std::uint64_t>(in_sample));
      store(tile, offset, x);
    });
  });
}

void SampleSource::fill_labels(const Sample& s, const input::Labels& labels, const TensorView& box) const {
  const auto ignored = static_cast<std::int32_t>(labels.ignored);
  const Volumes& v = volumes_[s.item];
  const std::optional<SpatialMap> map = moved(s);
  const auto is_one_side = [&](int label) {  // of a pair whose other side was not annotated
    const int joined = options_.joined.of(label);
    return labels.merged == 1 && options_.joined.is_joined(joined) && !is_known(v, joined);
  };
  each_tile(box, map.has_value(), [&](const TensorView& tile, const Box& at) {
    const Tensor values = map ? warp_labels(v.label, *map, at, ignored) : placed_voxels(v.label, s, at, ignored);
    each_voxel(tile, s, [&](std::int64_t voxel, std::int64_t, std::int64_t offset) {
      const std::int32_t label = values.as<std::int32_t>()[voxel];
      const bool is_unknown = label == unknown_ || (label == 0 && !v.complete() && labels.merged == 0) ||
                              (label > 0 && !v.complete() && is_one_side(label));
      store(tile, offset, is_unknown ? ignored : options_.joined.of(label));
    });
  });
}

}  // namespace voxshard
