#include "io/output/part_log.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "io/files/atomic_file.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "io/files/json_lines.h"
#include "io/files/open_file.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Manifest manifest_of(const fs::path& folder) {
  auto manifest = read_manifest(folder);
  if (!manifest)
    throw input_error(folder / kManifestName, "is not there, though rank 0 has written it",
                      "give a folder that all hosts share");
  return std::move(*manifest);
}

}  // namespace

PartLog::PartLog(fs::path folder, const std::string& file, Manifest manifest)
    : folder_(std::move(folder)), path_(folder_ / file), manifest_(std::move(manifest)) {}

PartLog::PartLog(const fs::path& folder, int rank) : PartLog(folder, rank_manifest_name(rank), manifest_of(folder)) {
  write_text_atomically(path_, json_line(head_line(manifest_)));
}

bool PartLog::holds(const std::string& name, const std::string& data) const {
  ManifestPart part;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = manifest_.parts.find(name);
    if (found == manifest_.parts.end()) return false;
    part = found->second;
  }
  return part.whole && part.options == manifest_.options && part.data == data &&
         std::all_of(part.files.begin(), part.files.end(),
                     [&](const auto& file) { return has_content(folder_ / file.first, file.second); });
}

void PartLog::begin(const std::string& name, const std::set<std::string>& files) {
  const std::scoped_lock lock(mutex_);
  ManifestPart& part = manifest_.parts[name];
  const ManifestPart before = part;
  part.whole = false;
  for (const std::string& file : files) part.files[file] = {};
  append(begin_line(name, part), true);
  remove_files(before, files);
  std::erase_if(part.files, [&](const auto& file) { return !files.contains(file.first); });
}

void PartLog::commit(const std::string& name, const std::string& data, const PartTime& took) {
  ManifestPart part;
  {
    const std::scoped_lock lock(mutex_);
    part = manifest_.parts.at(name);
  }
  part.options = manifest_.options, part.data = data, part.whole = true, part.took = took;
  std::erase_if(part.files, [&](const auto& file) { return !fs::exists(folder_ / file.first); });
  for (auto& [path, about] : part.files) about = manifest_file(folder_ / path);
  const std::scoped_lock lock(mutex_);
  append(part_line(name, part), false);
  manifest_.parts[name] = std::move(part);
}

void PartLog::drop(const std::string& name) {
  {
    const std::scoped_lock lock(mutex_);
    if (!manifest_.parts.contains(name)) return;
  }
  begin(name, {});
}

void PartLog::rewrite() {
  std::vector<std::pair<std::int64_t, std::string>> names;
  for (const auto& [name, part] : manifest_.parts) names.emplace_back(part.order, name);
  std::sort(names.begin(), names.end());
  std::string text = json_line(head_line(manifest_));
  for (const auto& [order, name] : names) {
    const ManifestPart& part = manifest_.parts.at(name);
    text += json_line(part.whole ? part_line(name, part) : begin_line(name, part));
  }
  write_text_atomically(path_, text);
}

void PartLog::append(const Json& line, bool sync) {
  if (const int reason = append_to_file(path_, json_line(line), sync); reason != 0)
    throw output_error(path_, std::strerror(reason), "check that the folder exists, is writable and has space");
}

void PartLog::remove_files(const ManifestPart& part, const std::set<std::string>& but) const {
  for (const auto& [path, ignored] : part.files) {
    const fs::path file = folder_ / path;
    std::error_code error;
    if (but.contains(path) || !lies_in(file.parent_path(), folder_)) continue;
    fs::remove(file, error);
    if (error) throw output_error(file, "it cannot be removed: " + error.message(), "check its permissions");
  }
}

}  // namespace voxshard
