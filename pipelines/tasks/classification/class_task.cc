#include "pipelines/tasks/classification/class_task.h"

#include <map>

#include "io/datasets/dataset.h"
#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "libcore/base/text.h"
#include "pipelines/engine/case_hashes.h"
#include "pipelines/tasks/classification/class_task_data.h"
#include "pipelines/tasks/classification/dataset/class_memory.h"
#include "pipelines/tasks/classification/predict_classes.h"
#include "pipelines/tasks/classification/samples/class_source.h"
#include "pipelines/tasks/classification/samples/sample_memory.h"
#include "pipelines/tasks/classification/scores/class_validation.h"
#include "pipelines/tasks/classification/scores/classify_batch.h"
#include "pipelines/tasks/group_folds.h"
#include "pipelines/tasks/sided_classes.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

/// Returns "0.5,2": the weights with which every class counts the same; their mean over the items is 1.
std::string balanced_weights(const ClassDataset& set) {
  const auto counts = set.counts();
  const double share = static_cast<double>(set.items.size()) / static_cast<double>(counts.size());
  return joined(counts, ",",
                [&](std::int64_t count) { return number_text(count > 0 ? share / static_cast<double>(count) : 0); });
}

class ClassTask : public TrainingTask {
 public:
  ClassTask(const ClassTaskOptions& options, const ModelSpec& spec)
      : o_(options),
        p_(class_task_data(options, spec)),
        source_(p_.sets.train, p_.preparation, p_.reading, options.seed,
                {.images = options.augmentation, .clips = options.clips}),
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
    if (o_.clips.shift > 0) json["clip_shift"] = o_.clips.shift;
    if (o_.clips.mirror > 0) json["clip_mirror"] = o_.clips.mirror;
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
          cases.push_back(hashed_item(item, p_.reading.items, std::string(role) + "/" + set->classes[item.label]));
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

  std::vector<std::string> notes() const override {
    return p_.sets.said.empty() ? std::vector<std::string>() : std::vector<std::string>{p_.sets.said};
  }
  std::vector<std::string> warnings() const override {
    std::vector<std::string> notes = p_.notes;
    std::vector<std::string> mirroring = mirroring_settings(o_.augmentation);
    if (o_.clips.mirror > 0) mirroring.push_back("{clip-mirror}");
    const auto mirrored = mirror_warnings(p_.preparation.classes, mirroring);
    notes.insert(notes.end(), mirrored.begin(), mirrored.end());
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
    if (!p_.sets.folds.empty())
      write_run_splits(run, p_.sets.folds, o_.kept);
    else if (p_.sets.train.files.empty())
      write_run_splits(run, {{.train = names_of(p_.sets.train), .val = names_of(p_.sets.val)}}, o_.kept);
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
    if (!o_.fold.empty()) return held_out_of_fold();
    const std::filesystem::path& data = o_.val.empty() ? o_.data : o_.val;
    const ClassParts parts = find_class_parts(data, o_.kinds);
    return read_as_here({.data = parts.test && parts.val && !parts.whole ? parts.val->path : data});
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
  std::vector<std::string> scored_classes() const override { return p_.sets.val.classes; }
  void leave_out(const CaseFailure& failure, Progress& progress) override { left_out_.add(failure, progress); }

 private:
  /// Returns the training part, in which a fold lies. It cannot be named where the files of a folder hold it, as IDX.
  HeldOut held_out_of_fold() const {
    const ClassParts parts = find_class_parts(o_.data, o_.kinds);
    if (parts.train && parts.train->kind.entries == nullptr)
      return {.data = {},
              .why_not = std::string("predict takes the test part of ") + parts.train->kind.name + " files"};
    return read_as_here({.data = parts.train ? parts.train->path : o_.data});
  }
  HeldOut read_as_here(HeldOut held) const {
    auto& own = held.task.of<ClassPredictionOptions>();
    own.most_pixels = o_.most_pixels, own.volume_limits = o_.volume_limits, own.irregular = o_.irregular;
    own.best_series = o_.best_series;
    return held;
  }

  ClassTaskOptions o_;
  ClassTaskData p_;
  ClassSource source_;
  ItemReader reader_;  // for validation
  LeftOut left_out_;
};

}  // namespace

std::unique_ptr<TrainingTask> class_task(const ClassTaskOptions& options, const ModelSpec& spec) {
  return std::make_unique<ClassTask>(options, spec);
}

}  // namespace voxshard
