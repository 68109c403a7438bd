#include "pipelines/tasks/segmentation/predict_volumes.h"

#include <algorithm>
#include <set>

#include "io/datasets/class_names.h"
#include "io/datasets/dataset.h"
#include "io/datasets/hidden_paths.h"
#include "io/files/file_name.h"
#include "io/output/output_folder.h"
#include "io/volume/volume.h"
#include "libcore/base/stopwatch.h"
#include "pipelines/engine/predicted_file.h"
#include "pipelines/engine/prediction.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/segmentation/case_predictor.h"
#include "pipelines/tasks/segmentation/case_writing.h"
#include "pipelines/tasks/segmentation/dataset/dataset_source.h"
#include "pipelines/tasks/segmentation/dataset/hiding_paths.h"
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"
#include "pipelines/tasks/segmentation/inputs/arriving_images.h"
#include "pipelines/tasks/segmentation/inputs/input_cases.h"
#include "pipelines/tasks/segmentation/inputs/volume_reading.h"
#include "pipelines/tasks/segmentation/largest_parts.h"
#include "pipelines/tasks/segmentation/next_of_prediction.h"
#include "pipelines/tasks/segmentation/outputs/case_outputs.h"
#include "pipelines/tasks/segmentation/outputs/made_hash.h"
#include "pipelines/tasks/segmentation/quality/case_flags.h"
#include "pipelines/tasks/segmentation/scores/class_probabilities.h"
#include "pipelines/tasks/segmentation/sides/side_split.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostPartBytes = 12;  // of a voxel, for connected parts: where each is a run of its own

class VolumePrediction : public Prediction {
 public:
  /// The images of a folder in which further ones arrive come from wait_for_more() alone.
  VolumePrediction(PredictionBatch& batch, const PredictionInputs& inputs, OutputFolder& folder)
      : b_(batch),
        o_(batch.options),
        folder_(folder),
        run_hash_(prediction_hash(o_, batch.run, naming_of(o_, o_.task.of<VolumeReading>()))),
        reading_(o_.task.of<VolumeReading>()),
        predictor_(batch, reading_.probabilities),
        plan_(predictor_.first().plan),
        sides_(predictor_.first().sides),
        outputs_({.asked = written_outputs(reading_.write),
                  .terms = reading_.terms,
                  .most_segments = static_cast<std::size_t>(reading_.segments_per_file),
                  .classes = plan_.class_names,
                  .hounsfield = is_ct_channel(plan_.channels.front()),
                  .outbox = reading_.outbox,
                  .fill_uids = reading_.fill_uids},
                 batch),
        made_with_(outputs_.settings_hash(run_hash_)),
        flags_(predictor_.first().quality, plan_.class_names,
               {.folder = o_.output, .keeps = folder.made_with(made_with_), .refers = reading_.refer}, batch.progress) {
    for (const SidedPair& pair : sides_.pairs) batch.progress.log(sided_text(pair, plan_.class_names));
    largest_ = LargestParts(reading_.largest, plan_.class_names, predictor_.first().quality);
    if (const std::string chosen = largest_.choice_text(); !chosen.empty()) batch.progress.log(chosen);
    if (inputs.arriving)
      arriving_.emplace(*inputs.arriving, inputs.search, o_.formats, b_.progress);
    else  // a dry run of {watch} too
      list_unreadable(inputs.found.unreadable, b_, naming_, names_), cases_ = wanted_cases(inputs.found.images);
    batch.leave(inputs.found.foreign, reading_.keep_names || !(o_.recursive || !reading_.id_salt.empty()));
  }

  PredictionWords words() const override { return {.inputs = "images", .one = "case "}; }

  std::vector<std::string> names() const override { return case_ids(cases_); }

  std::vector<PredictionTurn> turns() const override {
    std::vector<PredictionTurn> turns;
    for (std::size_t i = first_; i < cases_.size(); ++i) turns.push_back(predictor_.turn_of(cases_[i], i));
    return turns;
  }

