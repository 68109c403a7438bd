#include "pipelines/engine/run_evaluation.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "io/files/content_hash.h"
#include "io/output/output_folder.h"
#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"
#include "libcore/planner/budget.h"
#include "pipelines/engine/seen_inputs.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

const OutputKind kRunScores = {"scores of a run by voxshard evaluate", {".json"}, begins_with({R"({"loss":)"})};

/// Returns the rows of "loss_sums" that a core owns; empty when they are replicated, since rank 0 then has them itself.
std::vector<std::byte> sums_of_core(const CoreSet& cores, std::size_t core) {
  const Program& program = cores.executable().program;
  const ValueId id = program.graph.outputs.at("loss_sums");
  if (program.replicated(id)) return {};
  const TensorView own = cores.owned(id, core);
  std::vector<std::byte> bytes(static_cast<std::size_t>(own.count() * dtype_bytes(own.dtype)));
  copy(own, dense_view(bytes.data(), own.dtype, own.box));
  return bytes;
}

/// Writes the rows of a core into `sums`; cores that share a group have equal rows of it. Returns the bytes after the
/// rows.
std::span<const std::byte> take_sums(const Program& program, std::size_t core, std::span<const std::byte> bytes,
                                     const Tensor& sums) {
  const ValueId id = program.graph.outputs.at("loss_sums");
  if (program.replicated(id)) return bytes;
  const Box& own = program.plan(id).own[core];
  const auto own_bytes = static_cast<std::size_t>(own.count() * dtype_bytes(sums.dtype()));
  ensure(bytes.size() >= own_bytes, "a core gives the sums that it owns");
  if (!own.empty()) copy(dense_view(const_cast<std::byte*>(bytes.data()), sums.dtype(), own), sums.view().sub(own));
  return bytes.subspan(own_bytes);
}

class EvaluationLoop {
 public:
  EvaluationLoop(const EvaluateOptions& options, TrainedRun run, const RunContext& context, RunEvaluation& task)
      : context_(context),
        task_(task),
        progress_(context.progress()),
        cases_(task.cases()),
        asked_steps_(options.steps) {
    const Mesh& mesh = run.spec.cut.mesh;
    scores_ = {.checkpoint = run.file,
               .weights = run.weights,
               .step = run.step,
               .loss_name = task.loss_name(),
               .rule = "means over whole batches: loss over replicas and batches, " + task.rule() +
                       "; norms by their running statistics",
               .mesh = mesh,
               .batch = options.batch > 0 ? options.batch : mesh.replicas,
               .seen = task.seen(run.trained_on),
               .failures = task.failures()};
    if (scores_.batch % mesh.replicas != 0)
      throw Error(ErrorKind::kConfig, "[evaluate] the batch " + std::to_string(scores_.batch) +
                                          " must be divisible by the " + std::to_string(mesh.replicas) + " replicas");
    session_ = context.session(run);
  }

  RunScores run() {
    require_same_cases();
    coordinate(
        *session_, work(), context_.predicting(), [&] { evaluate(); }, &scores_.memory);
    return std::move(scores_);
  }

 private:
  void require_same_cases() const {
    const std::string names = joined(cases_, "\n", [](const std::string& name) { return name; });
    context_.require_alike({{"the number of cases", std::to_string(cases_.size())},
                            {"the names of the cases (a hash)", content_hash(names)}});
  }

  std::int64_t whole_batches() const { return std::ssize(cases_) / scores_.batch; }
  std::int64_t steps() const { return asked_steps_ > 0 ? asked_steps_ : whole_batches(); }

  std::vector<std::size_t> cases_of(std::int64_t step) const {
    std::vector<std::size_t> cases;
    for (std::int64_t i = 0; i < scores_.batch; ++i)
      cases.push_back(static_cast<std::size_t>((step * scores_.batch + i) % std::ssize(cases_)));
    return cases;
  }

  void evaluate() {
    plan();
    const Stopwatch watch;
    progress_.update("evaluate", 0, steps(), "");
    for (std::int64_t step = 0; step < steps(); ++step) {
      throw_if_stopped(progress_);
      scores_.batches.push_back(one_batch(step));
      progress_.update("evaluate", step + 1, steps(), "loss " + fixed_text(scores_.batches.back().loss(), 4));
    }
    const auto count = static_cast<double>(scores_.batches.size());
    for (const EvaluatedBatch& batch : scores_.batches)
      scores_.loss += batch.loss() / count, scores_.loss_replica_0 += batch.losses.front() / count;
    scores_.own = task_.totals();
    scores_.seconds = watch.seconds();
  }

