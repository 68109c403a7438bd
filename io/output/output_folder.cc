#include "io/output/output_folder.h"

#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "io/files/atomic_file.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_place(const fs::path& output, const fs::path& input, const std::string& option) {
  throw Error(ErrorKind::kUsage, "[output] " + output.string() + " and the input " + input.string() +
                                     " lie one in the other: what is written could overwrite what is read; " +
                                     "choose a place of its own" + with_option(option));
}

/// Returns the name of a file in the folder that is not hidden; empty when there is none.
std::string some_file(const fs::path& folder) {
  std::error_code error;
  std::set<std::string> names;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(".")) names.insert(name);
  }
  return names.empty() ? "" : *names.begin();
}

/// Removes the temporary files of killed calls: no other process writes here while the folder is locked.
void remove_temporary_files(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_symlink(error) || it.depth() > 1) it.disable_recursion_pending();
    if (is_temporary(it->path()) && it->is_regular_file(error)) found.push_back(it->path());
  }
  for (const fs::path& path : found) fs::remove(path, error);
}

}  // namespace

std::string with_option(const std::string& option) { return option.empty() ? "" : " with " + option; }

void make_output_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder))
    throw Error(ErrorKind::kOutput, "[output] cannot create the folder " + folder.string() +
                                        (error ? ": " + error.message() : ": a file of this name is in the way") +
                                        "; choose another with {output}");
  if (::access(folder.c_str(), W_OK) != 0)
    throw Error(ErrorKind::kOutput,
                "[output] the folder " + folder.string() + " is not writable; choose another with {output}");
}

void require_outside(const fs::path& output, const std::vector<fs::path>& inputs, const std::string& option) {
  for (const fs::path& input : inputs)
    if (!input.empty() && lies_in(output, input)) refuse_place(output, input, option);
}

OutputFolder::OutputFolder(FolderUse use) : use_(std::move(use)) {
  require_outside(use_.folder, use_.inputs, use_.option);
  for (const fs::path& input : use_.inputs)
    if (!input.empty() && lies_in(input, use_.folder)) refuse_place(use_.folder, input, use_.option);
  require_ours();
  std::error_code unseen;  // make_output_folder refuses a path that cannot be read
  for (fs::path at = fs::absolute(use_.folder).lexically_normal(); !fs::exists(at, unseen) && at != at.parent_path();
       at = at.parent_path())
    made_ = at;
  try {
    make_output_folder(use_.folder);
    lock_.emplace(FolderLock::writing(use_.folder, use_.command));
    require_ours();  // again: under the lock nobody can change it any more
    auto earlier = read_manifest(use_.folder);
    log_.emplace(use_.folder, kManifestName, earlier ? std::move(*earlier) : Manifest());
  } catch (...) {
    leave_as_found();
    throw;
  }
}

OutputFolder::~OutputFolder() { leave_as_found(); }

void OutputFolder::leave_as_found() {
  std::error_code error;
  if (started_ || fs::exists(use_.folder / kManifestName, error) || error) return;
  if (lock_) lock_->remove();
  if (made_.empty()) return;
  for (fs::path at = fs::absolute(use_.folder).lexically_normal();; at = at.parent_path()) {
    fs::remove(at, error);
    if (error || at == made_) return;
  }
}

void OutputFolder::require_ours() const {
  std::error_code unseen;
  const auto manifest = fs::is_directory(use_.folder, unseen) ? read_manifest(use_.folder) : std::nullopt;
  if (manifest && (manifest->command == use_.command || manifest->command.empty())) return;
  if (!manifest && use_.adopts) return;
  if (manifest)
    throw Error(ErrorKind::kOutput, "[output] " + use_.folder.string() + " was made by voxshard " + manifest->command +
                                        ", whose files " + use_.command + " could overwrite; choose another folder" +
                                        with_option(use_.option));
  if (const std::string name = some_file(use_.folder); !name.empty())
    throw Error(ErrorKind::kOutput, "[output] " + use_.folder.string() + " holds " + name + ", which voxshard " +
                                        use_.command + " did not write and could overwrite; choose a new folder" +
                                        with_option(use_.option));
}

PartTime OutputFolder::took(const std::string& options) const {
  PartTime all;
  for (const auto& [name, part] : log_->manifest().parts)
    if (part.whole && part.options == options && part.took.elements > 0 && part.took.seconds > 0)
      all.seconds += part.took.seconds, all.elements += part.took.elements;
  return all;
}

void OutputFolder::claim() {
  if (fs::exists(use_.folder / kManifestName)) return;
  log_->manifest().command = use_.command;
  log_->rewrite();
}

void OutputFolder::start(const FolderParts& call) {
  Manifest& manifest = log_->manifest();
  std::vector<std::pair<std::string, ManifestPart*>> going;
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::kOutput, "[output] " + use_.folder.string() + " holds " + what + "; choose another folder" +
                                        with_option(use_.option) + ", or move what is in this one");
  };
  for (auto& [name, part] : manifest.parts) {
    const bool same = part.whole && part.options == call.options;
    if (same && !call.parts.contains(name)) continue;
    if (part.whole && !call.parts.contains(name))
      refuse(name + " of an earlier voxshard " + use_.command +
             " with other options or inputs, beside which the new files would lie");
    for (const auto& [path, noted] : part.files)
      if (part.whole && call.protect && fs::exists(use_.folder / path) && !is_unchanged(use_.folder / path, noted))
        refuse(path + ", which somebody changed after voxshard " + use_.command + " wrote it");
    if (same && call.resume) continue;
    going.emplace_back(name, &part);
  }
  std::sort(going.begin(), going.end(), [](const auto& a, const auto& b) { return a.second->order > b.second->order; });
  for (auto& [name, part] : going) part->whole = false;
  manifest.command = use_.command, manifest.options = call.options;
  // The manifest drops these files before they are removed: a kill in between leaves no file that counts as valid.
  log_->rewrite();
  started_ = true;
  remove_rank_manifests(use_.folder);
  for (const auto& [name, part] : going) log_->remove_files(*part);
  for (const auto& [name, part] : going) manifest.parts.erase(std::string(name));
  remove_temporary_files(use_.folder);
}

PartLog& OutputFolder::log() {
  ensure(started_, "an output folder is started before its parts begin");
  return *log_;
}

void OutputFolder::finish(const std::vector<std::string>& parts) {
  Manifest& manifest = log().manifest();
  read_rank_manifests(use_.folder, manifest);
  std::erase_if(manifest.parts, [&](const auto& named) {
    if (named.second.whole) return false;
    log_->remove_files(named.second);  // files of incomplete parts
    return true;
  });
  for (auto& [name, part] : manifest.parts) part.order += static_cast<std::int64_t>(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (const auto found = manifest.parts.find(parts[i]); found != manifest.parts.end())
      found->second.order = static_cast<std::int64_t>(i);
  log_->rewrite();
  remove_rank_manifests(use_.folder);
}

}  // namespace voxshard