  BytesBeside bytes_beside(std::size_t model) const override { return predictor_.bytes_beside(model); }
  bool fits(const PredictionTurn& turn) const override { return predictor_.fits(cases_[turn.inputs.front()]); }

  std::optional<PlannedInput> planned(PredictionBatch&, const PredictionTurn& turn, std::size_t i) override {
    const Case& item = cases_[i];
    return hiding_paths(item, [&]() -> std::optional<PlannedInput> {
      if (!seen_.insert(item.id).second) return b_.fail(i, "E_DUPLICATE", doubled_text(item)), std::nullopt;
      for (const fs::path& image : item.images)
        if (const VolumeInfo info = read_volume_info(image, o_.formats); !info.readable)
          return b_.fail(i, info.problem_code, without_paths(info.problem, item)), std::nullopt;
      const bool kept =
          folder_.made_with(made_with_) && folder_.holds(item.id, outputs_.data_hash(item, turn, file_hashes(item)));
      const std::int64_t bytes = predictor_.rehearsed_plan(item, kept).total();
      return PlannedInput{item.id, turn.extents, bytes, kept, std::nullopt, outputs_.foretell(item, kept)};
    });
  }

  PartTime earlier_time() const override { return folder_.took(made_with_); }

  void begin() override {
    outputs_.begin();
    const std::vector<std::string> ids = names();
    folder_.start({.options = made_with_, .parts = {ids.begin(), ids.end()}, .resume = true, .protect = true});
    write_averaged_runs(o_.output, averaged_runs_of(b_.run));
    write_names();
    write_class_names(o_.output / kClassNamesFile, plan_.class_names);
  }

  /// Predicts and writes one image. Errors: Stopped, before anything of this image is written.
  void predict(const PredictionTurn& turn) override {
    hiding_paths(cases_[turn.inputs.front()], [&] { predict_one(turn); });
  }

  void predict_one(const PredictionTurn& turn) {
    const Stopwatch watch;
    const std::size_t i = turn.inputs.front();
    const Case& item = cases_[i];
    if (!seen_.insert(item.id).second) return b_.fail(i, "E_DUPLICATE", doubled_text(item));
    const fs::path file = named_file(o_.output, item.id, o_.formats.rows.front().endings.back());
    ProcessPlan plan;
    const std::exception_ptr refused = thrown_by([&] { plan = predictor_.plan_of_turn(item, turn); });
    const std::vector<std::string> hashes = file_hashes(item);
    const std::string data = outputs_.data_hash(item, turn, hashes);
    const ObjectKeys keys = object_keys(run_hash_, hashes);
    if (folder_.holds(item.id, data))  // also where it would not fit into the memory of today
      return b_.release_cores(), outputs_.keep(item), outputs_.send(item, keys), done(i, file, 0, true);
    if (refused) std::rethrow_exception(refused);
    b_.takes(plan);
    PredictedVolume found = predictor_.predicted(
        {.item = item, .number = i, .hashes = hashes, .next = reading_.read_ahead ? next_unread() : nullptr});
    if (b_.settle()) throw_if_stopped(b_.progress);  // as between two turns
    const Stopwatch restoring;
    const auto writing = std::make_shared<CaseWriting>(restored(item, std::move(found), file, keys));
    b_.write({.number = i,
              .need = writing->plan(),
              .next = plan_of_next(),
              .write =
                  [this, writing, watch, data, took = PartTime{.elements = element_count(turn.extents)}]() mutable {
                    hiding_paths(writing->item, [&] {
                      writing->write(outputs_, plan_, o_.formats);
                      writing->seconds = took.seconds = watch.seconds();
                      folder_.commit(writing->item.id, data, took);
                    });
                  },
              .end =
                  [this, writing, i, keys](const std::exception_ptr& failure) {
                    outputs_.say(writing->item, writing->refused);
                    if (failure) std::rethrow_exception(failure);
                    hiding_paths(writing->item, [&] { outputs_.send(writing->item, keys); });
                    done(i, writing->file, writing->seconds);
                  }});
    predictor_.times.writing += restoring.seconds();
  }

