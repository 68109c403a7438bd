#include "pipelines/model_runs/checkpoint_folder.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStep = "step-", kEnding = ".safetensors";

std::string step_name(std::int64_t step) {
  char text[40];
  std::snprintf(text, sizeof text, "step-%06lld.safetensors", static_cast<long long>(step));
  return text;
}

/// Returns the step of "step-000400.safetensors"; none for any other name.
std::optional<std::int64_t> step_of(const fs::path& file) {
  const std::string name = file.filename().string();
  if (!name.starts_with(kStep) || !name.ends_with(kEnding)) return std::nullopt;
  const char *begin = name.data() + kStep.size(), *end = name.data() + name.size() - kEnding.size();
  std::int64_t step = 0;
  const auto [stop, error] = std::from_chars(begin, end, step);
  if (error != std::errc() || stop != end || step < 0) return std::nullopt;
  return step;
}

/// Returns the checkpoints that are named by their step, newest first.
std::vector<fs::path> older_checkpoints(const fs::path& folder) {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (const auto step = step_of(it->path())) found.emplace_back(*step, it->path());
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> files;
  for (auto& [step, file] : found) files.push_back(std::move(file));
  return files;
}

fs::path beside(fs::path file) { return file.replace_extension(".json"); }

/// Links `name` to a file; on a file system without links the file is renamed, and readers find it by either name.
std::error_code give_second_name(const fs::path& file, const fs::path& name) {
  std::error_code error;
  fs::remove(name, error);
  fs::create_hard_link(file, name, error);
  if (error) fs::rename(file, name, error);
  return error;
}

void remove_checkpoint(const fs::path& file) {
  std::error_code ignored;  // a file that stays does no harm
  fs::remove(file, ignored);
  fs::remove(beside(file), ignored);
}

}  // namespace

std::vector<fs::path> checkpoint_files(const fs::path& folder, const std::string& which) {
  const fs::path best = folder / "best.safetensors", last = folder / "last.safetensors";
  if (which == "best") return {best};
  if (which != "last" && which != "auto")
    throw Error(ErrorKind::kUsage, "[checkpoint] {checkpoint} is \"" + which + "\"; expected best, last or auto");
  std::vector<fs::path> files;
  if (which == "auto" && fs::exists(best)) files.push_back(best);
  if (fs::exists(last)) files.push_back(last);
  for (fs::path& file : older_checkpoints(folder)) files.push_back(std::move(file));
  if (files.empty()) files.push_back(last);
  return files;
}

ValidCheckpoint load_first_valid(const std::vector<fs::path>& files) {
  std::optional<Error> first;
  std::string others;
  ValidCheckpoint found;
  for (const fs::path& file : files) {
    try {
      found.checkpoint = load_checkpoint(file);
      found.file = file;
      if (first)
        found.notes.push_back("instead " + file.string() + " is used, of step " +
                              std::to_string(found.checkpoint.state.step));
      return found;
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kCheckpoint && e.kind() != ErrorKind::kInput && e.kind() != ErrorKind::kDiverged)
        throw;
      found.damaged.push_back(file);
      found.notes.push_back(std::string("a checkpoint cannot be used: ") + e.what());
      if (first)
        others += std::string("; ") + e.what();
      else
        first = e;
    }
  }
  ensure(first.has_value(), "there is a checkpoint to try");
  if (others.empty()) throw *first;
  throw Error(first->kind(), std::string(first->what()) + "; nor can an older one be used" + others);
}

std::optional<fs::path> newest_description(const fs::path& folder) {
  std::error_code unseen;
  for (const fs::path& file : checkpoint_files(folder, "last"))
    if (const fs::path found = beside(file); fs::exists(found, unseen)) return found;
  return std::nullopt;
}

CheckpointFolder::CheckpointFolder(fs::path folder, const KeptCheckpoints& kept)
    : folder_(std::move(folder)), last_(folder_ / "last.safetensors"), kept_(kept) {}

bool CheckpointFolder::holds_run() const { return fs::exists(last_) || !older_checkpoints(folder_).empty(); }

void CheckpointFolder::remove_all() const {
  for (const fs::path& file : older_checkpoints(folder_)) remove_checkpoint(file);
  remove_checkpoint(last_);
  remove_checkpoint(folder_ / "best.safetensors");
}

std::optional<ValidCheckpoint> CheckpointFolder::load_newest() {
  if (!holds_run()) return std::nullopt;
  ValidCheckpoint found = load_first_valid(checkpoint_files(folder_, "last"));
  if (found.file == last_) last_step_ = found.checkpoint.state.step;
  damaged_ = found.damaged;
  return found;
}

void CheckpointFolder::save_last(const CheckpointState& state, const Parameters& parameters,
                                 const Parameters& optimizer, const Parameters& averages) {
  if (last_step_ && *last_step_ < state.step) keep_last();
  last_step_.reset();  // if writing fails, the old file keeps its name, and the next call does not keep it twice
  save_checkpoint(last_, state, parameters, optimizer, averages);
  last_step_ = state.step;
  let_go(state.step);
}

void CheckpointFolder::save_best(const CheckpointState& state, const Parameters& parameters,
                                 const Parameters& averages) const {
  save_checkpoint(folder_ / "best.safetensors", state, parameters, {}, averages);
}

/// Gives last.safetensors and the JSON beside it a second name, so that "last" exists until the new file replaces it.
void CheckpointFolder::keep_last() const {
  const fs::path kept = folder_ / step_name(*last_step_);
  if (const std::error_code error = give_second_name(last_, kept))
    throw Error(ErrorKind::kOutput, "[output] cannot rename " + last_.string() + " to " + kept.string() + ": " +
                                        error.message() + "; check that the folder is writable");
  give_second_name(beside(last_), beside(kept));  // for people; it may be missing
}

void CheckpointFolder::let_go(std::int64_t step) {
  for (const fs::path& file : damaged_)
    if (file != last_) remove_checkpoint(file);
  damaged_.clear();
  std::int64_t kept = 1;  // last.safetensors
  for (const fs::path& file : older_checkpoints(folder_)) {
    const std::int64_t of_file = *step_of(file);
    const bool periodic = kept_.every > 0 && of_file % kept_.every == 0;
    if (of_file < step && kept < kept_.last)
      ++kept;
    else if (!periodic || of_file >= step)
      remove_checkpoint(file);
  }
}

}  // namespace voxshard
