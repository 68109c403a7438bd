#include "pipelines/model_runs/run_record.h"

#include "io/files/config_file.h"
#include "libcore/base/file_format.h"

namespace voxshard {

std::optional<nlohmann::json> read_run_record(const std::filesystem::path& run) {
  const std::filesystem::path file = run / "run.json";
  std::error_code unseen;
  if (!std::filesystem::exists(file, unseen)) return std::nullopt;
  const nlohmann::json record = read_json(file);
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::kCheckpoint,
                "[checkpoint] " + file.string() + " " + what + "; train anew in another folder");
  };
  const auto format = record.find("format");
  if (const std::string problem =
          format_problem(format != record.end() && format->is_string() ? format->get<std::string>() : "");
      !problem.empty())
    refuse(problem);
  for (const char* key : {"options", "recipe", "model", "training", kSavedCheckpoints})
    if (!record.contains(key)) refuse(std::string("lacks ") + key);
  if (!record[kSavedCheckpoints].is_boolean()) refuse(std::string("has a broken ") + kSavedCheckpoints);
  return record;
}

}  // namespace voxshard
