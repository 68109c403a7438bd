#include "pipelines/tasks/classification/predict_classes.h"

#include <algorithm>
#include <set>

#include "io/files/atomic_file.h"
#include "io/files/file_name.h"
#include "io/image/image.h"
#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"
#include "pipelines/engine/predicted_file.h"
#include "pipelines/engine/prediction.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/classification/dataset/class_memory.h"
#include "pipelines/tasks/classification/predict_clips.h"
#include "pipelines/tasks/classification/samples/sample_memory.h"
#include "pipelines/tasks/classification/scores/class_predictions.h"
#include "pipelines/tasks/classification/scores/classify_batch.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

void check_outputs(const PredictOptions& o) {
  require_predicted_file(o, "the classes that a classifier predicts go", class_predictions_file());
  require_output_file(class_table_of(o.output), class_table_file(), {.inputs = {o.input, o.run}});
}

std::vector<fs::path> items_in(const fs::path& folder, const ClassReading& reading) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (is_class_item(it->path(), reading) && it->is_regular_file(error)) files.push_back(it->path());
  if (error)
    throw Error(ErrorKind::kInput,
                "[predict] " + folder.string() + ": cannot be read: " + error.message() + "; check its permissions");
  std::ranges::sort(files);
  return files;
}

/// Returns the parts of a data set of classes. A folder of folders of DICOM series is one where it is divided into
/// training and other parts: undivided, the folders may as well be those of patients.
ClassParts labelled_parts(const fs::path& input, const ClassKinds& kinds) {
  ClassParts parts = find_class_parts(input, recognised_kinds(kinds));
  if (parts.any()) return parts;
  parts = find_class_parts(input, kinds);
  parts.whole.reset();
  return parts;
}

/// Finds the items of an input, without classes.
ClassDataset find_items(const fs::path& input, const ClassReading& reading, bool& labelled) {
  std::error_code error;
  const std::string kind = one_item_name(reading.items);
  if (!fs::exists(input, error) && !is_volume_address(input, reading.formats))
    throw Error(ErrorKind::kInput, "[predict] " + input.string() + " does not exist; give a " + kind +
                                       ", a folder of them, or a data set of classes");
  const bool folder = fs::is_directory(input, error);
  std::vector<fs::path> files = folder ? items_in(input, reading) : std::vector<fs::path>();
  labelled = files.empty() && labelled_parts(input, reading.kinds).any();
  if (labelled) {
    ClassDataset set = read_unseen_classes(input, reading);
    std::erase_if(set.failures,
                  [](const CaseFailure& failure) { return failure.code == "E_EMPTY"; });  // nothing to predict
    return set;
  }
  if (!folder) files.push_back(input);
  if (files.empty() && reading.items == ItemKind::kVolume)
    for (FoundVolume& series : find_volumes(input, reading.formats).volumes) files.push_back(std::move(series.path));
  if (files.empty())
    throw Error(ErrorKind::kNoCase,
                "[predict] " + input.string() + " holds no " + kind + " and is no data set of classes");
  ClassDataset set{.source = input, .kind = "folder"};
  for (const fs::path& file : files) {
    const bool is_series = is_volume_address(file, reading.formats);
    const std::string name = is_series ? volume_stem(file, reading.formats).value() : file.filename().string();
    in_case_boundary(name, set.failures, [&] {
      require_utf8_name(name);
      set.items.push_back(read_class_item(file, reading));
      set.items.back().name = name;
    });
  }
  return set;
}

class ItemPrediction : public Prediction {
 public:
  ItemPrediction(PredictionBatch& batch, const ClassPredictionOptions& own, const ClassPreparation& preparation)
      : b_(batch), o_(batch.options), preparation_(preparation) {
    reading_ = {.items = preparation_.items, .most_pixels = own.most_pixels, .formats = o_.formats, .kinds = own.kinds};
    reading_.formats = formats_within(reading_.formats, own.volume_limits);
    set_ = find_items(o_.input, reading_, labelled_);
    if (!labelled_ && labelled_parts(o_.input, own.kinds).any())
      b_.progress.warn(o_.input.string() +
                       " holds items beside folders of classes: only those beside are predicted; "
                       "move them elsewhere, or give one of the folders");
    std::erase_if(set_.items, [&](const ClassItem& item) {
      return !in_case_boundary(item.name, set_.failures, [&] { static_cast<void>(canvas_of(item, preparation_)); });
    });
    b_.list(set_.failures);
    keep_wanted(set_.items, {b_.run.trained_on, o_.held_out, b_.report.seen, b_.context.pool(), b_.progress},
                [&](const ClassItem& item) {
                  if (set_.pixels == nullptr)
                    return HashedCase{.name = item.name, .files = files_of_item(item, preparation_.items)};
                  return HashedCase{.name = item.name, .files = {}, .part = pixels_key(set_, item)};
                });
    found_ = {.classes = preparation_.classes, .items = preparation_.items};
    rows_.resize(set_.items.size());
    if (preparation_.items == ItemKind::kImage && set_.pixels == nullptr) load_codecs();
  }

