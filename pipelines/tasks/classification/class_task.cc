#include "pipelines/tasks/classification/class_task.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "io/datasets/dataset.h"
#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "libcore/base/text.h"
#include "pipelines/engine/case_hashes.h"
#include "pipelines/tasks/classification/dataset/class_memory.h"
#include "pipelines/tasks/classification/predict_classes.h"
#include "pipelines/tasks/classification/samples/class_source.h"
#include "pipelines/tasks/classification/samples/class_statistics.h"
#include "pipelines/tasks/classification/samples/sample_memory.h"
#include "pipelines/tasks/classification/scores/class_validation.h"
#include "pipelines/tasks/classification/scores/classify_batch.h"
#include "pipelines/tasks/irregular_slices.h"
#include "pipelines/tasks/sided_classes.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

/// Leaves out items that do not fit the size of the model.
void leave_out_too_large(ClassDataset& set, const ClassPreparation& preparation) {
  std::erase_if(set.items, [&](const ClassItem& item) {
    return !in_case_boundary(item.name, set.failures, [&] { static_cast<void>(canvas_of(item, preparation)); });
  });
}

/// Returns "0.5,2": the weights with which every class counts the same; their mean over the items is 1.
std::string balanced_weights(const ClassDataset& set) {
  const auto counts = set.counts();
  const double share = static_cast<double>(set.items.size()) / static_cast<double>(counts.size());
  return joined(counts, ",",
                [&](std::int64_t count) { return number_text(count > 0 ? share / static_cast<double>(count) : 0); });
}

bool of_one_size(const ClassSets& sets) {
  std::set<Dims> sizes;
  for (const ClassDataset* set : {&sets.train, &sets.val})
    for (const ClassItem& item : set->items) sizes.insert(item.size);
  return sizes.size() <= 1;
}

/// The data of a task and their preparation.
struct Prepared {
  ClassReading reading;
  ClassSets sets;
  ClassPreparation preparation;
  std::vector<std::string> notes;
};

