#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"

#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "io/files/content_hash.h"
#include "io/output/output_folder.h"
#include "io/volume/mapped_volume.h"
#include "libcore/base/stopwatch.h"
#include "pipelines/engine/case_pass.h"
#include "pipelines/engine/none_left.h"
#include "pipelines/tasks/segmentation/dataset/case_memory.h"
#include "pipelines/tasks/segmentation/dataset/channel_fingerprints.h"
#include "pipelines/tasks/segmentation/dataset/hiding_paths.h"
#include "pipelines/tasks/segmentation/dataset/prepare_case.h"
#include "pipelines/tasks/segmentation/dataset/prepare_choices.h"
#include "pipelines/tasks/segmentation/dataset/prepare_report.h"
#include "pipelines/tasks/segmentation/dataset/prepare_sources.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The steps of `prepare` in every process: each has its share of the cases, the first process owns the folder.
class Preparation {
 public:
  Preparation(const PrepareOptions& options, const RunContext& context)
      : options_(options),
        context_(context),
        progress_(context.progress()),
        gate_(options.formats.limits.memory_bytes) {}

  PrepareReport run() {
    const Stopwatch watch;
    open();
    look_at_sources();
    if (options_.dry_run) return rehearsed();
    if (!report_.interrupted) make_plan();
    if (!report_.interrupted) {
      start_folder();
      prepare_cases();
      report_.seconds = watch.seconds();
      finish();
    }
    return std::move(report_);
  }

 private:
  // The steps for one case; errors of an anonymous one name no file.
  std::int64_t size_of(const Case& item) const {
    return hiding_paths(item, [&] { return reading_case_plan(item, options_.formats); }).total();
  }
  ProcessPlan fingerprint_plan(const Case& item) const {
    return hiding_paths(item, [&] { return fingerprint_case_plan(item, plan_, options_.formats); });
  }
  ProcessPlan plan_of(const Case& item) const {
    return hiding_paths(item, [&] { return preparing_case_plan(item, plan_, options_.formats); });
  }
  CaseFingerprints fingerprints(const Case& item) const {
    return hiding_paths(item,
                        [&] { return take_fingerprints(item, plan_, dataset_.training.size(), options_.formats); });
  }
  Json prepared(const Case& item) const {
    return hiding_paths(item, [&] { return prepare_case(item, plan_, options_, progress_); });
  }

  void open() {
    plan_ = plan_from_options(options_);
    DatasetSource source = options_.source;
    source.folder = options_.dataset;
    for (const fs::path& folder : folders_of(source)) reading_.push_back(FolderLock::reading(folder));
    SourceDataset found = read_dataset_source(source, options_.work, options_.formats, context_, gate_);
    dataset_ = std::move(found.dataset), names_ = std::move(found.names), report_.ids = found.ids;
    choose_channels(plan_, options_, dataset_, progress_);
    plan_.class_names = dataset_.label_names, plan_.ignore_label = dataset_.ignore_label;
    report_.work = options_.work;
    if (context_.writes())
      folder_.emplace(FolderUse{.folder = options_.work, .command = "prepare", .inputs = inputs_of(dataset_)});
    for (const auto& p : dataset_.problems) report_.failures.push_back({p.id, p.code, p.reason});
    for (const auto& f : report_.failures)
      progress_.warn("case " + f.id + ": " + f.code + " " + f.message + " [quarantined]");
    require_cases();
    sources_.resize(dataset_.training.size()), warnings_.resize(dataset_.training.size());
    usable_.assign(dataset_.training.size(), 1);
  }

  void look_at(std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    const Case& item = dataset_.training[at];
    sources_[at] = hiding_paths(item, [&] { return source_hashes(item, options_.formats); });
    warnings_[at] =
        hiding_paths(item, [&] { return source_warnings(item, options_.resamples_channels, options_.formats); });
  }
  Json looked_at(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return {{"sources", sources_[at]}, {"warnings", to_json(warnings_[at])}};
  }
  void take_looked_at(std::int64_t i, const Json& value) {
    const auto at = static_cast<std::size_t>(i);
    sources_[at] = value.at("sources"), warnings_[at] = failures_from_json(value.at("warnings"));
  }

