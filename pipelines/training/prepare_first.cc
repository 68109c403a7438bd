#include "pipelines/training/prepare_first.h"

#include "libcore/base/text.h"

namespace voxshard {

namespace fs = std::filesystem;

fs::path prepared_folder_of(const fs::path& data, const fs::path& run) {
  const auto without_slash = [](const fs::path& path) { return path.has_filename() ? path : path.parent_path(); };
  const fs::path name = without_slash(fs::absolute(data).lexically_normal()).filename();
  return without_slash(run).parent_path() / (name.string() + "_prepared");
}

namespace {

/// Prepares into a folder that an earlier call may have made of a data set with other cases. Errors: as Task::prepare.
TaskReport prepare_into(const fs::path& folder, const fs::path& data, const Task& task, const RunContext& context) {
  try {
    return task.prepare({.dataset = data, .work = folder, .resume = true}, context);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kOutput) throw;
    throw Error(ErrorKind::kOutput, std::string(e.what()) + " [where cases of " + data.string() +
                                        " are gone or were renamed since it was prepared: remove " + folder.string() +
                                        ", and the next training makes it anew]");
  }
}

}  // namespace

std::optional<PreparedFirst> prepare_first(TrainOptions& o, const Task& task, const RunResources& resources,
                                           Progress& progress) {
  if (!task.prepares() || !task.is_unprepared(o.work)) return std::nullopt;
  PreparedFirst prepared{.folder = prepared_folder_of(o.work, o.run)};
  progress.log("preparing " + o.work.string() + " into " + prepared.folder.string() +
               " with the defaults of prepare; the folder is kept, and used again while the data stay the same");
  const RunContext context(progress, resources);
  const TaskReport report = prepare_into(prepared.folder, o.work, task, context);
  if (report.interrupted) {
    progress.log("the preparation was stopped; the same command goes on with it");
    throw Stopped();
  }
  report.json.at("prepared").get_to(prepared.prepared);
  report.json.at("skipped").get_to(prepared.kept);
  report.json.at("failed").get_to(prepared.left_out);
  context.barrier();  // rank 0 has written what is about all cases
  o.work = prepared.folder;
  return prepared;
}

nlohmann::ordered_json to_json(const PreparedFirst& prepared) {
  return {{"folder", prepared.folder.string()},
          {"prepared", prepared.prepared},
          {"kept", prepared.kept},
          {"left_out", prepared.left_out}};
}

std::string to_text(const PreparedFirst& prepared) {
  std::string text = "prepared: " + counted(prepared.prepared, "case") + ", " + std::to_string(prepared.kept) +
                     " kept of an earlier call, in " + prepared.folder.string();
  if (prepared.left_out > 0)
    text += "; " + std::to_string(prepared.left_out) + " left out (see " +
            (prepared.folder / "quarantine.csv").string() + ")";
  return text + "\n";
}

}  // namespace voxshard
