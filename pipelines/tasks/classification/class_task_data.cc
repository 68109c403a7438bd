#include "pipelines/tasks/classification/class_task_data.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "pipelines/tasks/classification/dataset/class_memory.h"
#include "pipelines/tasks/classification/samples/class_statistics.h"
#include "pipelines/tasks/irregular_slices.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

/// Leaves out items that do not fit the size of the model.
void leave_out_too_large(ClassDataset& set, const ClassPreparation& preparation) {
  std::erase_if(set.items, [&](const ClassItem& item) {
    return !in_case_boundary(item.name, set.failures, [&] { static_cast<void>(canvas_of(item, preparation)); });
  });
}

bool of_one_size(const ClassSets& sets) {
  std::set<Dims> sizes;
  for (const ClassDataset* set : {&sets.train, &sets.val})
    for (const ClassItem& item : set->items) sizes.insert(item.size);
  return sizes.size() <= 1;
}

/// Returns the kind of items in the data for a model with `axes` spatial axes. Errors: kUsage for settings of another
/// kind.
ItemKind kind_of_data(const ClassTaskOptions& o, int axes) {
  const ClassParts parts = find_class_parts(o.data, o.kinds);
  const auto& part = parts.train ? parts.train : parts.whole;
  const ItemKind items = part        ? kind_of_part(*part, axes)
                         : axes == 2 ? ItemKind::kImage
                                     : ItemKind::kVolume;  // read_class_sets reports what is missing
  if (items != ItemKind::kClip && (o.clip_length || o.clip_stride || o.clips.any()))
    throw Error(
        ErrorKind::kUsage,
        "[train] {clip-length}, {stride}, {clip-shift} and {clip-mirror} are of clips, but what is learnt from " +
            o.data.string() + " is " + item_kind_name(items) + "; leave them out");
  return items;
}

/// Throws kUsage when two settings define the weights of the classes.
void require_one_weighting(const ClassTaskOptions& o, const ModelSpec& spec) {
  if (o.balance != "weights") return;
  const auto row = std::ranges::find(spec.model->fields, "class_weights", &ConfigField::name);
  if (row != spec.model->fields.end() && !std::get<std::string>(row->get(spec.config)).empty())
    throw Error(ErrorKind::kUsage,
                "[train] {balance} weights and {class-weights} both say what a class counts in the loss; give one of "
                "them");
}

/// Returns the size of the samples, for clips T H W. Errors: kUsage.
Dims size_of_samples(const ClassTaskOptions& o, const ModelSpec& spec, const ClassReading& reading) {
  if (o.size.empty()) return o.size;
  const bool clips = reading.items == ItemKind::kClip;
  const int axes = clips ? 2 : spec.spatial_axes();
  if (o.size.axes() != axes)
    throw Error(ErrorKind::kUsage, "[train] {size} is " + to_string(o.size) + ", but " +
                                       (clips ? "a frame" : "a " + spec.model_name()) + " has " + std::to_string(axes) +
                                       " spatial axes" + (clips ? "; T is {clip-length}" : ""));
  return clips ? Dims{reading.clip_length, o.size[0], o.size[1]} : o.size;
}

}  // namespace

ClassTaskData class_task_data(const ClassTaskOptions& o, const ModelSpec& spec) {
  require_one_weighting(o, spec);
  const ItemKind items = kind_of_data(o, spec.spatial_axes());
  if (items != ItemKind::kImage) require_no_changes(o.augmentation, o.data, item_kind_name(items));
  ClassTaskData p{.reading = {.items = items, .most_pixels = o.most_pixels, .kinds = o.kinds}};
  p.reading.clip_length = o.clip_length.value_or(p.reading.clip_length);
  p.reading.clip_stride = o.clip_stride.value_or(p.reading.clip_stride);
  const bool volumes = items == ItemKind::kVolume;
  const Dims asked = size_of_samples(o, spec, p.reading);
  p.reading.formats = formats_within(with_irregular(p.reading.formats, o.irregular), o.volume_limits);
  p.reading.best_series = o.best_series;
  const Dims own = spec.model->size != nullptr ? spec.model->size(spec.config) : Dims();
  if (!o.size.empty() && !own.empty() && o.size != own)
    throw Error(ErrorKind::kUsage, "[train] a " + spec.model_name() + " of these settings has the size " +
                                       to_string(own) + ", got {size} " + to_string(o.size));
  if (o.fit == "resize" && o.size.empty() && own.empty())
    throw Error(ErrorKind::kUsage, "[train] {fit} resize wants a {size} to resize to");
  p.sets = read_class_sets({.data = o.data,
                            .val = o.val,
                            .val_fraction = o.val_fraction,
                            .validates = o.validates,
                            .seed = o.seed,
                            .reading = p.reading,
                            .fold = o.fold,
                            .kept = o.kept});
  for (const ClassDataset* set : {&p.sets.train, &p.sets.val})
    p.notes.insert(p.notes.end(), set->notes.begin(), set->notes.end());
  const ColourChoice colour = choose_colour(p.sets.train, volumes ? "grey" : o.colour);
  if (!colour.note.empty()) p.notes.push_back(colour.note);
  const std::int64_t multiple = o.pad_multiple.value_or(of_one_size(p.sets) ? 1 : volumes ? 8 : 32);
  p.preparation = {.classes = p.sets.train.classes,
                   .items = items,
                   .clip_length = p.reading.clip_length,
                   .clip_stride = p.reading.clip_stride,
                   .channels = colour.channels,
                   .mean = std::vector<double>(static_cast<std::size_t>(colour.channels), 0),
                   .deviation = std::vector<double>(static_cast<std::size_t>(colour.channels), 1),
                   .window_hu = o.window_hu,
                   .size = own.empty() ? asked : own,
                   .resizes = o.fit == "resize",
                   .enlarges = !own.empty(),
                   .pad_multiple = std::lcm(multiple, spec.multiple())};
  leave_out_too_large(p.sets.train, p.preparation);
  leave_out_too_large(p.sets.val, p.preparation);
  // pixels in memory are not damaged
  const bool normalises = o.normalise == "dataset", decodes = p.sets.train.pixels == nullptr;
  if ((normalises || decodes) &&
      !p.sets.train.items.empty()) {  // so that an item that does not decode cannot end the training later
    const ItemSums sums = look_at_items(
        p.sets.train, p.preparation, p.reading,
        {.threads = o.threads, .memory_bytes = left_of(o.memory_bytes, held_plan(p.sets.val).total()), .stop = o.stop});
    if (normalises) set_statistics(p.preparation, sums);
    if (!sums.note.empty()) p.notes.push_back(sums.note);
  }
  if (!o.kept.empty()) list_gone(p.sets, o.kept.front());
  leave_out_empty_classes(p.sets);
  p.preparation.classes = p.sets.train.classes;
  return p;
}

}  // namespace voxshard