  /// Looks at the source files of all cases when resuming: an earlier plan holds only if they are unchanged.
  void look_at_sources() {
    if (!options_.resume) return;
    CasePass pass("compare", case_ids(dataset_.training), context_, gate_);
    pass.run({.need = [](std::int64_t) { return ProcessPlan(); },
              .body = [&](std::int64_t i) { look_at(i); },
              .value = [&](std::int64_t i) { return looked_at(i); },
              .take = [&](std::int64_t i, const Json& value) { take_looked_at(i, value); },
              .size = [&](std::int64_t i) { return size_of(dataset_.training[i]); }});
    if (report_.interrupted = pass.stopped(); report_.interrupted) return;
    const Json agreed = context_.broadcast([&] {
      const auto earlier = earlier_plan(options_.work, request_of(options_, dataset_, sources_));
      return earlier ? to_json(*earlier) : Json();
    });
    has_plan_ = !agreed.is_null();
    if (has_plan_) plan_ = plan_from_json(agreed);
  }

  /// Returns what would become of the cases.
  PrepareReport rehearsed() {
    if (!has_plan_) plan_spacing_by_headers(plan_, options_, dataset_.training);
    const bool resumes = has_plan_ && folder_ && folder_->made_with(options_hash(plan_, options_));
    rehearse_cases(options_, plan_, dataset_.training, progress_, report_, [&](std::size_t i) {
      return resumes && folder_->holds(case_part(dataset_.training[i].id), content_hash(sources_[i].dump()));
    });
    return std::move(report_);
  }

