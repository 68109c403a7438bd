#include "pipelines/training/run_settings.h"

#include "pipelines/model_runs/run_record.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

GivenOptions read_given(const fs::path& run) {
  const fs::path file = run / "run.json";
  const auto record = read_run_record(run);
  if (!record)
    throw Error(ErrorKind::kInput,
                "[resume] " + run.string() + " holds no run: " + file.string() +
                    " is missing; give the run folder, or all options: train WORK {output} RUN {resume}");
  try {
    return record->at("options").get<GivenOptions>();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::kCheckpoint, "[resume] " + file.string() +
                                            " has broken options; give them all: train WORK {output} " + run.string() +
                                            " {resume} ...");
  }
}

}  // namespace

void take_settings_of_run(TrainSettings& train) {
  TrainOptions& o = train.options;
  Settings& settings = train.settings;
  const bool steps = settings.is_said("steps"), epochs = settings.is_said("epochs");
  GivenOptions of_run = read_given(o.run);
  if (const auto data = of_run.find(""); data != of_run.end()) {
    if (!data->second.empty()) o.work = data->second.front();
    of_run.erase(data);
  }
  for (const Settings::Entry& entry : settings.entries()) {
    const auto said = of_run.find(entry.name());
    if (said == of_run.end()) continue;
    if (!entry.is_said() && !entry.row().of_one_call) settings.say(Layer::kRun, entry.name(), said->second);
    of_run.erase(said);
  }
  if (!of_run.empty())
    throw Error(ErrorKind::kCheckpoint,
                "[resume] " + (o.run / "run.json").string() + " keeps the option {" + of_run.begin()->first +
                    "}, which this version does not have; give all options: train WORK {output} " + o.run.string() +
                    " {resume} ...");
  o.options_of_run = true;
  if (steps && !epochs) settings.withdraw("epochs");
  if (epochs && !steps) settings.withdraw("steps");
}

std::optional<std::vector<Choice>> choices_of_run(const fs::path& run) {
  const auto record = read_run_record(run);
  if (!record) return std::nullopt;
  return choices_from_json(record->at("recipe"));
}

}  // namespace voxshard
