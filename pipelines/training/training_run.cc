#include "pipelines/training/training_run.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "libcore/base/plain_text.h"
#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"
#include "libcore/kernels/conv.h"
#include "libcore/ops/op_table.h"
#include "libcore/ranks/texts.h"
#include "libcore/train/initialise.h"
#include "pipelines/engine/core_messages.h"
#include "pipelines/model_runs/rank_json.h"
#include "pipelines/profile/device_advice.h"
#include "pipelines/training/fine_tuning.h"
#include "pipelines/training/run_identity.h"
#include "pipelines/training/train_ranks.h"

namespace voxshard {

TrainingRun::TrainingRun(TrainOptions& options, const RecordFormat& records, RunFolder& folder,
                         std::unique_ptr<TrainingTask> task, const RunContext& context)
    : o_(options),
      records_(records),
      folder_(folder),
      context_(context),
      transport_(context.transport()),
      progress_(context.progress()),
      task_(std::move(task)) {
  extents_ = task_->largest_extents(o_.batch);
  const Footprint bytes = plan_memory();
  const Graph graph = build_graph(o_.spec, extents_, Phase::kTrain, o_.spec.precision);
  memory_ = memory_json(bytes);
  report_.parameters = count_parameters(graph);
  report_.train_cases = task_->training_cases(), report_.validation_cases = task_->validation_cases();
  report_.metric = task_->metric(), report_.unseen = task_->unseen();
  report_.chosen_on_test = task_->validates_on_test(), report_.left_out = task_->left_out();
  notes_.push_back("planned: " + bytes_text(bytes.widest_core()) + " per core, " + bytes_text(memory_plan_.total()) +
                   " in this process; " + std::to_string(report_.parameters) + " parameters");
  std::ranges::copy(task_->notes(), std::back_inserter(notes_));
  if (report_.validation_cases == 0)
    notes_.push_back(
        std::string(
            "nothing validates: no case is held out, so that no checkpoint is chosen as the best; predict takes "
            "the ") +
        (keeps_average() ? "averaged" : "last") + " weights");
  if (o_.spec.precision == DType::kBF16 && !cpu_has_native_bf16())
    notes_.push_back("this processor does not multiply bf16: values are stored as bf16 and multiplied in f32");
  session_->parameters() = initialise(graph, o_.seed);
  nlohmann::json from = begin_from();
  if (transport_.ranks() > 1) {
    const auto [begin, end] = samples_of(session_->plan(extents_, Phase::kTrain).program, transport_.place());
    task_->share(begin, end);
  }
  trainer_ = std::make_unique<Trainer>(*session_, o_.optimizer, graph, o_.steps, o_.seed);
  feed_.emplace(o_.feed, o_.spec.cut.mesh, *task_);
  state_ = {.model = to_json(o_.spec),
            .prepare = task_->preparation(),
            .training = training_json(o_, *task_),
            .content = {},
            .from = std::move(from),
            .machine = machine_json()};
  require_same_data(transport_, state_, task_->validation_extents(o_.spec));
}

TrainReport TrainingRun::go(TrainedOn* held_out, const ProcessPlan& measured) {
  const Stopwatch watch;
  for (const std::string& note : notes_) progress_.log(note);
  for (const std::string& warning : warnings_) progress_.warn(warning);
  open_folder(held_out);
  trace_.emplace(o_.trace, context_.threads(), &transport_);
  const Program& program = session_->plan(extents_, Phase::kTrain).program;
  trace_->price(program, op_table(), feed_of(program.graph, records_));
  if (o_.device)
    for (const std::string& text : device_warnings(program, op_table(), *o_.device, feed_of(program.graph, records_)))
      progress_.warn(text);
  if (o_.resume) restore();
  describe();
  const bool had_work = trainer_->steps_done() < o_.steps || !state_.unvalidated.is_null() || ends_early_;
  if (had_work)
    folder_.remove_held_out(), write_report(false);
  else
    progress_.log("all " + std::to_string(o_.steps) + " steps are done: nothing is left to train; more with {steps}");
  if (data_changed_) save();
  folder_.begin_rows(columns(), {trainer_->steps_done(), !state_.unvalidated.is_null()});
  if (report_.validation_cases > 0) folder_.begin_validations(report_.metric, trainer_->steps_done());
  progress_.update("train", trainer_->steps_done(), o_.steps, "");
  try {
    if (!state_.unvalidated.is_null()) validate_again();
    if (ends_early_) end_early();
    steps();
  } catch (const Stopped&) {
    report_.interrupted = true;
    trace_->end_step();
  } catch (Error& e) {
    if (e.kind() != ErrorKind::kInput || transport_.ranks() > 1) throw;  // other ranks may be within a step
    save();
    throw Error(e.kind(), e.code(),
                std::string(e.what()) + " [the state of step " + std::to_string(trainer_->steps_done()) +
                    " is saved; {resume} {accept-changes} goes on without this file]");
  }
  trace_->write();
  if (report_.interrupted) save();
  report_.steps = trainer_->steps_done();
  report_.drawn_on = task_->drawn_on(report_.steps * o_.batch);
  report_.best_score = state_.best_score, report_.best_weights = state_.weights;
  report_.seconds = watch.seconds();
  report_.feed = feed_->report();
  if (o_.feed == FeedMode::kPerHost) progress_.log(to_text(report_.feed));
  if (const auto text = report_.feed.warning(); text && o_.device) progress_.warn(*text);
  report_.memory = context_.memory().report(widest(memory_plan_, measured), progress_);
  report_.ranks = gather_reports(transport_, {{"memory", to_json(report_.memory)}, {"feed", to_json(report_.feed)}});
  if (had_work) write_report(true), write_page();
  return report_;
}

TrainingRun::Measured TrainingRun::measure(double about_s) && {
  constexpr int kFewest = 3, kMost = 50;
  trace_.emplace(TraceOptions{}, context_.threads(), &transport_);
  one_step();  // the first also makes kernels and touches memory
  const Stopwatch watch;
  points_ = 0;
  int done = 0;
  const auto goes_on = [&] { return done < kFewest || (done < kMost && watch.seconds() < about_s); };
  for (; broadcast_flag(transport_, goes_on); ++done) {
    throw_if_any_stopped(transport_, progress_);
    one_step();
  }
  double step_s = watch.seconds() / done;
  if (const std::optional<double> mean = task_->mean_points()) {  // samples may differ in size
    const double ratio = *mean * static_cast<double>(o_.batch) / (points_ / done);
    step_s *= o_.batch == 1 ? ratio : std::max(ratio, 1.0);  // several are padded to the largest, as those measured
  }
  return {.step_s = step_s, .plan = memory_plan_, .task = std::move(task_)};
}

void TrainingRun::steps() {
  std::int64_t looked_at = o_.iterations_per_loop.begin_of(trainer_->steps_done());
  Stopwatch loop_watch;
  since_saved_ = {};
  while (trainer_->steps_done() < o_.steps) {
    throw_if_any_stopped(transport_, progress_);
    const Stopwatch step_watch;
    const StepResult result = one_step();
    const std::int64_t done = trainer_->steps_done();
    const double seconds = step_watch.seconds();
    folder_.add(StepMetrics{.step = done,
                            .loss = result.loss,
                            .gradient_norm = result.gradient_norm,
                            .learning_rate = result.learning_rate,
                            .seconds = seconds});
    const bool last = done == o_.steps;
    const double loop_seconds = loop_watch.seconds();
    const bool look = last || loop_ends(done, loop_seconds);
    const bool validated = look && report_.validation_cases > 0 && (last || is_due(looked_at, done, o_.validate_every));
    if (validated) {
      state_.unvalidated = {result.loss, result.gradient_norm, result.learning_rate, seconds};
      validate();
      state_.unvalidated = nullptr;
    }
    std::vector<CsvField> row = {done, result.loss, result.gradient_norm, result.learning_rate, seconds};
    std::ranges::copy(scores(validated), std::back_inserter(row));
    folder_.row(row);
    if (validated && !last) write_page();
    if (!look) continue;
    if (last || checkpoint_is_due(looked_at, done)) save();
    progress_.update("train", done, o_.steps, text_of(result));
    looked_at = done;
    ++report_.loops;
    loop_watch = {};
  }
}

bool TrainingRun::loop_ends(std::int64_t done, double seconds) {
  const auto ends = [&] { return o_.iterations_per_loop.ends(done, seconds); };
  return o_.iterations_per_loop.duration_s > 0 ? broadcast_flag(transport_, ends) : ends();
}

StepResult TrainingRun::one_step() {
  const Stopwatch watch;
  const Shape extents = task_->load(trainer_->steps_done(), o_.batch, context_.pool());
  points_ += static_cast<double>(element_count(extents));
  feed_->begin(watch.seconds());
  if (trace_->recorder() != nullptr) {
    CoreSet& cores = session_->cores(extents, Phase::kTrain);
    cores.set_trace(trace_->recorder());
    trace_->begin_step(cores.executable().program);
  }
  const StepResult result =
      trainer_->step(extents, [&](const Node& input, const TensorView& box) { feed_->fill(input, box); });
  trace_->end_step();
  feed_->end(watch.seconds());
  report_.loss = result.loss;
  return result;
}

std::string TrainingRun::text_of(const StepResult& result) const {
  std::string text = "loss " + fixed_text(result.loss, 4);
  if (report_.validation)
    text += "  validation " + std::string(task_->metric()) + " " + fixed_text(report_.validation->score, 4);
  if (report_.averaged) text += " (averaged weights " + fixed_text(report_.averaged->score, 4) + ")";
  return text;
}

std::vector<std::string> TrainingRun::columns() {
  constexpr std::size_t kMostClassColumns = 200;  // as many as TensorBoard's events have
  const std::string score = "validation_" + report_.metric;
  std::vector<std::string> columns = {"step", "loss", "gradient_norm", "learning_rate", "seconds", score};
  if (keeps_average()) columns.push_back(score + "_averaged");
  const std::vector<std::string> classes = task_->scored_classes();
  class_columns_ = classes.size() <= kMostClassColumns ? classes.size() : 0;
  for (std::size_t c = 0; c < class_columns_; ++c) columns.push_back(score + "_" + plain_text(classes[c]));
  return columns;
}

std::vector<CsvField> TrainingRun::scores(bool validated) const {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const auto score = [&](const std::optional<Validation>& of) { return validated ? of->score : kNone; };
  std::vector<CsvField> fields = {score(report_.validation)};
  if (keeps_average()) fields.emplace_back(score(report_.averaged));
  for (std::size_t c = 0; c < class_columns_; ++c) {
    const bool scored = validated && c < report_.validation->by_class.size();
    fields.emplace_back(scored ? report_.validation->by_class[c] : kNone);
  }
  return fields;
}

Validation TrainingRun::validation(std::int64_t slices) {
  const std::unique_ptr<ValidationPass> pass = task_->validation(o_.spec);
  pass->keep_slices(slices);
  return run_validation(
      *session_, *pass, [&](const CaseFailure& failure) { task_->leave_out(failure, progress_); }, progress_);
}

Validation TrainingRun::validation_of_average() {
  struct Exchanged {  // also after a stop, when the last weights are saved
    Session& session;
    Parameters& averages;
    Exchanged(Session& s, Parameters& a) : session(s), averages(a) { exchange(); }
    ~Exchanged() { exchange(); }
    void exchange() {
      session.release();  // a core set has views of the parameters
      std::swap(session.parameters(), averages);
    }
  } const exchanged(*session_, trainer_->optimizer().averages());
  return validation(0);
}

void TrainingRun::validate() {
  const Stopwatch watch;
  Validation last = validation(o_.slices);
  if (keeps_average()) report_.averaged = validation_of_average();
  const std::int64_t step = trainer_->steps_done();
  const DetailsForPage details = store_for_page(step, last);
  const auto better = [&](double a, double b) { return task_->higher_is_better() ? a > b : a < b; };
  const bool averaged = report_.averaged && !better(last.score, report_.averaged->score);
  report_.validation = last, report_.averaged_is_better = averaged;
  if (task_->higher_is_better()) report_.missed = missed_classes(averaged ? *report_.averaged : last, report_.metric);
  report_.validation_s += watch.seconds();
  folder_.validation(step, kLastWeights, last);
  if (report_.averaged) folder_.validation(step, kAveragedWeights, *report_.averaged);
  ValidationMetrics metrics{.step = step,
                            .metric = report_.metric,
                            .score = last.score,
                            .by_class = last.by_class,
                            .seconds = watch.seconds()};
  if (report_.averaged) metrics.averaged = report_.averaged->score;
  folder_.add(metrics);
  report_.left_out = task_->left_out();  // includes entries that could not be read just now
  if (!last.by_class.empty() && std::ranges::none_of(last.by_class, [](double one) { return std::isfinite(one); })) {
    progress_.warn("no class has a score in the cases that validate: no checkpoint is chosen as the best");
    return;
  }
  const double score = averaged ? report_.averaged->score : last.score, best = state_.best_score;
  const bool is_first = best < 0;
  if (!is_first && !better(score, best)) return;
  state_.best_score = score;
  if (keeps_average()) state_.weights = averaged ? kAveragedWeights : kLastWeights;
  state_.step = step;
  CheckpointState state = state_;
  state.unvalidated = nullptr;
  folder_.save_best(state, session_->parameters(), trainer_->optimizer().averages());
  for_page([&] { folder_.best_detail(step, averaged, averaged ? details.averaged : details.last); });
}

void TrainingRun::validate_again() {
  validate();
  std::vector<CsvField> row = {trainer_->steps_done()};
  for (const auto& value : state_.unvalidated) row.emplace_back(value.get<double>());
  std::ranges::copy(scores(true), std::back_inserter(row));
  folder_.row(row);
  state_.unvalidated = nullptr;
  report_.loss = std::get<double>(row[1]);
  save();
  if (trainer_->steps_done() < o_.steps) write_page();
}

}  // namespace voxshard