  /// The first pass: checks that every case can be used and takes its fingerprint, from which the plan follows.
  void make_plan() {
    if (!has_plan_) {
      std::vector<std::vector<CaseFingerprint>> all(dataset_.training.size());  // by case
      CasePass pass("fingerprint", case_ids(dataset_.training), context_, gate_);
      usable_ = pass.run({.need =
                              [&](std::int64_t i) {
                                if (!options_.resume) look_at(i);
                                return fingerprint_plan(dataset_.training[i]);
                              },
                          .body =
                              [&](std::int64_t i) {
                                const Case& item = dataset_.training[i];
                                CaseFingerprints found = fingerprints(item);
                                add_warnings(item.id, found.notes, warnings_[i]);
                                all[i] = std::move(found.channels);
                              },
                          .value =
                              [&](std::int64_t i) {
                                return Json{{"looked", looked_at(i)}, {"found", fingerprint_messages(all[i])}};
                              },
                          .take =
                              [&](std::int64_t i, const Json& value) {
                                take_looked_at(i, value.at("looked"));
                                all[i] = fingerprints_of(value.at("found"));
                              },
                          .size = [&](std::int64_t i) { return size_of(dataset_.training[i]); }});
      if (report_.interrupted = pass.stopped(); report_.interrupted) return;
      report_.failures.insert(report_.failures.end(), pass.failures().begin(), pass.failures().end());
      std::vector<std::vector<CaseFingerprint>> good(plan_.channels.size());  // by channel
      for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t c = 0; usable_[i] && c < good.size(); ++c) good[c].push_back(std::move(all[i].at(c)));
      if (good.front().empty()) throw_no_case();
      complete_channels(plan_, options_, good);
      fingerprint_ = to_json(good, plan_);
    }
    for (std::size_t i = 0; i < warnings_.size(); ++i)
      for (CaseFailure& w : warnings_[i]) {
        if (!usable_[i]) continue;
        progress_.warn("case " + w.id + ": " + w.code + " " + w.message);
        report_.warnings.push_back(std::move(w));
      }
  }

  void start_folder() {
    const Json request = request_of(options_, dataset_, sources_);
    data_ = content_hash(request.dump());
    if (context_.writes()) {
      folder_->start(
          {.options = options_hash(plan_, options_), .parts = part_names(dataset_), .resume = options_.resume});
      if (!names_.empty()) write_case_names(options_.work, names_);
      for (const char* part : {"images", "labels", "foreground", "cases"}) make_output_folder(options_.work / part);
      if (!fingerprint_.is_null()) {
        folder_->begin(kFingerprintPart, {"fingerprint.json"});
        write_json(options_.work / "fingerprint.json", fingerprint_);
        folder_->commit(kFingerprintPart, data_);
      }
      if (!folder_->holds(kPlansPart, data_)) {
        folder_->begin(kPlansPart, {"plans.json"});
        write_json(options_.work / "plans.json", {{"prepare", to_json(plan_)}, {"request", request}});
        folder_->commit(kPlansPart, data_);
      }
    }
    context_.barrier();  // the folder is started: the other processes may write into it now
    if (!context_.writes()) own_log_ = context_.own_log(options_.work);
  }

  void prepare_cases() {
    std::vector<std::string> made_of;
    for (std::size_t i = 0; i < usable_.size(); ++i)
      if (usable_[i]) cases_.push_back(dataset_.training[i]), made_of.push_back(content_hash(sources_[i].dump()));
    std::vector<Json> records(cases_.size());
    std::vector<char> finished(cases_.size(), 0);
    PartLog& log = context_.writes() ? folder_->log() : *own_log_;
    CasePass pass("prepare", case_ids(cases_), context_, gate_);
    const auto good =
        pass.run({.need =
                      [&](std::int64_t k) {
                        const auto i = static_cast<std::size_t>(k);
                        finished[i] = log.holds(case_part(cases_[i].id), made_of[i]);
                        return finished[i] ? ProcessPlan() : plan_of(cases_[i]);
                      },
                  .body =
                      [&](std::int64_t k) {
                        const auto i = static_cast<std::size_t>(k);
                        if (finished[i]) {
                          records[i] = read_record(options_.work, cases_[i].id);
                          return;
                        }
                        log.begin(case_part(cases_[i].id), case_files(cases_[i].id, plan_.channels.size()));
                        records[i] = prepared(cases_[i]);
                        log.commit(case_part(cases_[i].id), made_of[i]);
                      },
                  .value =
                      [&](std::int64_t k) {
                        return Json{{"record", records[k]}, {"finished", finished[k] != 0}};
                      },
                  .take =
                      [&](std::int64_t k, const Json& value) {
                        records[k] = value.at("record");
                        finished[k] = value.at("finished").get<bool>();
                      },
                  .size = [&](std::int64_t k) { return size_of(cases_[k]); }});
    report_.failures.insert(report_.failures.end(), pass.failures().begin(), pass.failures().end());
    report_.interrupted = pass.stopped();
    for (std::size_t i = 0; i < good.size(); ++i) {
      if (!good[i]) continue;
      std::int64_t voxels = 1;
      for (const Json& extent : records[i].at("shape")) voxels *= extent.get<std::int64_t>();
      report_.voxels += voxels;
      listed_.push_back(std::move(records[i]));
      ++(finished[i] ? report_.skipped : report_.prepared);
    }
    report_.memory = gate_.widest();
    complete_report(options_, plan_, dataset_, listed_, progress_, report_);
  }

  void finish() {
    if (!report_.interrupted && listed_.empty()) throw_no_case();
    if (context_.writes()) write_quarantine(options_.work, report_.failures);
    if (report_.interrupted || !context_.writes()) return;
    write_run_file(options_, report_);
    folder_->begin(kDatasetPart, {"dataset.json"});
    write_json(options_.work / "dataset.json", prepared_listing(dataset_, plan_, listed_));
    folder_->commit(kDatasetPart, data_);
    folder_->finish(parts_in_order(cases_));
  }

  /// Throws kNoCase in every process that sees no case, also when other processes see some.
  void require_cases() {
    const bool none = dataset_.training.empty();
    const bool some_see_cases = context_.any(!none);
    if (none && some_see_cases)
      throw Error(ErrorKind::kNoCase,
                  "[prepare] no case in " + options_.dataset.string() +
                      ", where other processes of the run see some; give a folder that all hosts share");
    if (none) throw_no_case();
  }

  /// Throws kNoCase, or kBudget; all processes call it. The first process reports why, and the others wait for it.
  [[noreturn]] void throw_no_case() {
    if (!context_.writes()) {
      context_.barrier();
      throw Error(ErrorKind::kNoCase, "[prepare] no usable case in " + options_.dataset.string());
    }
    if (!options_.dry_run) {
      folder_->claim();
      if (!names_.empty()) write_case_names(options_.work, names_);
      write_quarantine(options_.work, report_.failures);
    }
    throw Error(kind_of_none(report_.failures), no_case_text(options_, report_.failures));
  }

  const PrepareOptions& options_;
  const RunContext& context_;
  Progress& progress_;
  MemoryGate gate_;
  std::vector<FolderLock> reading_;
  Dataset dataset_;
  CaseNames names_;  // where ids are anonymous
  PreparePlan plan_;
  bool has_plan_ = false;               // true: the plan of an earlier call holds
  std::optional<OutputFolder> folder_;  // on the first process
  std::unique_ptr<PartLog> own_log_;    // on the other processes
  std::vector<Json> sources_;           // by case of the data set, like the next two
  std::vector<std::vector<CaseFailure>> warnings_;
  std::vector<char> usable_;
  Json fingerprint_;
  std::string data_;         // hash of request_of()
  std::vector<Case> cases_;  // the usable ones
  Json listed_ = Json::array();
  PrepareReport report_;
};

}  // namespace

PrepareReport prepare_dataset(const PrepareOptions& options, const RunContext& context) {
  return Preparation(options, context).run();
}

}  // namespace voxshard
