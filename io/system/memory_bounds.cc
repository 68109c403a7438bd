// A group's folder is the mount point of its hierarchy plus the part of the group's path below the root of the mount:
//
//   /proc/self/cgroup      4:memory:/docker/7/job        the hierarchy's controllers, the path
//   /proc/self/mountinfo   35 31 0:32 /docker/7 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
//   the group              /sys/fs/cgroup/memory/job; of the groups above it only those in the mount, here /docker/7
//
// A path that does not lie under the root of the mount (a namespace was entered or left) does not locate the group:
// then the group at the mount point itself is taken as the innermost visible limit.
#include "io/system/memory_bounds.h"

#include <algorithm>

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNone = std::int64_t{1} << 62;  // no limit; version 1 writes LONG_MAX, rounded to pages

struct Mount {
  fs::path root, point;
};

/// Decodes "\040" in the name of a mount point, which stands for a blank.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>(std::strtol(text.substr(i + 1, 3).c_str(), nullptr, 8));
      i += 3;
    } else {
      plain += text[i];
    }
  return plain;
}

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// Returns the mounts of version 2, or of version 1's memory controller.
std::vector<Mount> mounts_of(const SystemView& system, bool version2) {
  std::vector<Mount> mounts;
  for (const std::string& line : lines_of(system.file("/proc/self/mountinfo"))) {
    // id, parent, device, root, mount point, options, ..., "-", type, source, options
    const auto words = words_of(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || std::distance(dash, words.end()) < 4) continue;
    if (version2 ? dash[1] == "cgroup2" : dash[1] == "cgroup" && has_word(dash[3], "memory"))
      mounts.push_back({unescaped(words[3]), unescaped(words[4])});
  }
  return mounts;
}

/// Returns the part of `path` below `root`; none when it lies elsewhere ("/../job": outside of the namespace).
std::optional<fs::path> below(const fs::path& path, const fs::path& root) {
  if (std::find(path.begin(), path.end(), "..") != path.end()) return std::nullopt;
  const fs::path rest = path.lexically_relative(root);
  if (rest.empty() || *rest.begin() == "..") return std::nullopt;
  return rest == "." ? fs::path() : rest;
}

/// Returns the mount that contains most of the groups above `path`, with the part of the path below its root; the first
/// mount when none contains the path.
std::optional<std::pair<Mount, fs::path>> mount_above(const std::vector<Mount>& mounts, const fs::path& path) {
  std::optional<std::pair<Mount, fs::path>> best;
  for (const Mount& mount : mounts)
    if (auto rest = below(path, mount.root); rest && (!best || rest->native().size() > best->second.native().size()))
      best.emplace(mount, std::move(*rest));
  return best || mounts.empty() ? best : std::pair(mounts.front(), fs::path());
}

MemoryBound bound_of(const std::string& of, std::int64_t limit, std::int64_t used) {
  return {.of = of, .limit_bytes = limit, .free_bytes = std::max<std::int64_t>(0, limit - used)};
}

/// Returns the lower of memory.max and memory.high, which is no hard limit, but slows a group down until it frees
/// memory.
std::int64_t limit_of_version2(const fs::path& folder) {
  return std::min(first_number(folder / "memory.max").value_or(kNone),
                  first_number(folder / "memory.high").value_or(kNone));
}

/// Adds the limits of the groups from that of `path` up to the root of the mount.
void add_groups(const SystemView& system, const fs::path& path, bool version2, std::vector<MemoryBound>& bounds) {
  const auto found = mount_above(mounts_of(system, version2), path);
  if (!found) return;
  const Mount& mount = found->first;
  fs::path rest = found->second;
  for (bool first = true;; rest = rest.parent_path(), first = false) {
    const fs::path folder = system.file(mount.point) / rest;
    if (!first && first_number(folder / "memory.use_hierarchy") == 0)
      return;  // version 1: a group that does not count its children
    const std::string of = "control group " + (rest.empty() ? mount.root : mount.root / rest).string();
    const char* used_file = version2 ? "memory.current" : "memory.usage_in_bytes";
    const std::int64_t
        cached = number_behind(folder / "memory.stat", version2 ? "inactive_file" : "total_inactive_file").value_or(0),
        used = first_number(folder / used_file).value_or(cached) - cached,
        limit = version2 ? limit_of_version2(folder) : first_number(folder / "memory.limit_in_bytes").value_or(kNone);
    if (limit < kNone) bounds.push_back(bound_of(of, limit, used));
    // Version 1 states the lowest limit of all groups above, also of those outside of the mount, but not how much of it
    // is used.
    const std::int64_t above =
        version2 ? kNone : number_behind(folder / "memory.stat", "hierarchical_memory_limit").value_or(kNone);
    if (first && above < limit) bounds.push_back(bound_of("what " + of + " lies in", above, used));
    if (rest.empty()) return;
  }
}

void add_slurm(const SystemView& system, std::vector<MemoryBound>& bounds) {
  constexpr std::int64_t kMostMiB = std::int64_t{1} << 40;
  const std::int64_t processors = system.number("SLURM_CPUS_ON_NODE").value_or(0);
  std::int64_t mib = system.number("SLURM_MEM_PER_NODE").value_or(0);  // 0: all that the node has
  const char* of = "SLURM_MEM_PER_NODE";
  if (mib <= 0 && processors > 0 && processors < 1 << 20)
    mib = std::min(system.number("SLURM_MEM_PER_CPU").value_or(0), kMostMiB / processors) * processors,
    of = "SLURM_MEM_PER_CPU";
  if (mib <= 0 || mib > kMostMiB) return;
  const std::int64_t resident = number_behind(system.file("/proc/self/status"), "VmRSS:").value_or(0) * 1024;
  bounds.push_back(bound_of(of, mib << 20, resident));
}

}  // namespace

std::vector<MemoryBound> memory_bounds(const SystemView& system) {
  std::vector<MemoryBound> bounds;
  for (const std::string& line :
       lines_of(system.file("/proc/self/cgroup"))) {  // "4:memory:/path", "0::/path" of version 2
    const std::size_t first = line.find(':'), second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool version2 = line.substr(0, first) == "0" && controllers.empty();
    if (version2 || has_word(controllers, "memory")) add_groups(system, line.substr(second + 1), version2, bounds);
  }
  if (bounds.empty()) add_slurm(system, bounds);
  return bounds;
}

}  // namespace voxshard