  /// Plans all batches. Errors: kNoCase when the cases fill no batch; kBudget for a size over the budget.
  void plan() {
    if (cases_.empty() || steps() == 0)
      throw Error(ErrorKind::kNoCase, "[evaluate] " + std::to_string(cases_.size()) + " cases do not fill a batch of " +
                                          std::to_string(scores_.batch) +
                                          "; give a smaller {eval_batch_size}, or {eval_steps}, which repeats them");
    if (asked_steps_ == 0) scores_.dropped.assign(cases_.begin() + whole_batches() * scores_.batch, cases_.end());
    if (!scores_.dropped.empty())
      progress_.log(std::to_string(scores_.dropped.size()) + " of " + std::to_string(cases_.size()) +
                    " cases do not fill a batch of " + std::to_string(scores_.batch) + " and are dropped");
    std::set<Shape> sizes;
    for (std::int64_t step = 0; step < std::min(steps(), std::ssize(cases_));
         ++step)  // after that many steps the batches repeat
      sizes.insert(task_.extents(cases_of(step)));
    const PlannedBytes planned = plan_runs(*session_, sizes, Phase::kEvaluate, std::to_string(steps()) + " batches",
                                           context_.predicting(), progress_);
    if (!planned.refused.empty()) refuse(*planned.refused.begin(), planned.held);
    for (const Shape& extents : sizes)
      scores_.memory = widest(scores_.memory, planned.held + planned.cores(extents) + task_.batch_plan(extents));
  }

  /// Throws the error of a size over the budget, with a {host-memory} that would do.
  [[noreturn]] void refuse(const std::pair<const Shape, Error>& refused, const ProcessPlan& held) {
    const Shape& extents = refused.first;
    const Error& error = refused.second;
    const std::int64_t others = (held + task_.batch_plan(extents)).total() + kMeasuredDiffer;
    const auto needed = [&](std::int64_t budget_bytes) -> std::optional<std::int64_t> {
      const auto bytes = session_->bytes_within(extents, Phase::kEvaluate, budget_bytes);
      if (!bytes) return std::nullopt;
      return others + plan_of(bytes->run).total() + bytes->kept;
    };
    const auto enough = context_.alone() ? budget_that_does(context_.budget_bytes(), needed) : std::nullopt;
    throw enough ? naming_host_memory(error, *enough) : error;
  }

  /// The note of a run is its step. A core serialises its rows of the sums, followed by the task's own results.
  CoreWork work() {
    CoreWork work;
    work.phase = Phase::kEvaluate;
    work.serialise = [find = task_.find()](const nlohmann::json& note, const CoreSet& cores, std::size_t core) {
      std::vector<std::byte> bytes = sums_of_core(cores, core);
      if (!find) return bytes;
      const std::vector<std::byte> found = find(note, cores, core);
      bytes.insert(bytes.end(), found.begin(), found.end());
      return bytes;
    };
    work.load = [this](const nlohmann::json& note, const Program& program) {
      const auto [begin, end] = samples_of(program, session_->transport().place());
      task_.load(cases_of(note.get<std::int64_t>()), begin, end, context_.pool());
    };
    work.fill = [this](const nlohmann::json&, const InputInfo& input, const TensorView& box) {
      task_.fill(input, box);
    };
    work.done = [this](const nlohmann::json&) { task_.unload(); };
    return work;
  }

  EvaluatedBatch one_batch(std::int64_t step) {
    const std::vector<std::size_t> cases = cases_of(step);
    const Shape extents = task_.extents(cases);
    const Program& program = session_->plan(extents, Phase::kEvaluate).program;
    const ValueId id = program.graph.outputs.at("loss_sums");
    const Tensor sums(DType::kF64, program.graph.node(id).type.shape);
    const TakeCore take_found = task_.take();
    std::mutex writing;  // several cores own the same rows
    const auto take = [&](std::size_t core, std::span<const std::byte> bytes) {
      std::unique_lock lock(writing);
      const std::span<const std::byte> found = take_sums(program, core, bytes, sums);
      lock.unlock();
      if (take_found) take_found(core, found);
    };
    const CoreSet& cores = run_cores(*session_, work(), {.extents = extents, .note = step, .take = take});
    if (program.replicated(id)) copy(cores.replicated(id), sums.view());
    EvaluatedBatch batch{.losses = losses(sums.view()), .own = task_.score(cases, sums.view())};
    for (const std::size_t i : cases) batch.cases.push_back(cases_[i]);
    return batch;
  }

