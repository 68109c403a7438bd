#include "pipelines/tasks/segmentation/samples/sample_source.h"

#include <algorithm>
#include <set>

#include "io/datasets/annotated.h"
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
  kCase,
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

SampleSource::SampleSource(const PreparedDataset& dataset, std::vector<std::size_t> cases, SamplingOptions options)
    : options_(options), air_(air_values(dataset.plan)), unknown_(dataset.plan.ignore_label.value_or(-1)) {
  if (cases.empty())
    throw Error(ErrorKind::kNoCase, "[train] no case is left to train on; prepare more, or use {fold} all");
  for (std::size_t index : cases) {
    const PreparedCase& item = dataset.cases[index];
    std::vector<MappedVolume> images;
    for (const std::filesystem::path& image : item.images) images.push_back(MappedVolume::open(image));
    volumes_.push_back({std::move(images), MappedVolume::open(item.label),
                        load_foreground(item, dataset.plan.classes()), item.annotated});
    for (const MappedVolume& image : volumes_.back().images)
      if (image.shape() != volumes_.back().shape())
        throw Error(ErrorKind::kInput, "E_SHAPE",
                    "[" + item.id + "] image and label have other shapes; run `voxshard prepare` again");
    find_classes(volumes_.size() - 1);
  }
}

void SampleSource::find_classes(std::size_t item) {
  Volumes& v = volumes_[item];
  cases_of_.resize(v.foreground.by_class.size());
  for (std::size_t c = 1; c < cases_of_.size(); ++c) {
    const Tensor& voxels = v.foreground.by_class[c];
    if (voxels.empty() || voxels.shape()[0] == 0 || !is_annotated(v.annotated, static_cast<int>(c))) continue;
    v.present.push_back(static_cast<int>(c));
    cases_of_[c].push_back(item);
  }
  present_.clear();
  for (std::size_t c = 1; c < cases_of_.size(); ++c)
    if (!cases_of_[c].empty()) present_.push_back(static_cast<int>(c));
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

Sample SampleSource::sample(std::int64_t index, std::size_t turn) const {
  const RngKey key{options_.seed, rng_stream("sample")};
  const std::uint64_t base = static_cast<std::uint64_t>(index) * kDraws;
  const auto below = [&](Draw draw, std::int64_t count) { return rng_below(key, base + draw, count); };
  Sample s{.item = turn, .number = static_cast<std::uint64_t>(index)};
  const bool crops = !options_.crop.empty();
  const bool only_classes = !volumes_[turn].complete() && !options_.merge;  // the background is ignored
  const bool on_class = crops && rng_uniform(key, base + kForeground) < options_.foreground;
  const bool of_set = on_class && options_.crops == CropsOn::kSet && !present_.empty();
  const std::vector<int>& classes = of_set ? present_ : volumes_[turn].present;
  if (crops && !classes.empty() && (on_class || only_classes))
    s.drawn_on = classes[static_cast<std::size_t>(below(kClass, std::ssize(classes)))];
  if (of_set) {
    const std::vector<std::size_t>& having = cases_of_[static_cast<std::size_t>(s.drawn_on)];
    s.item = having[static_cast<std::size_t>(below(kCase, std::ssize(having)))];
  }
  const Volumes& v = volumes_[s.item];
  const Shape shape = v.shape();
  for (std::size_t a = 0; a < 3; ++a) s.mirrored[a] = options_.flip[a] && rng_uniform(key, base + kFlipD + a) < 0.5;
  s.size = sample_size(s.item);
  if (!crops) {
    for (int a = 0; a < 3; ++a) s.begin[static_cast<std::size_t>(a)] = -((s.size[a] - shape[a]) / 2);
    return s;
  }
  std::array<std::int64_t, 3> centre{};
  for (int a = 0; a < 3; ++a)
    centre[static_cast<std::size_t>(a)] = rng_below(key, base + kPlaceD + static_cast<std::uint64_t>(a), shape[a]);
  if (s.drawn_on > 0) {
    const Tensor& voxels = v.foreground.by_class[static_cast<std::size_t>(s.drawn_on)];
    const std::int64_t row = below(kVoxel, voxels.shape()[0]);
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

std::vector<std::int64_t> SampleSource::drawn_on(std::int64_t samples) const {
  std::vector<std::int64_t> counts(cases_of_.size(), 0);
  EpochOrder order(options_.seed, volumes_.size());
  for (std::int64_t i = 0; i < samples; ++i) ++counts[static_cast<std::size_t>(sample(i, order.item_of(i)).drawn_on)];
  return counts;
}

std::vector<Sample> SampleSource::batch(std::int64_t step, std::int64_t size) const {
  std::vector<Sample> samples;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t index = step * size + i;
    samples.push_back(sample(index, item_of(options_.seed, index, volumes_.size())));
  }
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
    const Box crop = intersect({{s.begin[0], s.begin[1], s.begin[2]}, s.size}, Box::whole(v.shape()));
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
  const bool known = std::holds_alternative<input::Known>(input);
  ensure(labels != nullptr || known || std::holds_alternative<input::Image>(input),
         "volumes feed an image, labels and the known classes");
  for (std::int64_t n = box.box.begin[0]; n < box.box.end(0); ++n) {
    Box one = box.box;
    one.set(0, n, n + 1);
    const Sample& s = batch[static_cast<std::size_t>(n)];
    if (labels != nullptr) {
      fill_labels(s, *labels, box.sub(one));
      continue;
    }
    for (std::int64_t c = box.box.begin[1]; known && c < box.box.end(1); ++c)
      store(box, (n - box.box.begin[0]) * box.strides[0] + c - box.box.begin[1],
            c == 0 || is_annotated(volumes_[s.item].annotated, static_cast<int>(c)) ? 1 : 0);
    if (known) continue;
    for (std::int64_t c = box.box.begin[4]; c < box.box.end(4); ++c) {
      one.set(4, c, c + 1);
      fill_channel(s, static_cast<std::size_t>(c), box.sub(one));
    }
  }
}

/// Where a box of a sample lies in its volume, and the order of its voxels there.
struct SampleSource::Placed {
  Placed(const Sample& s, const Box& box)
      : source{{0, 0, 0}, {box.extent[1], box.extent[2], box.extent[3]}}, mirrored(s.mirrored) {
    for (int a = 0; a < 3; ++a) {
      const auto i = static_cast<std::size_t>(a);  // a mirrored axis runs from the crop's far end
      source.begin[a] = s.begin[i] + (s.mirrored[i] ? s.size[a] - box.end(a + 1) : box.begin[a + 1]);
    }
  }
  /// Returns the voxels of the box in the volume's order, `outside` around the volume.
  template <class T>
  Tensor read(const MappedVolume& volume, DType type, T outside) const {
    Tensor values(type, source.extent);
    TensorView view = values.view();
    view.box = source;
    std::fill_n(values.as<T>(), values.count(), outside);
    const Box inside = intersect(source, Box::whole(volume.shape()));
    if (!inside.empty()) volume.read_box(inside, view.sub(inside));
    return values;
  }
  /// Calls body(index in read(), d, h, w) for each voxel of the box.
  template <class Body>
  void each(const Body& body) const {
    const Dims& e = source.extent;
    for (std::int64_t d = 0; d < e[0]; ++d)
      for (std::int64_t h = 0; h < e[1]; ++h)
        for (std::int64_t w = 0; w < e[2]; ++w)
          body(((mirrored[0] ? e[0] - 1 - d : d) * e[1] + (mirrored[1] ? e[1] - 1 - h : h)) * e[2] +
                   (mirrored[2] ? e[2] - 1 - w : w),
               d, h, w);
  }
  Box source;  // in the volume's coordinates
  std::array<bool, 3> mirrored;
};

double SampleSource::scale(const Sample& s, std::size_t channel) const {
  const double normal = rng_normal({options_.seed, stream_of("scale", channel)}, s.number * kDraws + kScale);
  return 1 + options_.intensity_scale * std::clamp(normal, -3.0, 3.0);
}

void SampleSource::fill_channel(const Sample& s, std::size_t channel, const TensorView& box) const {
  const Placed placed(s, box.box);
  const Tensor values = placed.read(volumes_[s.item].images.at(channel), DType::kF32, air_[channel]);
  const RngKey key{options_.seed + s.number * 0x9e3779b97f4a7c15ULL, stream_of("noise", channel)};
  const double factor = scale(s, channel);
  placed.each([&](std::int64_t from, std::int64_t d, std::int64_t h, std::int64_t w) {
    double x = values.as<float>()[from] * factor;
    if (options_.noise > 0) {
      const std::int64_t voxel =
          ((box.box.begin[1] + d) * s.size[1] + box.box.begin[2] + h) * s.size[2] + box.box.begin[3] + w;
      x += options_.noise * rng_normal(key, static_cast<std::uint64_t>(voxel));
    }
    store(box, d * box.strides[1] + h * box.strides[2] + w * box.strides[3], x);
  });
}

void SampleSource::fill_labels(const Sample& s, const input::Labels& labels, const TensorView& box) const {
  const auto ignored = static_cast<std::int32_t>(labels.ignored);
  const Placed placed(s, box.box);
  const Volumes& v = volumes_[s.item];
  const Tensor values = placed.read(v.label, DType::kI32, ignored);
  placed.each([&](std::int64_t from, std::int64_t d, std::int64_t h, std::int64_t w) {
    const std::int32_t label = values.as<std::int32_t>()[from];
    const bool is_unknown = label == unknown_ || (label == 0 && !v.complete() && labels.merged == 0);
    store(box, d * box.strides[1] + h * box.strides[2] + w * box.strides[3], is_unknown ? ignored : label);
  });
}

}  // namespace voxshard
