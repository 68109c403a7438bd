#include "pipelines/engine/case_hashes.h"

#include <atomic>
#include <functional>

#include "io/files/content_hash.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using FileHashes = std::map<fs::path, std::string>;

/// Hashes every file once, except those whose hash is known. Progress names cases, never files, which may be named
/// after patients.
FileHashes file_hashes(const std::vector<HashedCase>& cases, const std::function<std::string(const fs::path&)>& hash_of,
                       WorkerPool& pool, Progress& progress) {
  throw_if_stopped(progress);
  FileHashes hashes;
  std::map<fs::path, std::string> case_of;
  for (const HashedCase& item : cases)
    for (const auto& file : item.files) {
      case_of.try_emplace(file, item.name);
      if (const auto known = item.known.find(file); known != item.known.end())
        hashes[file] = known->second;
      else
        hashes[file];
    }
  std::vector<FileHashes::value_type*> rows;
  for (auto& row : hashes)
    if (row.second.empty()) rows.push_back(&row);
  const auto total = static_cast<std::int64_t>(rows.size());
  std::atomic<std::int64_t> done{0};
  pool.run(total, [&](std::int64_t i, int) {
    throw_if_stopped(progress);
    auto& [file, hash] = *rows[i];
    hash = hash_of(file);
    progress.update("check data", ++done, total, case_of.at(file));
  });
  return hashes;
}

std::vector<std::string> keys_of(const HashedCase& item, const FileHashes& hashes) {
  if (item.files.empty() && item.part.empty()) return {};  // nothing of it could be read
  if (item.files.empty()) return {item.part};
  std::vector<std::string> keys;
  for (const auto& file : item.files) {
    const std::string& hash = hashes.at(file);
    if (hash.empty()) return {};
    keys.push_back(item.part.empty() ? hash : content_hash(hash + item.part));
  }
  return keys;
}

/// Returns the hash of a file, or an empty string when it cannot be read.
std::string hash_if_readable(const fs::path& file) {
  try {
    return file_hash(file);
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

CaseHashes case_hashes(const std::vector<HashedCase>& cases, WorkerPool& pool, Progress& progress) {
  const FileHashes hashes = file_hashes(cases, file_hash, pool, progress);
  CaseHashes found{.cases = nlohmann::ordered_json::object(), .trained = {}};
  for (const HashedCase& item : cases) {
    ContentHash hash;
    if (found.cases.contains(item.name)) hash.add(found.cases[item.name].get<std::string>());
    for (const auto& file : item.files) hash.add(hashes.at(file));
    hash.add(item.text);
    found.cases[item.name] = hash.text();
    auto& keys = item.trains ? found.trained : found.held_out;
    for (std::string& key : keys_of(item, hashes)) keys.push_back(std::move(key));
  }
  return found;
}

std::vector<std::vector<std::string>> item_keys(const std::vector<HashedCase>& items, WorkerPool& pool,
                                                Progress& progress) {
  const FileHashes hashes = file_hashes(items, hash_if_readable, pool, progress);
  std::vector<std::vector<std::string>> keys;
  for (const HashedCase& item : items) keys.push_back(keys_of(item, hashes));
  return keys;
}

std::string times_of(const HashedCase& item) {
  ContentHash hash;
  for (const fs::path& file : item.files) {
    std::error_code unseen;
    hash.add(std::to_string(fs::file_size(file, unseen)) + " " +
             std::to_string(fs::last_write_time(file, unseen).time_since_epoch().count()) + "\n");
  }
  return hash.text();
}

}  // namespace voxshard
