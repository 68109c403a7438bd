#include "pipelines/tasks/segmentation/samples/sample_source.h"

#include <algorithm>
#include <limits>
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
  kSide,
  kDraws = 16
};

/// Returns a stream of random numbers of a channel: the first has the plain name.
std::uint64_t stream_of(const std::string& name, std::size_t channel) {
  return rng_stream(channel == 0 ? name : name + "/" + std::to_string(channel));
}

/// Adds a class of the data to those of its class of the model.
void add_drawn_class(int label, const JoinedClasses& joined, std::vector<std::vector<int>>& classes) {
  const auto own = std::ranges::find_if(
      classes, [&](const std::vector<int>& sides) { return joined.of(sides.front()) == joined.of(label); });
  if (own != classes.end())
    own->push_back(label);
  else
    classes.push_back({label});
}

/// Returns a value of a channel that is normalised by the foreground, as the model sees it.
double normalised_hu(double hu, const PreparePlan& plan) {
  return ((plan.normalise == Normalise::kSoftTissue ? soft_tissue_hu(hu) : hu) - plan.mean_hu) / plan.std_hu;
}

float air_of_channel(const PreparePlan& plan) {
  if (plan.normalise == Normalise::kWindow) return -1;
  if (is_by_foreground(plan.normalise))
    return static_cast<float>(normalised_hu(plan.clip_hu ? plan.clip_hu->low : -1000.0, plan));
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
  if (is_by_foreground(plan.normalise) && plan.clip_hu)
    return {normalised_hu(plan.clip_hu->low, plan), normalised_hu(plan.clip_hu->high, plan)};
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
                        load_foreground(item, dataset.plan.classes()), item.annotated});
    for (const MappedVolume& image : volumes_.back().images)
      if (image.shape() != volumes_.back().shape())
        throw Error(ErrorKind::kInput, "E_SHAPE",
                    "[" + item.id + "] image and label have other shapes; run `voxshard prepare` again");
  }
  find_classes();
}

void SampleSource::set(const SamplingOptions& options, const RunLength& length) {
  options_ = options;
  const std::int64_t whole = std::min(options.whole_steps, length.steps);
  whole_share_ = whole > 0 ? static_cast<double>(whole) / static_cast<double>(length.steps) : 0;
  whole_from_ = whole > 0 ? (length.steps - whole) * length.batch : std::numeric_limits<std::int64_t>::max();
  find_classes();
}

bool SampleSource::is_known(const Volumes& v, int model_class) const {
  const SidePair parts = options_.joined.parts(model_class);
  return is_annotated(v.annotated, parts.left) && is_annotated(v.annotated, parts.right);
}

void SampleSource::find_classes() {
  cases_of_.assign(volumes_.front().foreground.by_class.size(), {});
  for (std::size_t item = 0; item < volumes_.size(); ++item) {
    Volumes& v = volumes_[item];
    v.present.clear();
    for (std::size_t c = 1; c < cases_of_.size(); ++c) {
      const int label = static_cast<int>(c);
      const Tensor& voxels = v.foreground.by_class[c];
      if (voxels.empty() || voxels.shape()[0] == 0 || !is_annotated(v.annotated, label)) continue;
      if (options_.merge && !is_known(v, options_.joined.of(label))) continue;  // its voxels are ignored
      add_drawn_class(label, options_.joined, v.present);
      cases_of_[c].push_back(item);
    }
  }
  present_.clear();
  for (std::size_t c = 1; c < cases_of_.size(); ++c)
    if (!cases_of_[c].empty()) add_drawn_class(static_cast<int>(c), options_.joined, present_);
}

Dims SampleSource::whole_size(std::size_t item) const {
  Dims size;
  for (auto extent : volumes_[item].shape())
    size.push_back(ceil_div(extent, options_.pad_multiple) * options_.pad_multiple);
  return size;
}

Dims SampleSource::sample_size(std::size_t item, bool whole) const {
  if (!whole && !options_.trims) return options_.crop;
  Dims size = whole_size(item);
  for (int a = 0; !whole && a < 3; ++a) size[a] = std::min(size[a], options_.crop[a]);
  return size;
}

double SampleSource::mean_voxels(bool whole) const {
  double sum = 0;
  for (std::size_t i = 0; i < volumes_.size(); ++i) sum += static_cast<double>(element_count(sample_size(i, whole)));
  return sum / static_cast<double>(volumes_.size());
}

double SampleSource::mean_voxels() const {
  if (options_.crop.empty()) return mean_voxels(true);
  return (1 - whole_share_) * mean_voxels(false) + (has_whole() ? whole_share_ * mean_voxels(true) : 0);
}

Shape SampleSource::largest_extents(std::int64_t batch_size, bool whole) const {
  Dims largest = sample_size(0, whole);
  for (std::size_t i = 1; i < volumes_.size(); ++i) {
    const Dims size = sample_size(i, whole);
    if (batch_size == 1 && element_count(size) > element_count(largest)) largest = size;
    for (int a = 0; batch_size > 1 && a < 3; ++a) largest[a] = std::max(largest[a], size[a]);
  }
  return {batch_size, largest[0], largest[1], largest[2]};
}

