#include "pipelines/training/run_identity.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/system/machine.h"
#include "libcore/base/cpu.h"
#include "libcore/base/text.h"
#include "libcore/kernels/conv.h"
#include "pipelines/model_runs/newer_fields.h"
#include "pipelines/model_runs/run_preparation.h"
#include "pipelines/model_runs/run_record.h"
#include "pipelines/training/data_changes.h"
#include "pipelines/training/training_rows.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

std::string schedule_text(const OptimizerOptions& o) {
  if (o.schedule == ScheduleKind::kConstant) return "constant";
  if (o.schedule == ScheduleKind::kPolynomial) return "polynomial";
  char text[64];
  if (o.schedule == ScheduleKind::kSteps) {
    std::snprintf(text, sizeof text, "times %.9g at", o.step_factor);
    std::string steps = text;
    for (std::int64_t step : o.decay_at) steps += " " + std::to_string(step);
    return steps;
  }
  std::snprintf(text, sizeof text, o.stairs ? "%.9g^floor(step / %lld)" : "%.9g^(step / %lld)", o.decay_rate,
                static_cast<long long>(o.decay_steps));
  return text;
}

/// Returns the name of the option that sets a field of the description.
std::string option_of(const std::string& field) {
  if (field == "slope") return "activation";
  if (field == "deconvolution") return "up";
  if (field == "inputs") return "input-partition-dims";
  std::string name = field;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// True for fields that depend on the data, not on an option.
bool is_of_data(const std::string& field) {
  return may_change_with_data(field) || field == "classes" || field == "channels";
}

/// Fields of a model that describe its cut: another cut computes the same, except for the order of sums.
constexpr const char* kOfCut[] = {"partition", "replicas", "recompute", "thinnest_slab", "inputs"};

/// Field of a preparation of images that follows from their sizes where nobody gave it: 1 where all have one.
constexpr const char* kPadMultiple = "pad_multiple";

/// Fields of a training that earlier programs did not note.
constexpr const char* kNewer[] = {"annotated"};

/// True when the model has a norm or a loss per replica, which changes with the number of replicas.
bool depends_on_replicas(const nlohmann::json& model) {
  return model.value("norm_scope", "") == "replica" || model.value("loss_scope", "") == "replica";
}

nlohmann::json without_cut(nlohmann::json model) {
  const bool keeps_replicas = depends_on_replicas(model);
  for (const char* field : kOfCut)
    if (field != std::string_view("replicas") || !keeps_replicas) model.erase(field);
  return model;
}

nlohmann::json without_data(nlohmann::json description) {
  if (!description.is_object()) return description;
  std::vector<std::string> fields;
  for (const auto& [field, value] : description.items())
    if (may_change_with_data(field)) fields.push_back(field);
  for (const std::string& field : fields) description.erase(field);
  return description;
}

std::string short_text(const nlohmann::json& value) {
  constexpr std::size_t kMost = 60;
  if (value.is_null()) return "not set";
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

/// A field that differs, with both values; null where one has none.
struct Contradiction {
  std::string field;
  nlohmann::json theirs, mine;
};

std::optional<Contradiction> first_contradiction(const nlohmann::json& theirs, const nlohmann::json& mine) {
  for (const auto& [field, value] : mine.items())
    if (const auto it = theirs.find(field); it == theirs.end() || *it != value)
      return Contradiction{field, it == theirs.end() ? nlohmann::json() : *it, value};
  for (const auto& [field, value] : theirs.items())
    if (!mine.contains(field)) return Contradiction{field, value, nlohmann::json()};
  return std::nullopt;
}

std::int64_t steps_of(const nlohmann::json& training) {
  const auto steps = training.find("steps");
  return steps != training.end() && steps->is_number_integer() ? steps->get<std::int64_t>() : 0;
}

}  // namespace

Json training_json(TrainOptions& o, const TrainingTask& task) {
  Json json = deciding_json(o, {"steps", "batch", "optimizer", "learning-rate", "momentum", "nesterov", "weight-decay",
                                "clip-norm", "schedule", "warmup-steps"});
  json["schedule"] = schedule_text(o.optimizer);
  json.update(task.sampling());
  return json;
}

Json machine_json() {
  const std::string cpu = cpu_name();
  Json json = {{"processor", cpu.empty() ? "unknown" : cpu},
               {"instruction_set", instruction_set_name(instruction_set())},
               {"instructions", kernel_instruction_set()},
               {"voxshard", VOXSHARD_VERSION},
               {"kernels", kernel_library_version()}};
  for (const auto& [library, version] : io_library_versions()) json[library] = version;
  return json;
}

std::vector<std::string> machine_changes(const nlohmann::json& theirs, const nlohmann::json& mine) {
  std::string changes;
  for (const auto& [name, value] : mine.items()) {
    const nlohmann::json before = theirs.value(name, nlohmann::json());
    if (before != value)
      changes +=
          (changes.empty() ? "" : ", ") + name + " " + short_text(value) + " (before: " + short_text(before) + ")";
  }
  if (changes.empty()) return {};
  return {"this is another machine than that of the checkpoint: " + changes +
          "; the run goes on, equal to an undisturbed one within rounding, perhaps not to the bit"};
}

void require_same_run(const CheckpointState& theirs, const CheckpointState& mine, const std::filesystem::path& file,
                      bool options_of_run, bool accepts_changes) {
  const ErrorKind kind = options_of_run ? ErrorKind::kConfig : ErrorKind::kCheckpoint;
  const std::string start = "[checkpoint] " + file.string();
  const std::string what_to_do =
      options_of_run ? "leave it out, or start a run of its own" : "give the options of that run, or {restart}";
  const std::string go_on =
      "put back what the run began with, go on without with {resume} {accept-changes}, or {restart}";
  const auto compare = [&](const char* part, nlohmann::json a, nlohmann::json b) {
    if (accepts_changes) a = without_data(std::move(a)), b = without_data(std::move(b));
    const auto different = first_contradiction(a, b);
    if (!different) return;
    if (is_of_data(different->field))
      throw Error(
          ErrorKind::kCheckpoint,
          start + " is of a run on other data: /" + part + "/" + different->field + " differs; " +
              (may_change_with_data(different->field) ? go_on : "put back what the run began with, or {restart}"));
    throw Error(kind, start + " is of another run: /" + part + "/" + different->field + " differs: {" +
                          option_of(different->field) + "} is " + short_text(different->mine) + " now, and " +
                          short_text(different->theirs) + " there; " + what_to_do);
  };
  nlohmann::json before = theirs.training, now = mine.training;
  if (const std::int64_t steps = steps_of(now); steps < theirs.step) {
    const std::string done = std::to_string(theirs.step);
    throw Error(kind, start + ": {steps} is " + std::to_string(steps) + " now, and " + done +
                          " steps are done there, which cannot be taken back; {steps} " + done +
                          " ends the run where it is, and predict works now with what it has learned");
  }
  before.erase("steps"), now.erase("steps");
  for (const char* field : kNewer)
    if (!before.contains(field)) now.erase(field);
  compare("training", before, now);  // before the model, since settings of it decide on the classes
  compare("model", without_cut(with_newer_fields(theirs.model)), without_cut(mine.model));
  const auto prepared = [&](nlohmann::json how) {
    if (how.is_object()) how.erase(kUsualCases);  // it follows from the cases, which are compared
    if (!accepts_changes) return how;
    if (how.is_object()) how.erase(kPadMultiple);
    return without_data(std::move(how));
  };
  if (const auto different = first_contradiction(prepared(theirs.prepare), prepared(mine.prepare)))
    throw Error(ErrorKind::kCheckpoint, start + " is of a run on data that were prepared otherwise: /prepare/" +
                                            different->field + " differs; " +
                                            (may_change_with_data(different->field) || different->field == kPadMultiple
                                                 ? go_on
                                                 : "prepare them as before, or {restart}"));
  if (accepts_changes) return;
  if (const auto different = first_contradiction(theirs.content, mine.content))
    throw Error(ErrorKind::kCheckpoint, start + ": the data are not what they were: " + different->field +
                                            (different->mine.is_null()     ? " is missing"
                                             : different->theirs.is_null() ? " is new"
                                                                           : " has changed") +
                                            "; " + go_on);
}

std::optional<std::string> cut_change(const nlohmann::json& theirs, const nlohmann::json& mine) {
  std::string changes;
  for (const char* field : kOfCut) {
    const nlohmann::json before = theirs.value(field, nlohmann::json()), now = mine.value(field, nlohmann::json());
    if (before != now)
      changes += (changes.empty() ? "{" : ", {") + option_of(field) + "} " + short_text(now) +
                 " (before: " + short_text(before) + ")";
  }
  if (changes.empty()) return std::nullopt;
  return "the run goes on cut otherwise: " + changes +
         "; equal to an undisturbed one within rounding, perhaps not to the bit";
}

bool ends_sooner(const CheckpointState& theirs, const TrainOptions& mine) {
  return mine.steps < steps_of(theirs.training);
}

std::optional<std::string> whole_steps_change(const CheckpointState& theirs, const TrainOptions& mine) {
  const std::int64_t before = steps_of(theirs.training), whole = theirs.training.value("whole_steps", std::int64_t{0});
  if (whole == 0 || before == mine.steps || theirs.step <= before - whole) return std::nullopt;
  return "{steps} changed from " + std::to_string(before) + " to " + std::to_string(mine.steps) + ": the last " +
         counted(whole, "step") + " of both are on whole volumes, so that the run is not that of " +
         std::to_string(mine.steps) + " steps from the start, and samples_drawn_on counts as if it were";
}

std::optional<std::string> rate_change(const CheckpointState& theirs, const TrainOptions& mine) {
  const std::int64_t before = steps_of(theirs.training);
  if (before <= 0 || theirs.step >= mine.steps) return std::nullopt;
  const double planned = learning_rate_at(mine.optimizer, theirs.step, before),
               now = learning_rate_at(mine.optimizer, theirs.step, mine.steps);
  if (mine.steps == before || planned == now) return std::nullopt;
  char text[240];
  std::snprintf(
      text, sizeof text,
      "{steps} %s from %lld to %lld, and the %s schedule is stretched over them: the learning rate goes on at %.3g "
      "instead of %.3g; the run is not that of %lld steps from the start",
      mine.steps > before ? "grew" : "shrank", static_cast<long long>(before), static_cast<long long>(mine.steps),
      schedule_text(mine.optimizer).c_str(), now, planned, static_cast<long long>(mine.steps));
  return text;
}

std::optional<Cut> planned_cut(const std::filesystem::path& run) {
  const auto record = read_run_record(run);
  if (!record) return std::nullopt;
  return model_spec_from_json(record->at("model")).cut;
}

void keep_fitted(ModelSpec& spec, const std::filesystem::path& run) {
  const auto is_open = [&](const ConfigField& row) {
    return !row.from_data.empty() && row.get(spec.config) == FieldValue(row.from_data);
  };
  if (std::ranges::none_of(spec.model->fields, is_open)) return;
  const auto record = read_run_record(run);
  if (!record) return;
  const ModelSpec theirs = model_spec_from_json(record->at("model"));
  for (const ConfigField& row : spec.model->fields)
    if (is_open(row) && theirs.model_name() == spec.model_name() &&
        row.get(theirs.config) != row.get(spec.model->config))  // else it was not left to the data
      row.set(spec.config, row.get(theirs.config));
}

void require_no_lost_checkpoints(const std::filesystem::path& run) {
  const auto record = read_run_record(run);
  if (record && record->at(kSavedCheckpoints).get<bool>())
    throw Error(ErrorKind::kCheckpoint, "[checkpoint] steps were done in " + run.string() +
                                            ", but no checkpoint is left in " + (run / "checkpoints").string() +
                                            "; put them back, or throw the run away and start anew with {restart}");
}

}  // namespace voxshard
