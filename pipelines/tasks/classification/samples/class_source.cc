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
  require_items(set, "train", "train on");
  return set;
}

}  // namespace

void require_items(const ClassDataset& set, const std::string& command, const std::string& purpose) {
  if (!set.items.empty()) return;
  throw Error(ErrorKind::kNoCase,
              "[" + command + "] " + set.source.string() + ": nothing is left to " + purpose + "; " +
                  (set.failures.empty() ? "give more, or hold less out"
                                        : std::to_string(set.failures.size()) + " left out, the last: " +
                                              shown_name(set.failures.back().id) + " " + set.failures.back().message));
}

ClassSource::ClassSource(const ClassDataset& set, const ClassPreparation& preparation, const ClassReading& reading,
                         std::uint64_t seed, const ItemChanges& changes)
    : set_(with_items(set)),
      preparation_(preparation),
      reader_(preparation, reading),
      order_(seed, set.items.size()),
      seed_(seed),
      changes_(changes) {
  ensure(preparation.items == ItemKind::kImage || !(changes.images.moves() || changes.images.recolours()),
         "images alone are mirrored, moved and recoloured");
  ensure(preparation.items == ItemKind::kClip || !changes.clips.any(),
         "clips alone begin elsewhere or are mirrored as one");
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
  const std::int64_t in_flight = std::min<std::int64_t>(extents[0], workers);
  ProcessPlan moving;  // of images that are moved
  if (changes_.images.moves())
    moving = samples_plan({in_flight, extents[1], extents[2]}, preparation_.channels) +
             ProcessPlan{{MemoryPart::kFeeding, workers * moved_bytes(changes_.images.scale[0])}};
  return held_plan(set_) + samples_plan(extents, preparation_.channels) + moving +
         reading_items_plan(most_points(set_), in_flight, preparation_);
}

std::int64_t ClassSource::sizes() const {
  std::set<Dims> sizes;
  for (std::size_t i = 0; i < set_.items.size(); ++i) sizes.insert(canvas(i));
  return std::ssize(sizes);
}

Shape ClassSource::load(std::int64_t step, std::int64_t batch, WorkerPool& pool) {
  std::vector<Drawn> drawn;
  for (std::int64_t sample = step * batch; sample < (step + 1) * batch; ++sample)
    drawn.push_back({order_.item_of(sample), sample});
  return load(drawn, pool);
}

Shape ClassSource::load_items(std::span<const std::size_t> items, WorkerPool& pool) {
  std::vector<Drawn> drawn;
  for (const std::size_t item : items) drawn.push_back({.item = item});
  return load(drawn, pool);
}

Shape ClassSource::load(std::span<const Drawn> batch, WorkerPool& pool) {
  samples_.clear();  // before the next are read: the plan counts one batch
  samples_.resize(batch.size());
  pool.run(std::ssize(batch), [&](std::int64_t i, int) {
    const Drawn& drawn = batch[i];
    Sample& sample = samples_[i];
    if (i >= begin_ && i < end_) sample = load_one(drawn);
    sample.label = set_.items[drawn.item].label;
  });
  std::vector<std::size_t> items;
  for (const Drawn& drawn : batch) items.push_back(drawn.item);
  return extents_of(items);
}

/// Reads a clip with the change of that sample. Where none of the frames that it then has decodes, it begins as it does
/// unchanged: training starts with clips that were decoded once, those between them were not.
Tensor ClassSource::read_changed(const ClassItem& item, std::int64_t sample) const {
  const ClipChange change = change_of_clip(item, changes_.clips, {.seed = seed_, .sample = sample});
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

ClassSource::Sample ClassSource::load_one(const Drawn& drawn) const {
  ImageChange change;
  if (drawn.sample)
    change = draw_image_change(changes_.images,
                               {.seed = seed_,
                                .image = drawn.item,
                                .epoch = static_cast<std::uint64_t>(*drawn.sample / std::ssize(set_.items))});
  const bool recolours = drawn.sample && changes_.images.recolours();
  const ClassItem& item = set_.items[drawn.item];
  Tensor values = drawn.sample && changes_.clips.any()
                      ? read_changed(item, *drawn.sample)
                      : reader_.read(item, set_.pixels.get(), recolours ? &change.colour : nullptr);
  Sample sample;
  if (drawn.sample && changes_.images.moves()) {
    const Box place = Box::whole(values.shape());
    const SpatialMap map = map_of_part({.extent = {place.extent[0], place.extent[1]}}, change);
    sample.pieces.push_back(moved_piece(values, place, map));
  } else {
    sample.values = std::move(values);
  }
  return sample;
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
    const Sample& sample = samples_[n];
    if (!image)
      store(box, (n - box.box.begin[0]) * box.strides[0], sample.label);
    else if (sample.pieces.empty())
      place_sample(sample.values, n, box);
    else
      place_pieces(sample.pieces, n, box);
  }
}

}  // namespace voxshard