Shape SampleSource::largest_extents(std::int64_t batch_size) const {
  if (!has_crops()) return largest_extents(batch_size, true);
  const Shape crops = largest_extents(batch_size, false);
  if (!has_whole()) return crops;
  const Shape whole = largest_extents(batch_size, true);
  return element_count(whole) > element_count(crops) ? whole : crops;
}

SampleSizes SampleSource::sample_sizes(std::int64_t batch_size) const {
  SampleSizes sizes{
      .whole_points = mean_voxels(true), .largest_whole = largest_extents(batch_size, true), .has_whole = has_whole()};
  if (has_crops()) sizes.crop_points = mean_voxels(false), sizes.largest_crop = largest_extents(batch_size, false);
  return sizes;
}

Sample SampleSource::sample(std::int64_t index, std::size_t turn) const {
  const RngKey key{options_.seed, rng_stream("sample")};
  const std::uint64_t base = static_cast<std::uint64_t>(index) * kDraws;
  const auto below = [&](Draw draw, std::int64_t count) { return rng_below(key, base + draw, count); };
  Sample s{.item = turn, .number = static_cast<std::uint64_t>(index)};
  const bool crops = !is_whole(index);
  const bool only_classes = !volumes_[turn].complete() && !options_.merge;  // the background is ignored
  const bool on_class = crops && rng_uniform(key, base + kForeground) < options_.foreground;
  const bool of_set = on_class && options_.crops == CropsOn::kSet && !present_.empty();
  const std::vector<std::vector<int>>& classes = of_set ? present_ : volumes_[turn].present;
  if (crops && !classes.empty() && (on_class || only_classes)) {
    const std::vector<int>& sides = classes[below(kClass, std::ssize(classes))];
    s.drawn_on = sides[below(kSide, std::ssize(sides))];
  }
  if (of_set) {
    const std::vector<std::size_t>& having = cases_of_[s.drawn_on];
    s.item = having[below(kCase, std::ssize(having))];
  }
  const Volumes& v = volumes_[s.item];
  const Shape shape = v.shape();
  for (std::size_t a = 0; a < 3; ++a) s.mirrored[a] = options_.flip[a] && rng_uniform(key, base + kFlipD + a) < 0.5;
  s.size = sample_size(s.item, !crops);
  if (!crops) {
    for (int a = 0; a < 3; ++a) s.begin[a] = -((s.size[a] - shape[a]) / 2);
    return s;
  }
  std::array<std::int64_t, 3> centre{};
  for (int a = 0; a < 3; ++a) centre[a] = rng_below(key, base + kPlaceD + static_cast<std::uint64_t>(a), shape[a]);
  if (s.drawn_on > 0) {
    const Tensor& voxels = v.foreground.by_class[s.drawn_on];
    const std::int64_t row = below(kVoxel, voxels.shape()[0]);
    for (std::size_t a = 0; a < 3; ++a) centre[a] = voxels.as<std::int32_t>()[row * 3 + static_cast<std::int64_t>(a)];
  }
  for (int a = 0; a < 3; ++a) {
    const std::int64_t room = shape[a] - s.size[a];
    s.begin[a] = room <= 0 ? -((-room) / 2) : std::clamp<std::int64_t>(centre[a] - s.size[a] / 2, 0, room);
  }
  return s;
}

std::vector<std::int64_t> SampleSource::drawn_on(std::int64_t samples) const {
  std::vector<std::int64_t> counts(cases_of_.size(), 0);
  EpochOrder order(options_.seed, volumes_.size());
  for (std::int64_t i = 0; i < samples; ++i) ++counts[sample(i, order.item_of(i)).drawn_on];
  return counts;
}

std::vector<Sample> SampleSource::batch(std::int64_t step, std::int64_t size) const {
  std::vector<Sample> samples;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t index = step * size + i;
    samples.push_back(sample(index, item_of(options_.seed, index, volumes_.size())));
  }
  for (int a = 0; a < 3; ++a) {  // samples of one batch share the largest extents
    std::int64_t widest = 0;
    for (const Sample& s : samples) widest = std::max(widest, s.size[a]);
    for (Sample& s : samples) {
      s.begin[a] -= (widest - s.size[a]) / 2;
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
    const std::optional<SpatialMap> map = moved(s);
    const Box read = map ? map->sources({{0, 0, 0}, s.size}) : Box{{s.begin[0], s.begin[1], s.begin[2]}, s.size};
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
  for (std::size_t i = 0; i < volumes_.size(); ++i) {
    if (has_crops()) sizes.insert(sample_size(i, false));
    if (has_whole()) sizes.insert(sample_size(i, true));
  }
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

double SampleSource::scale(const Sample& s, std::size_t channel) const {
  const double normal = rng_normal({options_.seed, stream_of("scale", channel)}, s.number * kDraws + kScale);
  return 1 + options_.intensity_scale * std::clamp(normal, -3.0, 3.0);
}

RngKey SampleSource::noise_key(const Sample& s, std::size_t channel) const {
  return {options_.seed + s.number * 0x9e3779b97f4a7c15ULL, stream_of("noise", channel)};
}

}  // namespace voxshard