/// Returns the kind of items in the data for a model with `axes` spatial axes. Errors: kUsage for settings of another
/// kind.
ItemKind kind_of_data(const ClassTaskOptions& o, int axes) {
  const ClassParts parts = find_class_parts(o.data, o.kinds);
  const auto& part = parts.train ? parts.train : parts.whole;
  const ItemKind items = part        ? kind_of_part(*part, axes)
                         : axes == 2 ? ItemKind::kImage
                                     : ItemKind::kVolume;  // read_class_sets reports what is missing
  if (items != ItemKind::kClip && (o.clip_length || o.clip_stride))
    throw Error(ErrorKind::kUsage,
                std::string("[train] {clip-length} and {stride} are of clips, but what is learnt from ") +
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

Prepared prepared(const ClassTaskOptions& o, const ModelSpec& spec) {
  require_one_weighting(o, spec);
  const ItemKind items = kind_of_data(o, spec.spatial_axes());
  if (items != ItemKind::kImage) require_no_changes(o.augmentation, o.data, item_kind_name(items));
  Prepared p{.reading = {.items = items, .most_pixels = o.most_pixels, .kinds = o.kinds}};
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
  if (o.kept) list_gone(p.sets, *o.kept);
  leave_out_empty_classes(p.sets);
  p.preparation.classes = p.sets.train.classes;
  return p;
}

class ClassTask : public TrainingTask {
 public:
  ClassTask(const ClassTaskOptions& options, const ModelSpec& spec)
      : o_(options),
        p_(prepared(options, spec)),
        source_(p_.sets.train, p_.preparation, p_.reading, options.seed, options.augmentation),
        reader_(p_.preparation, p_.reading) {
    std::vector<CaseFailure> failures = p_.sets.train.failures;
    failures.insert(failures.end(), p_.sets.val.failures.begin(), p_.sets.val.failures.end());
    left_out_.set(std::move(failures));
  }

  const char* metric() const override { return "accuracy"; }

  void complete(ModelSpec& spec) const override {
    spec.set("classes", static_cast<std::int64_t>(p_.preparation.classes.size()));
    spec.set("channels", p_.preparation.channels);
    if (o_.balance == "weights") spec.set("class_weights", balanced_weights(p_.sets.train));
  }

  std::int64_t training_cases() const override { return std::ssize(p_.sets.train.items); }
  std::int64_t validation_cases() const override { return std::ssize(p_.sets.val.items); }
  Json preparation() const override { return to_json(p_.preparation); }

  Json sampling() const override {
    ContentHash names;
    for (const std::string& name : names_of(p_.sets.train)) names.add(name + "\n");
    Json json = {{"cases", training_cases()}, {"names", names.text()}, {"seed", o_.seed}};
    describe_augmentation(o_.augmentation, false, json);
    return json;
  }

  /// Hashes the files and names of the items by class. Images of IDX files are hashed by file, and each has a key of
  /// its pixels.
  CaseHashes content(bool, WorkerPool& pool, Progress& progress) const override {
    std::vector<HashedCase> cases;
    for (const auto& [role, set] : {std::pair("train", &p_.sets.train), std::pair("validate", &p_.sets.val)}) {
      for (const auto& file : set->files)
        if (!set->items.empty())
          cases.push_back({.name = std::string(role) + "/" + file.filename().string(), .files = {file}});
      if (set->files.empty())
        for (const ClassItem& item : set->items)
          cases.push_back(hashed_item(item, p_.reading.items,
                                      std::string(role) + "/" + set->classes[static_cast<std::size_t>(item.label)]));
      if (set->files.empty())
        for (std::size_t i = 0; i < set->items.size(); ++i) {
          HashedCase& hashed = cases[cases.size() - set->items.size() + i];
          hashed.text = set->items[i].name, hashed.trains = set == &p_.sets.train;
        }
    }
    CaseHashes hashes = case_hashes(cases, pool, progress);
    for (const ClassItem& item : p_.sets.train.items)
      if (p_.sets.train.pixels != nullptr) hashes.trained.push_back(pixels_key(p_.sets.train, item));
    for (const ClassItem& item : p_.sets.val.items)
      if (p_.sets.val.pixels != nullptr) hashes.held_out.push_back(pixels_key(p_.sets.val, item));
    return hashes;
  }

  std::vector<std::string> warnings() const override {
    std::vector<std::string> notes = p_.notes;
    if (o_.augmentation.mirror > 0)
      for (std::string& warning : mirror_warnings(p_.preparation.classes, "{mirror}"))
        notes.push_back(std::move(warning));
    if (validates_on_test())
      notes.push_back("W_TEST the part that validates is the test part of " + o_.data.string() +
                      ": the best checkpoint is chosen on it, so that its accuracy there is not that on unseen data; "
                      "{val} names another part, {fold} all trains without");
    const auto counts = p_.sets.val.counts();
    for (std::size_t c = 0; c < counts.size() && !p_.sets.val.items.empty(); ++c)
      if (counts[c] == 0)
        notes.push_back("W_CLASS nothing that validates is of the class " + p_.preparation.classes[c] +
                        ": how well it is learnt is not known");
    return notes;
  }

  bool validates_on_test() const override { return p_.sets.val_is_test && !p_.sets.val.items.empty(); }

  std::int64_t left_out() const override { return left_out_.count(); }

  void describe(const std::filesystem::path& run) override {
    if (p_.sets.train.files.empty())
      write_splits(run / "splits_final.json", {{.train = names_of(p_.sets.train), .val = names_of(p_.sets.val)}});
    left_out_.write_to(run);
  }

  /// Returns the data that predict uses: its test part, else its validation part, else all of it.
  Unseen unseen() const override {
    if (!o_.val.empty()) return {.data = o_.val};
    const ClassParts parts = find_class_parts(o_.data, o_.kinds);
    if (parts.test || parts.val) return {.data = o_.data};
    if (p_.sets.val.items.empty()) return {};
    return {.data = o_.data, .among_trained = true};
  }

  /// Returns the part that validates. Of a path with a validation and a test part predict would take the test part, so
  /// that the validation part is named.
  HeldOut held_out() const override {
    const std::filesystem::path& data = o_.val.empty() ? o_.data : o_.val;
    const ClassParts parts = find_class_parts(data, o_.kinds);
    HeldOut held{.data = parts.test && parts.val && !parts.whole ? parts.val->path : data};
    auto& own = held.task.of<ClassPredictionOptions>();
    own.most_pixels = o_.most_pixels, own.volume_limits = o_.volume_limits, own.irregular = o_.irregular;
    own.best_series = o_.best_series;
    return held;
  }

  Shape largest_extents(std::int64_t batch) const override { return source_.largest_extents(batch); }

  std::vector<Shape> validation_extents(const ModelSpec&) const override {
    std::vector<Shape> extents;
    for (const PredictionTurn& batch : item_batches(p_.sets.val.items, p_.preparation))
      extents.push_back(batch.extents);
    return extents;
  }

  ProcessPlan step_plan(const StepSize& step) const override {
    return source_.plan(step.extents, step.workers) + held_plan(p_.sets.val);
  }
  ProcessPlan loaded_plan() const override { return held_plan(p_.sets.train) + held_plan(p_.sets.val); }
  ProcessPlan validation_plan(const Shape& extents) const override {
    return held_plan(p_.sets.train) + held_plan(p_.sets.val) + samples_plan(extents, p_.preparation.channels) +
           reading_items_plan(most_points(p_.sets.val), extents[0], p_.preparation) +
           confusion_plan(std::ssize(p_.preparation.classes));
  }
  std::int64_t step_sizes(std::int64_t batch) const override {
    const std::int64_t sizes = source_.sizes();
    return batch == 1 ? sizes : sizes * sizes;  // the extents of a batch are the largest in it, axis by axis
  }

  void share(std::int64_t begin, std::int64_t end) override { source_.share(begin, end); }
  Shape load(std::int64_t step, std::int64_t batch, WorkerPool& pool) override {
    return source_.load(step, batch, pool);
  }
  void fill(const InputInfo& input, const TensorView& box) const override { source_.fill(input, box); }

  std::string size_setting(const std::string& size) const override { return "{size} " + size + " with {fit} resize"; }

  std::unique_ptr<ValidationPass> validation(const ModelSpec&) const override {
    return validate_items(p_.sets.val, p_.preparation, reader_);
  }
  void leave_out(const CaseFailure& failure, Progress& progress) override { left_out_.add(failure, progress); }

 private:
  ClassTaskOptions o_;
  Prepared p_;
  ClassSource source_;
  ItemReader reader_;  // for validation
  LeftOut left_out_;
};

}  // namespace

std::unique_ptr<TrainingTask> class_task(const ClassTaskOptions& options, const ModelSpec& spec) {
  return std::make_unique<ClassTask>(options, spec);
}

}  // namespace voxshard
