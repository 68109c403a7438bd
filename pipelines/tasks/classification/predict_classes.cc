#include "pipelines/tasks/classification/predict_classes.h"

#include <algorithm>
#include <set>

#include "io/files/atomic_file.h"
#include "io/files/file_name.h"
#include "io/image/image.h"
#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/classification/class_memory.h"
#include "pipelines/tasks/classification/class_predictions.h"
#include "pipelines/tasks/classification/classify_batch.h"
#include "pipelines/tasks/classification/predict_clips.h"
#include "pipelines/tasks/follow_predictions.h"
#include "pipelines/tasks/predicted_file.h"
#include "pipelines/tasks/seen_inputs.h"

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

/// Items without classes: what the input means.
ClassDataset find_items(const fs::path& input, const ClassReading& reading, bool& labelled) {
  std::error_code error;
  const std::string kind = one_item_name(reading.items);
  if (!fs::exists(input, error))
    throw Error(ErrorKind::kInput, "[predict] " + input.string() + " does not exist; give a " + kind +
                                       ", a folder of them, or a data set of classes");
  const bool folder = fs::is_directory(input, error);
  std::vector<fs::path> files = folder ? items_in(input, reading) : std::vector<fs::path>();
  labelled = files.empty() && find_class_parts(input).any();
  if (labelled) {
    ClassDataset set = read_unseen_classes(input, reading);
    std::erase_if(set.failures,
                  [](const CaseFailure& failure) { return failure.code == "E_EMPTY"; });  // nothing to predict
    return set;
  }
  if (!folder) files.push_back(input);
  if (files.empty())
    throw Error(ErrorKind::kNoCase,
                "[predict] " + input.string() + " holds no " + kind + " and is no data set of classes");
  ClassDataset set{.source = input, .kind = "folder"};
  for (const fs::path& file : files)
    in_case_boundary(file.filename().string(), set.failures, [&] {
      require_utf8_name(file.filename().string());
      set.items.push_back(read_class_item(file, reading));
      set.items.back().name = file.filename().string();
    });
  return set;
}

class Classifier {
 public:
  Classifier(const PredictOptions& options, const ClassPredictionOptions& own, TrainedRun run,
             const ClassPreparation& preparation, Progress& progress)
      : o_(options), progress_(progress), pool_(options.threads), preparation_(preparation) {
    reading_ = {.items = preparation_.items, .most_pixels = own.most_pixels, .formats = options.formats};
    reading_.formats.limits = own.volume_limits;
    set_ = find_items(options.input, reading_, labelled_);
    if (!labelled_ && find_class_parts(options.input).any())
      progress.warn(options.input.string() +
                    " holds items beside folders of classes: only those beside are predicted; "
                    "move them elsewhere, or give one of the folders");
    std::erase_if(set_.items, [&](const ClassItem& item) {
      return !in_case_boundary(item.name, set_.failures, [&] { static_cast<void>(canvas_of(item, preparation_)); });
    });
    for (const CaseFailure& failure : set_.failures) log(failure);
    report_.failures = set_.failures;
    keep_wanted(set_.items, {run.trained_on, o_.held_out, report_.seen, pool_, progress_}, [&](const ClassItem& item) {
      if (set_.pixels == nullptr) return HashedCase{.name = item.name, .files = files_of_item(item, preparation_.items)};
      return HashedCase{.name = item.name, .files = {}, .part = pixels_key(set_, item)};
    });
    session_ = prediction_session(options, run, pool_);
    session_->set_stop(progress.stop_check());
    found_ = {.classes = preparation_.classes, .items = preparation_.items};
  }

  PredictReport run() {
    lead_predictions(o_, *session_, class_work(), [&] { predict_all(); });
    return report_;
  }

 private:
  void predict_all() {
    const std::vector<ItemBatch> batches = item_batches(set_.items, preparation_);
    std::set<Shape> sizes;
    for (const ItemBatch& batch : batches) sizes.insert(batch.extents);
    if (preparation_.items == ItemKind::kPicture && set_.pixels == nullptr) load_codecs();
    if (!sizes.empty())
      planned_ = plan_predictions(*session_, sizes,
                                  std::to_string(set_.items.size()) + " " + item_kind_name(preparation_.items),
                                  {o_.host_budget_bytes, o_.base_bytes, held_plan(set_).total()}, progress_);
    planned_.held += held_plan(set_);
    report_.memory.plan = planned_.held, report_.bytes_per_core = planned_.core, report_.host_bytes = planned_.host;
    rows_.resize(set_.items.size());
    total_ = std::ssize(set_.items) + std::ssize(report_.failures);
    progress_.update("predict", 0, total_, "");
    for (const ItemBatch& batch : batches) {
      try {
        if (!report_.interrupted) one(batch);
      } catch (const Stopped&) {
        report_.interrupted = true;
      }
      if (!report_.interrupted) continue;
      for (const std::size_t i : batch.items) report_.not_reached.push_back(set_.items[i].name);
    }
    if (report_.cases.empty() && !report_.interrupted)
      throw Error(ErrorKind::kNoCase,
                  "[predict] none of " + std::to_string(report_.failures.size()) + " inputs could be predicted" +
                      (report_.failures.empty() ? "" : "; the first: " + report_.failures.front().message));
    write();
  }

