#include "tests/fuzz/fuzz_target.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "libcore/base/error.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns a folder in memory where there is one.
fs::path scratch_parent() {
  std::error_code error;
  return fs::is_directory("/dev/shm", error) ? "/dev/shm" : fs::temp_directory_path();
}

}  // namespace

const std::vector<FuzzTarget>& fuzz_targets() {
  static const std::vector<FuzzTarget> all = [] {
    std::vector<FuzzTarget> list = text_targets();
    for (auto* more : {&box_targets, &media_targets, &volume_targets, &study_targets, &archive_targets, &record_targets,
                       &folder_targets})
      for (const FuzzTarget& target : more()) list.push_back(target);
    return list;
  }();
  return all;
}

const FuzzTarget& fuzz_target(std::string_view name) {
  for (const FuzzTarget& target : fuzz_targets())
    if (target.name == name) return target;
  throw std::out_of_range("no reader is called " + std::string(name));
}

Outcome run_target(const FuzzTarget& target, std::string_view bytes) {
  try {
    target.read(bytes);
    return Outcome::kRead;
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::kInternal) throw;
    return Outcome::kRefused;
  }
}

fs::path scratch_file(const std::string& name, std::string_view bytes) {
  static const ScratchFolder room("fuzz", scratch_parent());
  const fs::path path = room.path() / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

std::vector<std::string> data_seeds(const std::string& folder, const std::vector<std::string>& endings,
                                    std::uintmax_t most_bytes) {
  const char* root = std::getenv("VOXSHARD_TEST_DATA");
  std::vector<fs::path> files;
  std::error_code error;
  if (root == nullptr || !fs::is_directory(fs::path(root) / folder, error)) return {};
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file(error) && entry.file_size(error) <= most_bytes &&
        std::any_of(endings.begin(), endings.end(), [&](const auto& ending) { return name.ends_with(ending); }))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  constexpr std::size_t kMost = 4;
  std::vector<std::string> seeds;
  for (std::size_t i = 0; i < std::min(kMost, files.size()); ++i) {  // spread over the folder
    std::ifstream in(files[i * files.size() / std::min(kMost, files.size())], std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return seeds;
}

}  // namespace voxshard
