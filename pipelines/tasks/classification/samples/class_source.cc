#include "pipelines/tasks/classification/samples/class_source.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "io/files/file_name.h"
#include "pipelines/tasks/classification/dataset/class_memory.h"
#include "pipelines/tasks/classification/samples/sample_memory.h"
#include "pipelines/tasks/place_sample.h"

namespace voxshard {
namespace {

const ClassDataset& with_items(const ClassDataset& set) {
  if (set.items.empty())
    throw Error(ErrorKind::kNoCase,
                "[train] " + set.source.string() + ": nothing is left to train on; " +
                    (set.failures.empty() ? "give more, or hold less out"
                                          : std::to_string(set.failures.size()) +
                                                " left out, the last: " + shown_name(set.failures.back().id) + " " +
                                                set.failures.back().message));
  return set;
}

}  // namespace

ClassSource::ClassSource(const ClassDataset& set, const ClassPreparation& preparation, const ClassReading& reading,
                         std::uint64_t seed, const ClipAugmentation& clips)
    : set_(with_items(set)),
      preparation_(preparation),
      reader_(preparation, reading),
      seed_(seed),
      clips_(clips),
      order_(seed, set.items.size()) {
  ensure(!clips.any() || preparation.items == ItemKind::kClip, "only clips are changed");
}

Shape ClassSource::largest_extents(std::int64_t batch) const {
  Dims largest = canvas(0);
  for (std::size_t i = 1; i < set_.items.size(); ++i) {
    const Dims size = canvas(i);
    if (batch == 1 && element_count(size) > element_count(largest)) largest = size;
    for (int a = 0; batch > 1 && a < size.axes(); ++a) largest[a] = std::max(largest[a], size[a]);
  }
  Shape extents{batch};
  for (const std::int64_t extent : largest) extents.push_back(extent);
  return extents;
}

ProcessPlan ClassSource::plan(const Shape& extents, int workers) const {
  return held_plan(set_) + samples_plan(extents, preparation_.channels) +
         reading_items_plan(most_points(set_), std::min<std::int64_t>(extents[0], workers), preparation_);
}

std::int64_t ClassSource::sizes() const {
  std::set<Dims> sizes;
  for (std::size_t i = 0; i < set_.items.size(); ++i) sizes.insert(canvas(i));
  return std::ssize(sizes);
}

Shape ClassSource::load(std::int64_t step, std::int64_t batch, WorkerPool& pool) {
  std::vector<std::size_t> items;
  for (std::int64_t i = 0; i < batch; ++i) items.push_back(order_.item_of(step * batch + i));
  if (!clips_.any()) return load_items(items, pool);
  return load_by(items, pool,
                 [&](const ClassItem& item, std::int64_t place) { return read_changed(item, step * batch + place); });
}

/// Reads a clip with the change of that sample. Where none of the frames that it then has decodes, it begins as it does
/// unchanged: training starts with clips that were decoded once, those between them were not.
Tensor ClassSource::read_changed(const ClassItem& item, std::int64_t sample) const {
  const ClipChange change = change_of_clip(item, clips_, {.seed = seed_, .sample = sample});
  ClassItem shifted = item;
  shifted.index = change.first;
  Tensor clip;
  try {
    clip = reader_.read(shifted, nullptr);
  } catch (const Error& e) {
    if (e.code() != std::string_view("E_CLIP") || change.first == item.index) throw;
    clip = reader_.read(item, nullptr);
  }
  if (change.mirrored) mirror_clip(clip);
  return clip;
}

Shape ClassSource::load_items(std::span<const std::size_t> items, WorkerPool& pool) {
  return load_by(items, pool,
                 [&](const ClassItem& item, std::int64_t) { return reader_.read(item, set_.pixels.get()); });
}

Shape ClassSource::load_by(std::span<const std::size_t> items, WorkerPool& pool, const ReadItem& read) {
  samples_.assign(items.size(), {});
  labels_.assign(items.size(), -1);
  pool.run(std::ssize(items), [&](std::int64_t i, int) {
    const auto at = static_cast<std::size_t>(i);
    const ClassItem& item = set_.items[items[at]];
    labels_[at] = item.label;
    if (i >= begin_ && i < end_) samples_[at] = read(item, i);
  });
  return extents_of(items);
}

Shape ClassSource::extents_of(std::span<const std::size_t> items) const {
  Dims widest = Dims::filled(preparation_.axes(), 0);
  for (const std::size_t item : items) {
    const Dims size = canvas(item);
    for (int a = 0; a < preparation_.axes(); ++a) widest[a] = std::max(widest[a], size[a]);
  }
  Shape extents{std::ssize(items)};
  for (const std::int64_t extent : widest) extents.push_back(extent);
  return extents;
}

void ClassSource::fill(const InputInfo& input, const TensorView& box) const {
  if (box.box.empty()) return;
  const bool image = std::holds_alternative<input::Image>(input);
  ensure(image || std::holds_alternative<input::Labels>(input), "items of classes feed an image and labels");
  for (std::int64_t n = box.box.begin[0]; n < box.box.end(0); ++n) {
    if (image)
      place_sample(samples_[static_cast<std::size_t>(n)], n, box);
    else
      store(box, (n - box.box.begin[0]) * box.strides[0], labels_[static_cast<std::size_t>(n)]);
  }
}

}  // namespace voxshard