  /// Records a case whose files are complete.
  void done(std::size_t i, const fs::path& file, double seconds, bool kept = false) {
    for (const auto& [name, about] : folder_.log().manifest().parts.at(cases_[i].id).files)
      if (name != file.filename()) b_.wrote(i, o_.output / name);
    b_.done(i, file, seconds, kept);
  }

  /// Drops the earlier prediction of an image that failed now.
  void drop(std::size_t i) override { folder_.drop(cases_[i].id), flags_.drop(cases_[i].id); }
  bool is_watch() const override { return reading_.watch; }

  bool wait_for_more() override {
    if (!arriving_) return false;
    for (; first_ < cases_.size(); ++first_) cases_[first_].images = {};  // they have ended: names alone are kept
    b_.forget_ended();
    while (cases_.size() == first_) {
      b_.may_come_again();
      const std::vector<fs::path> images = arriving_->wait();
      arriving_->list_unreadable(b_, naming_, names_);
      write_names();
      std::vector<Case> more = wanted_cases(images);
      write_names();
      list_left_out();
      arriving_->expect(more);
      cases_.insert(cases_.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    seen_.clear();  // what arrives later under a name that was there replaces its prediction
    return true;
  }

  /// Moves what is finished, after the lists that tell why some was left out.
  void ended(const PredictionTurn& turn, bool good) override {
    if (!arriving_) return;
    std::optional<FailureReason> why;
    if (!good) why = {b_.report.failures.back().code, b_.report.failures.back().message};
    if (good)
      list_left_out();
    else
      list_failures();
    arriving_->ended(cases_[turn.inputs.front()], why);
  }

  void list_failures() override {
    list_left_out();
    write_seen(o_.output, b_.report.seen);
  }

  void finish() override {
    list_failures();
    outputs_.finish();
    b_.report.text = prediction_text(b_.report, o_.output / "quarantine.csv", "");
    add_times(predictor_.times, b_.ahead, b_.behind, b_.report);
    flags_.add_to(b_.report);
    if (arriving_ && !reading_.rules.empty()) arriving_->counts().add_to(b_.report);
    if (!names_.empty())
      b_.report.text += (o_.output / kCaseNamesFile).string() +
                        ", for its owner's eyes alone, leads from the names of the label maps to the images\n";
    b_.report.next = next_of_prediction(o_);
  }

 private:
  /// Returns the case of the next turn where it may be read ahead: none that is left out, or that an earlier call may
  /// have predicted.
  const Case* next_unread() const {
    const PredictionTurn* next = b_.next_turn();
    if (next == nullptr || next->extents.empty() || b_.is_refused(*next)) return nullptr;
    const Case& item = cases_[next->inputs.front()];
    return seen_.contains(item.id) || folder_.log().knows(item.id) ? nullptr : &item;
  }

  /// Returns what gives the plan of the next turn, where outputs may be written behind this one: not those of what
  /// arrives, which moves away when it has ended, nor probabilities, which take the grid of the files once more.
  std::function<ProcessPlan()> plan_of_next() const {
    const Case* next = next_unread();
    if (!reading_.write_behind || arriving_ || reading_.probabilities || next == nullptr) return {};
    return [this, next] { return hiding_paths(*next, [&] { return predictor_.plan_that_fits(*next, false); }); };
  }

  void list_left_out() { quarantine_.write(left_out(b_.report), b_.outdated_failures()); }

  void write_names() { names_.write(b_.report.foreign.files); }

  /// Groups images into cases, those that are to be predicted; a case without one of its channels is left out.
  std::vector<Case> wanted_cases(const std::vector<fs::path>& images) {
    InputCases found = o_.recursive ? cases_below(o_.input, images, plan_.channels, o_.formats)
                                    : cases_of_images(images, plan_.channels, o_.formats);
    if (arriving_) arriving_->keep_complete(found.cases, found.failures);
    say_channels(found, plan_.channels.size(), b_.progress);
    name_cases(found, naming_, names_, b_.progress);
    b_.list(found.failures);
    keep_wanted(found.cases, b_.sieve(), [&](const Case& item) { return hashed_case(item, o_.formats); });
    return std::move(found.cases);
  }

  /// Returns what is to be written of a case: the label map on the grid of the files, and what is written beside it.
  CaseWriting restored(const Case& item, PredictedVolume found, const fs::path& file, const ObjectKeys& keys) {
    Volume labels{found.grid, std::move(found.labels)};
    split_sides(sides_, labels);
    labels = parts_of(restore_label(std::move(labels), found.original, plan_, found.crop), item, found);
    CaseWriting writing{.item = item, .opened = outputs_.open(item, labels, keys, found.sums_bytes()), .file = file};
    if (reading_.probabilities) writing.probabilities = named_file(o_.output, item.id, ".npz");
    std::set<std::string> files = writing.opened.files;
    files.insert(file.filename().string());
    if (reading_.probabilities) files.insert(writing.probabilities.filename().string());
    folder_.begin(item.id, files);
    writing.labels = std::move(labels), writing.flags = flags_.last(), writing.found = std::move(found);
    return writing;
  }

  /// Returns the label map as it is written, and gives the case its flags.
  Volume parts_of(Volume labels, const Case& item, const PredictedVolume& found) {
    const std::int64_t held = b_.planned().held.total() + labels.voxels.bytes() + found.sums_bytes();
    b_.leave_room({{MemoryPart::kResults, held + kMostPartBytes * labels.voxels.count()}});
    const std::int64_t left = left_of(o_.formats.limits.memory_bytes, held + b_.warm().total());
    const std::string removed = largest_.keep(LabelSlabs::of(labels.voxels), left);
    if (!removed.empty()) b_.progress.log("case " + item.id + ": " + removed);
    flags_.judge(item.id, labels, found.intensities, left);
    return labels;
  }

  std::vector<std::string> file_hashes(const Case& item) const { return hashes_of(files_of_case(item, o_.formats)); }

  PredictionBatch& b_;
  const PredictOptions& o_;
  OutputFolder& folder_;
  std::string run_hash_;
  VolumeReading reading_;
  DatasetSource naming_{.folder = o_.input, .id_salt = reading_.id_salt, .keep_names = reading_.keep_names};
  CasePredictor predictor_;
  const PreparePlan& plan_;  // of the first model
  const SideRule& sides_;    // of the first model; empty: no classes are joined
  CaseOutputs outputs_;
  std::string made_with_;  // run_hash_, with what is written beside label maps
  CaseFlags flags_;
  QuarantineList quarantine_{o_.output};
  LargestParts largest_;
  std::optional<ArrivingImages> arriving_;  // with {watch}
  std::vector<Case> cases_;
  std::size_t first_ = 0;          // of those that arrived last
  CaseNamesLog names_{o_.output};  // where ids are not the names of files
  std::set<std::string> seen_;     // case ids
};

}  // namespace

PredictReport predict_volumes(const PredictOptions& options, TrainedRun run, const RunContext& context) {
  require_folder_output(options);
  const auto reading = options.task.of<VolumeReading>();
  require_watchable(reading, options);
  require_outbox_apart(reading.outbox, {options.input, options.output, reading.done});
  if (reading.watch) context.require_one_process("{watch}");
  std::optional<PredictionInputs> inputs;
  std::optional<OutputFolder> folder;
  require_averageable(run);
  if (reading.probabilities) require_probabilities(run);
  const CoreWork work = run.others.empty() && !reading.probabilities ? volume_work() : probability_work();
  return run_prediction(options, std::move(run), work, context, [&](PredictionBatch& batch) {
    const bool one_channel = volume_model_of(batch.run).plan.channels.size() == 1;  // two may be of one scan
    inputs.emplace(options, one_channel, batch.report, context.progress());
    folder.emplace(FolderUse{.folder = options.output, .command = "predict", .inputs = output_place(options).inputs});
    return std::make_unique<VolumePrediction>(batch, *inputs, *folder);
  });
}

}  // namespace voxshard
