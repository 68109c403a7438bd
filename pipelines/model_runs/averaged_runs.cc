#include "pipelines/model_runs/averaged_runs.h"

#include <algorithm>
#include <tuple>

#include "io/files/content_hash.h"
#include "libcore/ranks/texts.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

auto order_of(const TrainedRun& run) { return std::tie(run.hash, run.weights); }

/// Sets the hash of the checkpoint, which rank 0 reads.
void hash_checkpoint(TrainedRun& run, Transport* transport) {
  if (transport == nullptr)
    run.hash = file_hash(run.file);
  else
    run.hash = broadcast_text(*transport, transport->rank() == 0 ? file_hash(run.file) : "");
}

}  // namespace

TrainedRun load_averaged_runs(const TrainedRunOptions& options, const std::vector<fs::path>& further) {
  if (further.empty()) return load_trained_run(options);
  std::vector<fs::path> paths = {options.run};
  paths.insert(paths.end(), further.begin(), further.end());
  const bool follows = options.transport != nullptr && options.transport->rank() > 0;
  for (const fs::path& path : paths)
    if (!follows && !is_trained_run(path))
      throw Error(ErrorKind::kUsage, "[predict] " + path.string() +
                                         " is no run; what stands before the last path is a run folder of train or a "
                                         "checkpoint file each, and the last one the input");
  std::vector<TrainedRun> runs;
  for (const fs::path& path : paths) {
    TrainedRunOptions one = options;
    one.run = path;
    TrainedRun run = load_trained_run(one);
    hash_checkpoint(run, options.transport);
    const auto same = std::ranges::find_if(runs, [&](const TrainedRun& r) { return order_of(r) == order_of(run); });
    if (same != runs.end())
      ++same->times;
    else
      runs.push_back(std::move(run));
  }
  std::ranges::sort(runs, [](const TrainedRun& a, const TrainedRun& b) { return order_of(a) < order_of(b); });
  TrainedRun first = std::move(runs.front());
  first.others.assign(std::make_move_iterator(runs.begin() + 1), std::make_move_iterator(runs.end()));
  if (first.others.empty()) first.times = 1;  // the average of a run with itself is that run
  for (const TrainedRun& other : first.others) first.trained_on.add(other.trained_on);
  return first;
}

void for_each_run(TrainedRun& run, const std::function<void(TrainedRun&)>& use) {
  use(run);
  for (TrainedRun& other : run.others) use(other);
}

void require_agreement(const TrainedRun& run, const std::string& what,
                       const std::function<std::string(const TrainedRun&)>& fact) {
  for (const TrainedRun& other : run.others)
    if (const std::string own = fact(run), theirs = fact(other); own != theirs)
      throw Error(ErrorKind::kUsage, "[predict] runs that are averaged must agree in their " + what + ": " +
                                         run.file.string() + " has " + own + ", " + other.file.string() + " has " +
                                         theirs + "; predict with those that agree, or with each by itself");
}

std::vector<AveragedRun> averaged_runs_of(const TrainedRun& run) {
  if (run.others.empty()) return {};
  std::vector<AveragedRun> runs = {{run.file, run.hash, run.weights, run.times}};
  for (const TrainedRun& other : run.others) runs.push_back({other.file, other.hash, other.weights, other.times});
  return runs;
}

nlohmann::ordered_json to_json(const std::vector<AveragedRun>& runs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const AveragedRun& run : runs) {
    list.push_back({{"checkpoint", run.checkpoint.string()}, {"hash", run.hash}, {"times", run.times}});
    if (!run.weights.empty()) list.back()["weights"] = run.weights;
  }
  return list;
}

void write_averaged_runs(const fs::path& folder, const std::vector<AveragedRun>& runs) {
  const fs::path file = folder / "averaged_runs.json";
  if (!runs.empty()) return write_json(file, {{"averaged", to_json(runs)}});
  std::error_code none;
  fs::remove(file, none);
}

}  // namespace voxshard
