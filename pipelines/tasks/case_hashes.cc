#include "pipelines/tasks/case_hashes.h"

#include <atomic>

#include "io/files/content_hash.h"

namespace voxshard {

nlohmann::ordered_json case_hashes(const std::vector<HashedCase>& cases, WorkerPool& pool, Progress& progress) {
  throw_if_stopped(progress);
  std::map<std::filesystem::path, std::string> hashes;
  for (const HashedCase& item : cases)
    for (const auto& file : item.files)
      if (const auto known = item.known.find(file); known != item.known.end())
        hashes[file] = known->second;
      else
        hashes[file];
  std::vector<std::pair<const std::filesystem::path, std::string>*> rows;
  for (auto& row : hashes)
    if (row.second.empty()) rows.push_back(&row);
  const auto total = static_cast<std::int64_t>(rows.size());
  std::atomic<std::int64_t> done{0};
  pool.run(total, [&](std::int64_t i, int) {
    throw_if_stopped(progress);
    auto& [file, hash] = *rows[static_cast<std::size_t>(i)];
    hash = file_hash(file);
    progress.update("check data", ++done, total, file.filename().string());
  });
  nlohmann::ordered_json found = nlohmann::ordered_json::object();
  for (const HashedCase& item : cases) {
    ContentHash hash;
    if (found.contains(item.name)) hash.add(found[item.name].get<std::string>());
    for (const auto& file : item.files) hash.add(hashes[file]);
    hash.add(item.text);
    found[item.name] = hash.text();
  }
  return found;
}

}  // namespace voxshard
