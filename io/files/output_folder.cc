#include "io/files/output_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "io/files/atomic_file.h"
#include "io/files/file_error.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string text_of(const Json& line) { return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

/// The path itself and the folders above it, links followed.
bool is_in(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  fs::path at = fs::weakly_canonical(fs::absolute(path), error);
  if (error) at = fs::absolute(path).lexically_normal();
  for (;; at = at.parent_path()) {
    if (fs::equivalent(at, folder, error) && !error) return true;
    if (at == at.parent_path()) return false;
  }
}

std::string with(const std::string& option) { return option.empty() ? "" : " with " + option; }

[[noreturn]] void refuse_place(const fs::path& output, const fs::path& input, const std::string& option) {
  throw Error(ErrorKind::kUsage, "[output] " + output.string() + " and the input " + input.string() +
                                     " lie one in the other: what is written could overwrite what is read; " +
                                     "choose a place of its own" + with(option));
}

/// A name in the folder that is no hidden file; empty when there is none.
std::string some_file(const fs::path& folder) {
  std::error_code error;
  std::set<std::string> names;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(".")) names.insert(name);
  }
  return names.empty() ? "" : *names.begin();
}

/// Of a killed call: nobody else writes here while the folder is locked.
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
    if (!input.empty() && is_in(output, input)) refuse_place(output, input, option);
}

OutputFolder::OutputFolder(FolderUse use) : use_(std::move(use)) {
  require_outside(use_.folder, use_.inputs, use_.option);
  for (const fs::path& input : use_.inputs)
    if (!input.empty() && is_in(input, use_.folder)) refuse_place(use_.folder, input, use_.option);
  require_ours();
  std::error_code unseen;  // what cannot be looked at is refused by make_output_folder
  for (fs::path at = fs::absolute(use_.folder).lexically_normal(); !fs::exists(at, unseen) && at != at.parent_path();
       at = at.parent_path())
    made_ = at;
  try {
    make_output_folder(use_.folder);
    lock_.emplace(FolderLock::writing(use_.folder, use_.command));
    require_ours();  // again: nobody can change it any more
    if (auto earlier = read_manifest(use_.folder)) manifest_ = std::move(*earlier);
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
                                        with(use_.option));
  if (const std::string name = some_file(use_.folder); !name.empty())
    throw Error(ErrorKind::kOutput, "[output] " + use_.folder.string() + " holds " + name + ", which voxshard " +
                                        use_.command + " did not write and could overwrite; choose a new folder" +
                                        with(use_.option));
}

void OutputFolder::claim() {
  if (!fs::exists(use_.folder / kManifestName)) write_manifest();
}

void OutputFolder::write_manifest() {
  std::vector<std::pair<std::int64_t, std::string>> names;
  for (const auto& [name, part] : manifest_.parts) names.emplace_back(part.order, name);
  std::sort(names.begin(), names.end());
  manifest_.command = use_.command;
  std::string text = text_of(head_line(manifest_));
  for (const auto& [order, name] : names) {
    const ManifestPart& part = manifest_.parts.at(name);
    text += text_of(part.whole ? part_line(name, part) : begin_line(name, part));
  }
  write_text_atomically(use_.folder / kManifestName, text);
}

void OutputFolder::start(const FolderParts& call) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::pair<std::string, ManifestPart*>> going;
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::kOutput, "[output] " + use_.folder.string() + " holds " + what + "; choose another folder" +
                                        with(use_.option) + ", or move what is in this one");
  };
  for (auto& [name, part] : manifest_.parts) {
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
  manifest_.options = call.options;
  // First it is said that these files no longer count, then they go: a kill in between leaves nothing to be believed.
  write_manifest();
  started_ = true;
  for (const auto& [name, part] : going) remove_files(*part);
  for (const auto& [name, part] : going) manifest_.parts.erase(std::string(name));
  remove_temporary_files(use_.folder);
}

bool OutputFolder::holds(const std::string& name, const std::string& data) const {
  ManifestPart part;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = manifest_.parts.find(name);
    if (found == manifest_.parts.end()) return false;
    part = found->second;
  }
  return part.whole && part.options == manifest_.options && part.data == data &&
         std::all_of(part.files.begin(), part.files.end(),
                     [&](const auto& file) { return has_content(use_.folder / file.first, file.second); });
}

void OutputFolder::begin(const std::string& name, const std::set<std::string>& files) {
  ensure(started_, "an output folder is started before its parts begin");
  const std::scoped_lock lock(mutex_);
  ManifestPart& part = manifest_.parts[name];
  const ManifestPart before = part;
  part.whole = false;
  for (const std::string& file : files) part.files[file] = {};
  append(begin_line(name, part), true);
  remove_files(before, files);
  std::erase_if(part.files, [&](const auto& file) { return !files.contains(file.first); });
}

void OutputFolder::commit(const std::string& name, const std::string& data) {
  ManifestPart part;
  {
    const std::scoped_lock lock(mutex_);
    part = manifest_.parts.at(name);
  }
  part.options = manifest_.options, part.data = data, part.whole = true;
  std::erase_if(part.files, [&](const auto& file) { return !fs::exists(use_.folder / file.first); });
  for (auto& [path, about] : part.files) about = manifest_file(use_.folder / path);
  const std::scoped_lock lock(mutex_);
  append(part_line(name, part), false);
  manifest_.parts[name] = std::move(part);
}

void OutputFolder::drop(const std::string& name) {
  {
    const std::scoped_lock lock(mutex_);
    if (!manifest_.parts.contains(name)) return;
  }
  begin(name, {});
}

void OutputFolder::append(const Json& line, bool sync) {
  const std::string text = text_of(line);
  const fs::path path = use_.folder / kManifestName;
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  const off_t end = file >= 0 ? ::lseek(file, 0, SEEK_END) : -1;
  if (file >= 0) errno = ENOSPC;  // a short write sets none
  const bool written = file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       (!sync || ::fdatasync(file) == 0);
  const std::string reason = std::strerror(errno);
  if (!written && end >= 0 && ::ftruncate(file, end) != 0) {
    // Half a line stays; it is left out as long as nothing follows it.
  }
  if (file >= 0) ::close(file);
  if (!written) throw output_error(path, reason, "check that the folder exists, is writable and has space");
}

void OutputFolder::remove_files(const ManifestPart& part, const std::set<std::string>& but) const {
  for (const auto& [path, ignored] : part.files) {
    const fs::path file = use_.folder / path;
    std::error_code error;
    if (but.contains(path) || !is_in(file.parent_path(), use_.folder)) continue;
    fs::remove(file, error);
    if (error) throw output_error(file, "it cannot be removed: " + error.message(), "check its permissions");
  }
}

}  // namespace voxshard