  PredictionWords words() const override {
    return {.inputs = item_kind_name(preparation_.items), .one = "", .in_total = "inputs"};
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const ClassItem& item : set_.items) names.push_back(item.name);
    return names;
  }

  std::vector<PredictionTurn> turns() const override { return item_batches(set_.items, preparation_); }
  ProcessPlan loaded() const override { return held_plan(set_); }

  void predict(const PredictionTurn& turn) override {
    const Stopwatch watch;
    const ReadBatch read = read_batch(
        turn, set_.items, {ErrorKind::kInput, ErrorKind::kBudget}, b_.context.pool(), [&](const ClassItem& item) {
          b_.require_planned(turn.extents);
          require_fits(plan_of(turn), b_.context.budget_bytes(), ErrorKind::kInput, item.name, "Cut it, or scale it");
          return ItemReader(preparation_, reading_).read(item, set_.pixels.get());
        });
    for (std::size_t i = 0; i < read.failed.size(); ++i)
      b_.fail(read.failed[i], read.failures[i].code, read.failures[i].message);
    if (read.samples.empty()) return;
    const auto rows = classify(b_.session(), turn.extents, read.samples);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows_[read.items[i]] = rows[i];
      b_.done(read.items[i], o_.output, watch.seconds() / static_cast<double>(rows.size()));
    }
  }

  void finish() override {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (!rows_[i].empty()) found_.rows.push_back({set_.items[i].name, std::move(rows_[i])});
    for (const PredictionTurn& turn : turns())
      if (!b_.planned().refused.contains(turn.extents)) b_.takes(plan_of(turn));
    make_folder_of(o_.output);
    PredictReport& report = b_.report;
    const auto named = [&](const fs::path& file) { return report.interrupted ? incomplete_path(file) : file; };
    const fs::path json = named(o_.output), table = named(class_table_of(o_.output));
    found_.trained_on = std::ssize(report.seen.trained_on);
    write_class_predictions(json, found_);
    write_class_table(table, found_);
    if (!report.interrupted) remove_incomplete(json), remove_incomplete(table);
    for (PredictedCase& c : report.cases) c.file = json;
    const fs::path quarantine = write_left_out(report, o_.output);
    report.found = {{"classes", found_.classes}, {"table", table.string()}};
    report.text = prediction_text(report, quarantine, ", classes in " + json.string() + " and " + table.string());
    if (labelled_)
      report.next = {"evaluate",
                     o_.output.string(),
                     o_.input.string(),
                     "{output}",
                     (o_.output.parent_path() / "scores.json").string(),
                     "{png}",
                     (o_.output.parent_path() / "confusion.png").string()};
  }

 private:
  ProcessPlan plan_of(const PredictionTurn& turn) const {
    std::int64_t most = 0;
    for (const std::size_t i : turn.inputs) most = std::max(most, element_count(set_.items[i].size));
    return b_.planned().held + b_.planned().cores(turn.extents) + samples_plan(turn.extents, preparation_.channels) +
           reading_items_plan(most, std::min<std::int64_t>(b_.context.threads(), std::ssize(turn.inputs)),
                              preparation_);
  }

  PredictionBatch& b_;
  const PredictOptions& o_;
  ClassPreparation preparation_;
  ClassReading reading_;
  ClassDataset set_;
  bool labelled_ = false;                  // true: the input has labels
  std::vector<std::vector<double>> rows_;  // by item; empty: not predicted yet
  ClassPredictions found_;
};

ClassPreparation preparation_of(const TrainedRun& run) {
  ClassPreparation preparation;
  try {
    preparation = class_preparation_from_json(run.preparation);
  } catch (const Error& e) {
    throw Error(ErrorKind::kCheckpoint, run.file.string() + ": " + e.what());
  }
  if (preparation.axes() != run.spec.spatial_axes())
    throw Error(ErrorKind::kCheckpoint, run.file.string() + ": its samples do not have the axes of its model");
  return preparation;
}

}  // namespace

PredictReport predict_classes(const PredictOptions& options, const ClassPredictionOptions& own, TrainedRun run,
                              const RunContext& context) {
  const ClassPreparation preparation = preparation_of(run);
  if (preparation.items == ItemKind::kClip) return predict_clips(options, own, std::move(run), preparation, context);
  if (own.hop || !own.draw.empty())
    throw Error(ErrorKind::kUsage,
                std::string("[predict] {hop} and {draw} are for videos, but the run was trained on ") +
                    item_kind_name(preparation.items) + "; leave them out");
  return run_prediction(options, std::move(run), class_work(), context, [&](PredictionBatch& batch) {
    check_outputs(options);
    return std::make_unique<ItemPrediction>(batch, own, preparation);
  });
}

}  // namespace voxshard
