#include "apps/resume_args.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "pipelines/profile/device_files.h"
#include "pipelines/runs/run_record.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::array kOfOneCall = {"help", "config", "threads", "json", "quiet", "output", "resume", "restart", "accept-changes"};

/// The long name; empty for what is known by its place.
std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? std::string() : option.get_lnames().front();
}

bool is_of_one_call(const std::string& name) {
  return name.starts_with("trace") || std::find(kOfOneCall.begin(), kOfOneCall.end(), name) != kOfOneCall.end();
}

GivenOptions read_given(const fs::path& run) {
  const fs::path file = run / "run.json";
  const auto record = read_run_record(run);
  if (!record)
    throw Error(ErrorKind::kInput, "[resume] " + run.string() + " holds no run: " + file.string() +
                                       " is missing; give the run folder, or all options: train WORK -o RUN --resume");
  try {
    return record->at("options").get<GivenOptions>();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::kCheckpoint, "[resume] " + file.string() + " has broken options; give them all: train WORK -o " +
                                            run.string() + " --resume ...");
  }
}

}  // namespace

std::optional<std::vector<Choice>> choices_of_run(const fs::path& run) {
  const auto record = read_run_record(run);
  if (!record) return std::nullopt;
  return choices_from_json(record->at("recipe"));
}

GivenOptions given_options(const CLI::App& app) {
  GivenOptions given;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = name_of(*option);
    if (option->count() == 0 || is_of_one_call(name)) continue;
    std::vector<std::string> words = option->results();
    if (option->get_type_name() == kPathType)
      for (std::string& word : words) word = fs::absolute(word).lexically_normal().string();
    if (option->get_type_name() == kDeviceType)
      for (std::string& word : words) word = absolute_device_name(word);
    given[name] = std::move(words);
  }
  return given;
}

void take_options_of_run(CLI::App& app, const fs::path& run) {
  GivenOptions of_run = read_given(run);
  for (CLI::Option* option : app.get_options()) {
    const auto it = of_run.find(name_of(*option));
    if (it == of_run.end()) continue;
    if (it->first.empty()) option->clear();
    if (option->count() == 0 && !is_of_one_call(it->first)) {
      option->add_result(it->second);
      option->run_callback();
    }
    of_run.erase(it);
  }
  if (!of_run.empty())
    throw Error(ErrorKind::kCheckpoint, "[resume] " + (run / "run.json").string() + " keeps the option --" +
                                            of_run.begin()->first +
                                            ", which this version does not have; give all options: train "
                                            "WORK -o " +
                                            run.string() + " --resume ...");
}

}  // namespace voxshard
