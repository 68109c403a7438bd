#include "pipelines/tasks/classification/predict_classes.h"

#include <algorithm>
#include <set>

#include "io/files/atomic_file.h"
#include "io/files/file_name.h"
#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"
#include "pipelines/engine/predicted_file.h"
#include "pipelines/engine/prediction.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/classification/class_models.h"
#include "pipelines/tasks/classification/dataset/class_memory.h"
#include "pipelines/tasks/classification/predict_clips.h"
#include "pipelines/tasks/classification/samples/sample_memory.h"
#include "pipelines/tasks/classification/scores/class_predictions.h"
#include "pipelines/tasks/classification/scores/classify_batch.h"
#include "pipelines/tasks/codecs_plan.h"
#include "pipelines/tasks/input_tree.h"
#include "pipelines/tasks/irregular_slices.h"
#include "pipelines/tasks/volume_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

void check_outputs(const PredictOptions& o) {
  require_predicted_file(o, "the classes that a classifier predicts go", class_predictions_file());
  require_output_file(class_table_of(o.output), class_table_file(), output_place(o));
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
  ClassDataset set{.source = input, .kind = "folder"};
  const bool holds_scans =
      files.empty() && reading.items == ItemKind::kVolume && is_volume_folder(input, reading.formats);
  if (holds_scans)
    for (FoundVolume& scan : scans_below(input, reading, set.notes)) files.push_back(std::move(scan.path));
  if (!folder && !holds_scans) files.push_back(input);
  if (files.empty())
    throw Error(ErrorKind::kNoCase, "[predict] " + input.string() + " holds no " + kind +
                                        " and is no data set of classes" + none_found_text(text_of(foreign_in(input))));
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

/// Finds the items of a folder and of the folders in it.
///   paths  gets what leads back from their names
ClassDataset find_items_below(const InputNaming& naming, const ClassReading& reading, CaseNames& paths,
                              ForeignFiles& foreign) {
  std::vector<fs::path> files;
  if (reading.items == ItemKind::kVolume)
    for (FoundVolume& volume : list_volumes_below(naming.folder, reading.formats, foreign).volumes)
      files.push_back(std::move(volume.path));
  else
    files = inputs_below(
        naming.folder, one_item_name(reading.items), [&](const fs::path& file) { return is_class_item(file, reading); },
        foreign);
  std::ranges::sort(files);
  NamedInputs named = name_inputs(files, naming);
  paths = std::move(named.paths);
  ClassDataset set{.source = naming.folder, .kind = "folder"};
  for (std::size_t i = 0; i < files.size(); ++i)
    in_case_boundary(named.names[i], set.failures, [&] {
      set.items.push_back(read_class_item(files[i], reading));
      set.items.back().name = named.names[i];
    });
  return set;
}

class ItemPrediction : public Prediction {
 public:
  /// `preparations` of the models that are averaged, or of the one.
  ItemPrediction(PredictionBatch& batch, const ClassPredictionOptions& own,
                 const std::vector<ClassPreparation>& preparations)
      : b_(batch), o_(batch.options), preparations_(preparations), preparation_(preparations_.front()) {
    reading_ = {.items = preparation_.items, .most_pixels = own.most_pixels, .formats = o_.formats, .kinds = own.kinds};
    reading_.formats = formats_within(with_irregular(reading_.formats, own.irregular), own.volume_limits);
    reading_.best_series = own.best_series;
    irregular_ = own.irregular;
    if (o_.recursive) {
      ForeignFiles foreign;
      set_ = find_items_below(input_naming(o_, own.keep_names), reading_, paths_, foreign);
      b_.leave(std::move(foreign), own.keep_names);
    } else {
      set_ = find_items(o_.input, reading_, labelled_);
    }
    for (const std::string& note : set_.notes) b_.progress.log(note);
    if (!o_.recursive && !labelled_ && labelled_parts(o_.input, own.kinds).any())
      b_.progress.warn(beside_classes_text(o_.input));
    std::erase_if(set_.items, [&](const ClassItem& item) {
      return !in_case_boundary(item.name, set_.failures, [&] {
        for (const ClassPreparation& one : preparations_) static_cast<void>(canvas_of(item, one));
      });
    });
    b_.list(set_.failures);
    keep_wanted(set_.items, b_.sieve(), [&](const ClassItem& item) {
      if (set_.pixels == nullptr) return hashed_item(item, preparation_.items, item.name);
      return HashedCase{.name = item.name, .files = {}, .part = pixels_key(set_, item)};
    });
    found_ = {.classes = preparation_.classes, .items = preparation_.items, .averaged = averaged_runs_of(b_.run)};
    rows_.resize(set_.items.size());
    if (reads_pictures()) codecs_plan();  // which measures them before the first picture is read
  }

  PredictionWords words() const override {
    return {.inputs = item_kind_name(preparation_.items), .one = "", .in_total = "inputs"};
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const ClassItem& item : set_.items) names.push_back(item.name);
    return names;
  }

  std::vector<PredictionTurn> turns() const override { return shared_batches(set_.items, preparations_); }
  ProcessPlan loaded() const override {
    ProcessPlan plan = held_plan(set_);
    if (reads_pictures()) plan += codecs_plan();
    return plan;
  }

  std::optional<std::string> kept_with() const override {
    return irregular_ == IrregularSlices::kReject ? "classes" : "classes, irregular slices resampled";
  }

  bool restore(std::size_t i, const nlohmann::json& row) override {
    return !failure_of(set_.items[i].name, {ErrorKind::kInput},
                       [&] { rows_[i] = probabilities_from_json(row, preparation_.classes.size()); });
  }

  void begin() override { make_folder_of(o_.output); }

  void predict(const PredictionTurn& turn) override {
    const Stopwatch watch;
    PredictionTurn left = turn;  // without the items that could not be read
    RowAverages averages;
    const ProcessPlan plan = plan_of(turn);
    const std::int64_t cores = b_.cores(turn).total();
    std::optional<Error> refused;  // these are made here: several threads read
    ProcessPlan beside = plan;
    beside -= b_.planned().held;
    try {
      b_.require_planned(turn, beside);
    } catch (const Error& e) {
      refused = e;
    }
    std::optional<std::int64_t> enough;
    if (!refused && !b_.fits(plan)) enough = b_.would_do(turn, plan, cores);
    const WouldDo would_do = [&] { return enough; };
    for (std::size_t model = 0; model < b_.models() && !left.inputs.empty(); ++model) {
      const ReadBatch read = read_batch(
          left, set_.items, {ErrorKind::kInput, ErrorKind::kBudget}, b_.context.pool(), [&](const ClassItem& item) {
            if (refused) throw *refused;
            require_fits(plan, b_.context.budget_bytes(), ErrorKind::kInput, item.name, "Cut it, or scale it",
                         would_do);
            return ItemReader(preparations_[model], reading_).read(item, set_.pixels.get());
          });
      for (std::size_t i = 0; i < read.failed.size(); ++i)
        b_.fail(read.failed[i], read.failures[i].code, read.failures[i].message);
      left.inputs = read.items;
      if (left.inputs.empty()) return;
      const auto rows = classify(b_.session(model), turn.extents_of(model), read.samples);
      for (std::size_t i = 0; i < rows.size(); ++i) averages.add(left.inputs[i], rows[i], b_.run_of(model).times);
    }
    for (const std::size_t i : left.inputs) {
      rows_[i] = averages.row(i);
      b_.keep(i, rows_[i]);
      b_.done(i, o_.output, watch.seconds() / static_cast<double>(left.inputs.size()));
    }
  }

  void finish() override {
    std::vector<std::size_t> done = b_.done_inputs();
    std::ranges::sort(done);
    for (const std::size_t i : done) found_.rows.push_back({set_.items[i].name, std::move(rows_[i])});
    for (const PredictionTurn& turn : turns())
      if (!b_.is_refused(turn)) b_.takes(plan_of(turn));
    PredictReport& report = b_.report;
    const auto named = [&](const fs::path& file) { return report.interrupted ? incomplete_path(file) : file; };
    const fs::path json = named(o_.output), table = named(class_table_of(o_.output));
    found_.trained_on = std::ssize(report.seen.trained_on);
    write_class_predictions(json, found_);
    write_class_table(table, found_);
    if (!report.interrupted) remove_incomplete(json), remove_incomplete(table);
    for (PredictedCase& c : report.cases) c.file = json;
    const fs::path quarantine = write_left_out(report, o_.output);
    write_input_names(o_.output, paths_, report.foreign);
    report.found = {{"classes", found_.classes}, {"table", table.string()}};
    report.text = prediction_text(report, quarantine, ", classes in " + json.string() + " and " + table.string());
    if (labelled_)
      report.next = {"evaluate",
                     o_.output.string(),
                     o_.input.string(),
                     "{output}",
                     beside_output(o_, "scores.json").string(),
                     "{png}",
                     beside_output(o_, "confusion.png").string()};
  }

 private:
  bool reads_pictures() const { return preparation_.items == ItemKind::kImage && set_.pixels == nullptr; }

  ProcessPlan plan_of(const PredictionTurn& turn) const {
    std::int64_t most = 0;
    for (const std::size_t i : turn.inputs) most = std::max(most, element_count(set_.items[i].size));
    const std::int64_t at_once = std::min<std::int64_t>(b_.context.threads(), std::ssize(turn.inputs));
    ProcessPlan plan;
    for (std::size_t model = 0; model < preparations_.size(); ++model)
      plan = widest(plan, b_.planned(model).cores(turn.extents_of(model)) +
                              samples_plan(turn.extents_of(model), preparations_[model].channels) +
                              reading_items_plan(most, at_once, preparations_[model]));
    return b_.planned().held + plan;
  }

  PredictionBatch& b_;
  const PredictOptions& o_;
  std::vector<ClassPreparation> preparations_;
  const ClassPreparation& preparation_;  // of the first model; classes, items and channels are those of all
  ClassReading reading_;
  ClassDataset set_;
  IrregularSlices irregular_ = IrregularSlices::kReject;
  bool labelled_ = false;                  // true: the input has labels
  CaseNames paths_;                        // of items in folders, which are numbered
  std::vector<std::vector<double>> rows_;  // by item, of those that were predicted or restored
  ClassPredictions found_;
};

}  // namespace

PredictReport predict_classes(const PredictOptions& options, const ClassPredictionOptions& own, TrainedRun run,
                              const RunContext& context) {
  const std::vector<ClassPreparation> preparations = class_preparations_of(run);
  const ItemKind items = preparations.front().items;
  if (items == ItemKind::kClip) return predict_clips(options, own, std::move(run), preparations, context);
  if (own.hop || !own.draw.empty())
    throw Error(ErrorKind::kUsage,
                std::string("[predict] {hop} and {draw} are for videos, but the run was trained on ") +
                    item_kind_name(items) + "; leave them out");
  return run_prediction(options, std::move(run), class_work(), context, [&](PredictionBatch& batch) {
    check_outputs(options);
    return std::make_unique<ItemPrediction>(batch, own, preparations);
  });
}

}  // namespace voxshard
