#include "pipelines/training/run_folder.h"

#include "io/files/content_hash.h"
#include "libcore/base/plain_text.h"
#include "libcore/ranks/alike.h"
#include "libcore/ranks/texts.h"
#include "pipelines/engine/validation.h"
#include "pipelines/model_runs/run_record.h"
#include "pipelines/report_page/report_page.h"
#include "pipelines/report_page/slices_section.h"
#include "pipelines/report_page/validation_detail.h"
#include "pipelines/training/held_out.h"
#include "pipelines/training/run_config.h"
#include "pipelines/training/run_identity.h"

namespace voxshard {
namespace {

/// Returns the column names of validations.csv; the last is that of the metric.
std::vector<std::string> validation_columns(const std::string& metric) {
  return {"step", "weights", "case", "class", metric};
}

/// Returns the rows of one validation, from which the page of a run draws its curves and tables:
///
///   400,last,,,0.71              the score that chooses the best checkpoint
///   400,last,,liver,0.93         a class over all cases
///   400,last,liver_03,liver,0.9  a class in a case
///
///   weights  kLastWeights or kAveragedWeights
std::vector<std::vector<CsvField>> validation_rows(std::int64_t step, const std::string& weights,
                                                   const Validation& validation) {
  std::vector<std::vector<CsvField>> rows;
  const auto add = [&](const std::string& item, const std::string& of_class, double score) {
    rows.push_back({step, weights, plain_text(item), plain_text(of_class), score});
  };
  const auto add_classes = [&](const std::string& item, const std::vector<double>& by_class) {
    for (std::size_t c = 0; c < std::min(by_class.size(), validation.classes.size()); ++c)
      add(item, validation.classes[c], by_class[c]);
  };
  add("", "", validation.score);
  add_classes("", validation.by_class);
  for (const ValidatedCase& one : validation.cases) add_classes(one.name, one.by_class);
  return rows;
}

std::string hash_of(const Checkpoint& checkpoint) {
  ContentHash hash;
  for (const Parameters* tensors : {&checkpoint.parameters, &checkpoint.optimizer, &checkpoint.averages})
    for (const auto& [name, tensor] : *tensors) {
      hash.add(name);
      hash.add(std::span(tensor.data(), static_cast<std::size_t>(tensor.bytes())));
    }
  return hash.text();
}

}  // namespace

RunFolder::RunFolder(const TrainOptions& o, Transport& transport)
    : run_(o.run),
      resume_(o.resume),
      restart_(o.restart),
      transport_(transport),
      checkpoints_(o.run / "checkpoints", o.kept),
      goes_on_(broadcast_flag(transport, [&] { return o.resume && checkpoints_.holds_run(); })) {
  if (transport.rank() == 0)
    folder_.emplace(FolderUse{.folder = o.run, .command = "train", .inputs = {o.work}, .adopts = goes_on_});
}

void RunFolder::require_startable() const {
  if (!writes()) return;
  if (checkpoints_.holds_run() && !resume_ && !restart_)
    throw Error(ErrorKind::kUsage, "[train] " + run_.string() +
                                       " already holds a run; go on with {resume}, or throw it away with {restart}");
  if (!restart_ && !goes_on_) require_no_lost_checkpoints(run_);
}

void RunFolder::start(const std::string& options) {
  if (writes()) folder_->start({.options = options, .parts = {}});
}

void RunFolder::clear(bool resume) {
  if (!writes()) return;
  make_output_folder(run_ / "checkpoints");
  if (resume) return;
  checkpoints_.remove_all();  // also the best checkpoint of a run that was killed before its first regular one
  for (const char* name : {"results.csv", "validations.csv", kConfigFile}) std::filesystem::remove(run_ / name);
  std::error_code stays;  // what cannot be removed of the page ends no training
  for (const char* name : {kSlicesFile, kLastDetailFile, kBestDetailFile, kFingerprintFile, kReportPage})
    std::filesystem::remove(run_ / name, stays);
  MetricsLog::remove(run_);
  remove_held_out();
}

void RunFolder::remove_held_out() const {
  std::error_code error;
  if (writes()) std::filesystem::remove_all(run_ / kHeldOutFolder, error);
  if (error)
    throw Error(ErrorKind::kOutput, "[output] " + (run_ / kHeldOutFolder).string() +
                                        " cannot be removed: " + error.message() + "; check its permissions");
}

void RunFolder::write(const std::string& name, const nlohmann::ordered_json& json) const {
  if (writes()) write_json(run_ / name, json);
}

void RunFolder::begin_rows(const std::vector<std::string>& columns, const MetricsBegin& begin) {
  if (!writes()) return;
  rows_ = CsvWriter::resume(run_ / "results.csv", columns, begin.steps_done);
  metrics_.emplace(run_, begin);
}

void RunFolder::row(const std::vector<CsvField>& fields) {
  if (rows_) rows_->write(fields);
}

void RunFolder::begin_validations(const std::string& metric, std::int64_t steps_done) {
  if (writes()) validations_ = CsvWriter::resume(run_ / "validations.csv", validation_columns(metric), steps_done);
}

void RunFolder::validation(std::int64_t step, const std::string& weights, const Validation& validation) {
  if (validations_) validations_->write_all(validation_rows(step, weights, validation));
}

void RunFolder::add(const StepMetrics& metrics) {
  if (metrics_) metrics_->add(metrics);
}

void RunFolder::add(const ValidationMetrics& metrics) {
  if (metrics_) metrics_->add(metrics);
}

void RunFolder::slices(std::int64_t step, const nlohmann::ordered_json& cases) const {
  if (!writes()) return;
  if (cases.is_null() || cases.empty())
    std::filesystem::remove(run_ / kSlicesFile);
  else
    write_json(run_ / kSlicesFile, {{"step", step}, {"cases", cases}});
}

void RunFolder::last_detail(std::int64_t step, const nlohmann::ordered_json& detail) const {
  write_detail(kLastDetailFile, step, kLastWeights, detail);
}

void RunFolder::best_detail(std::int64_t step, bool averaged, const nlohmann::ordered_json& detail) const {
  write_detail(kBestDetailFile, step, averaged ? kAveragedWeights : kLastWeights, detail);
}

void RunFolder::write_detail(const char* file, std::int64_t step, const char* weights,
                             const nlohmann::ordered_json& detail) const {
  if (!writes()) return;
  nlohmann::ordered_json json = {{"step", step}, {"weights", weights}};
  if (detail.is_null())
    std::filesystem::remove(run_ / file);
  else
    json.update(detail), write_json(run_ / file, json);
}

void RunFolder::save_last(const CheckpointState& state, const Parameters& parameters, const Parameters& optimizer,
                          const Parameters& averages) {
  if (writes()) checkpoints_.save_last(state, parameters, optimizer, averages);
}

void RunFolder::save_best(const CheckpointState& state, const Parameters& parameters,
                          const Parameters& averages) const {
  if (writes()) checkpoints_.save_best(state, parameters, averages);
}

std::optional<ValidCheckpoint> RunFolder::load_newest() {
  std::optional<ValidCheckpoint> found;
  if (writes()) {
    found = checkpoints_.load_newest();
    if (!found) checkpoints_.remove_all();  // the best checkpoint of a run that cannot be resumed
  }
  if (transport_.ranks() == 1) return found;
  const std::string file = broadcast_text(transport_, found ? found->file.string() : "", kMostWordBytes);
  if (file.empty()) return std::nullopt;
  if (!found) found = ValidCheckpoint{.file = file, .checkpoint = load_checkpoint(file)};
  require_alike(transport_, {{"the checkpoint " + file, hash_of(found->checkpoint)}});
  return found;
}

}  // namespace voxshard