  /// Errors: Stopped, before anything of this batch is among the results.
  void one(const ItemBatch& batch) {
    throw_if_stopped(progress_);
    const Stopwatch watch;
    const ReadBatch read =
        read_batch(batch, set_.items, {ErrorKind::kInput, ErrorKind::kBudget}, pool_, [&](const ClassItem& item) {
          require_fits(batch, item);
          return ItemReader(preparation_, reading_).read(item, set_.pixels.get());
        });
    for (const CaseFailure& failure : read.failures) {
      report_.failures.push_back(failure);
      log(failure);
    }
    std::vector<std::vector<double>> rows;
    const auto refused = failure_of(set_.items[batch.items[0]].name, {ErrorKind::kInput, ErrorKind::kBudget}, [&] {
      if (!read.samples.empty()) rows = classify(*session_, batch.extents, read.samples);
    });
    if (refused) {
      if (refused->code == kRefusedMemory) session_->release();
      for (const std::size_t i : read.items) {
        report_.failures.push_back({set_.items[i].name, refused->code, refused->message});
        log(report_.failures.back());
      }
    } else {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        rows_[read.items[i]] = rows[i];
        report_.cases.push_back(
            {set_.items[read.items[i]].name, o_.output, watch.seconds() / static_cast<double>(rows.size())});
      }
    }
    progress_.update("predict", std::ssize(report_.cases) + std::ssize(report_.failures), total_,
                     set_.items[batch.items.back()].name);
  }

  /// Refuses a batch from its headers. Errors: kInput E_BUDGET; kBudget of its plan.
  void require_fits(const ItemBatch& batch, const ClassItem& item) const {
    if (const auto refused = planned_.refused.find(batch.extents); refused != planned_.refused.end())
      throw refused->second;
    const ProcessPlan plan = plan_of_batch(batch);
    voxshard::require_fits(plan, o_.host_budget_bytes, ErrorKind::kInput, item.name, "Cut it, or scale it");
  }

  ProcessPlan plan_of_batch(const ItemBatch& batch) const {
    std::int64_t most = 0;
    for (const std::size_t i : batch.items) most = std::max(most, element_count(set_.items[i].size));
    return planned_.held + planned_.cores(batch.extents) + samples_plan(batch.extents, preparation_.channels) +
           reading_items_plan(most, std::min<std::int64_t>(o_.threads, std::ssize(batch.items)), preparation_);
  }

  void log(const CaseFailure& failure) {
    progress_.log(shown_name(failure.id) + ": " + failure.message + " [quarantined]");
  }

  void write() {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (!rows_[i].empty()) found_.rows.push_back({set_.items[i].name, std::move(rows_[i])});
    for (const ItemBatch& batch : item_batches(set_.items, preparation_))
      if (!planned_.refused.contains(batch.extents))
        report_.memory.plan = widest(report_.memory.plan, plan_of_batch(batch));
    make_folder_of(o_.output);
    const auto named = [&](const fs::path& file) { return report_.interrupted ? incomplete_path(file) : file; };
    const fs::path json = named(o_.output), table = named(class_table_of(o_.output));
    found_.trained_on = std::ssize(report_.seen.trained_on);
    write_class_predictions(json, found_);
    write_class_table(table, found_);
    if (!report_.interrupted) remove_incomplete(json), remove_incomplete(table);
    for (PredictedCase& c : report_.cases) c.file = json;
    const fs::path quarantine = write_left_out(report_, o_.output);
    report_.found = {{"classes", found_.classes}, {"table", table.string()}};
    report_.text = prediction_text(report_, quarantine, ", classes in " + json.string() + " and " + table.string());
    if (labelled_)
      report_.next = {"evaluate",
                      o_.output.string(),
                      o_.input.string(),
                      "{output}",
                      (o_.output.parent_path() / "scores.json").string(),
                      "{png}",
                      (o_.output.parent_path() / "confusion.png").string()};
  }

  const PredictOptions& o_;
  Progress& progress_;
  WorkerPool pool_;
  ClassPreparation preparation_;
  ClassReading reading_;
  ClassDataset set_;
  bool labelled_ = false;  // the input says what is in it
  std::unique_ptr<Session> session_;
  PlannedBytes planned_;
  PredictReport report_;
  std::vector<std::vector<double>> rows_;  // by item; empty: none yet
  ClassPredictions found_;
  std::int64_t total_ = 0;
};

}  // namespace

namespace {

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
                              Progress& progress) {
  const ClassPreparation preparation = preparation_of(run);
  if (follows(options)) return follow_predictions(options, std::move(run), class_work(), progress);
  if (preparation.items == ItemKind::kClip) return predict_clips(options, own, std::move(run), preparation, progress);
  if (own.hop || !own.draw.empty())
    throw Error(ErrorKind::kUsage,
                std::string("[predict] {hop} and {draw} are for videos, but the run was trained on ") +
                    item_kind_name(preparation.items) + "; leave them out");
  check_outputs(options);
  return Classifier(options, own, std::move(run), preparation, progress).run();
}

}  // namespace voxshard