  /// Returns the loss of each replica: the mean over its groups, of which a loss per sample has several.
  std::vector<double> losses(const TensorView& sums) const {
    const std::int64_t share = sums.extent()[0] / scores_.mesh.replicas;
    std::vector<double> losses;
    for (std::int64_t replica = 0; replica < scores_.mesh.replicas; ++replica) {
      double loss = 0;
      for (std::int64_t group = replica * share; group < (replica + 1) * share; ++group) {
        TensorView row = sums.sub({{group, 0}, {1, sums.extent()[1]}});
        row.box = Box::whole(row.extent());  // as the only group
        loss += task_.loss_of(row) / static_cast<double>(share);
      }
      losses.push_back(loss);
    }
    return losses;
  }

  const RunContext& context_;
  RunEvaluation& task_;
  Progress& progress_;
  std::vector<std::string> cases_;
  std::int64_t asked_steps_;
  std::unique_ptr<Session> session_;
  RunScores scores_;
};

}  // namespace

double EvaluatedBatch::loss() const {
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
}

RunScores evaluate_run(const EvaluateOptions& options, TrainedRun run, const RunContext& context,
                       RunEvaluation& evaluation) {
  return EvaluationLoop(options, std::move(run), context, evaluation).run();
}

void require_settings_of_run(const EvaluateOptions& options, const std::set<std::string>& of_run,
                             const std::string& predictions) {
  for (const GivenSetting& given : options.task.given)
    if (!of_run.contains(given.name))
      throw Error(ErrorKind::kUsage, "[evaluate] {" + given.name + "} is for " + predictions + ", and " +
                                         options.predictions.string() + " is a run; leave it out");
}

TaskReport report_run_scores(const EvaluateOptions& options, TrainedRun run, const RunContext& context,
                             RunEvaluation& evaluation) {
  require_output_file(options.summary, kRunScores, {.inputs = {options.predictions, options.references}});
  RunScores scores = evaluate_run(options, std::move(run), context, evaluation);
  scores.memory -= base_plan(context.base_bytes());  // the command adds it
  if (!context.writes()) return {.memory = scores.memory};
  if (!options.summary.empty()) {
    if (options.summary.has_parent_path()) make_output_folder(options.summary.parent_path());
    write_json(options.summary, to_json(scores));
  }
  TaskReport report{
      .json = to_json(scores), .text = to_text(scores), .partial = !scores.failures.empty(), .memory = scores.memory};
  constexpr int kDigits = 6;
  report.scores = {{"", "loss", scores.loss, kDigits}};
  for (const NamedScore& score : scores.own) report.scores.push_back({"", score.name, score.value, kDigits});
  return report;
}

Json to_json(const RunScores& s) {
  Json json = {{"loss", json_number(s.loss)}};
  for (const NamedScore& score : s.own) json[score.name] = json_number(score.value);
  json.update(Json{{"global_step", s.step},
                   {"rule", s.rule},
                   {"loss_name", s.loss_name},
                   {"loss_replica_0", json_number(s.loss_replica_0)},
                   {"checkpoint", s.checkpoint.string()},
                   {"eval_batch_size", s.batch},
                   {"eval_steps", s.batches.size()},
                   {"replicas", s.mesh.replicas},
                   {"partition", to_string(s.mesh.partition)},
                   {"dropped", s.dropped},
                   {"seconds", s.seconds},
                   {"trained_on", s.seen.trained_on.size()}});
  if (!s.weights.empty()) json["weights"] = s.weights;
  if (!s.failures.empty()) json["failures"] = to_json(s.failures);
  json["batches"] = Json::array();
  for (const EvaluatedBatch& batch : s.batches) {
    json["batches"].push_back({{"cases", batch.cases}, {"loss", json_number(batch.loss())}});
    for (const NamedScore& score : batch.own) json["batches"].back()[score.name] = json_number(score.value);
  }
  return json;
}

std::string to_text(const RunScores& s) {
  std::vector<std::vector<std::string>> rows = {{"", "value"}, {"loss (" + s.loss_name + ")", fixed_text(s.loss, 6)}};
  for (const NamedScore& score : s.own) rows.push_back({score.name, fixed_text(score.value, 6)});
  if (s.mesh.replicas > 1) rows.push_back({"loss of replica 0", fixed_text(s.loss_replica_0, 6)});
  std::string text = seen_text(s.seen) + text_table(rows) + std::to_string(s.batches.size()) + " batches of " +
                     std::to_string(s.batch) + " over " + std::to_string(s.mesh.replicas) + " x " +
                     to_string(s.mesh.partition) + " cores, global step " + std::to_string(s.step) + " of " +
                     s.checkpoint.string() + (s.weights.empty() ? "" : ", its " + s.weights + " weights");
  if (!s.dropped.empty())
    text += "; dropped, as they fill no batch: " + joined(s.dropped, ", ", [](const std::string& id) { return id; });
  text += "\n";
  for (const CaseFailure& f : s.failures) text += "  " + f.id + ": " + f.code + " " + f.message + "\n";
  return text;
}

}  // namespace voxshard
