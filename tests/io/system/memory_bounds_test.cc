// The limits on the memory of a job, from file trees as kernels show them for both versions of control groups.
#include "io/system/memory_bounds.h"

#include <gmock/gmock.h>

#include <map>

#include "io/system/machine.h"
#include "io/system/process_memory.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
using Variables = std::map<std::string, std::string>;

/// A folder in the place of /proc and /sys.
class FakeSystem {
 public:
  explicit FakeSystem(const std::string& name, Variables variables = {})
      : scratch_(name), variables_(std::move(variables)) {
    file("/proc/meminfo",
         "MemTotal:       8388608 kB\nMemFree:   100 kB\nMemAvailable:   6291456 kB\nSwapTotal:   0 kB\n");
    file("/proc/self/status", "Name:\tvoxshard\nVmSize:\t   204800 kB\nVmRSS:\t  102400 kB\nVmData:\t 51200 kB\n");
  }

  void file(const std::string& path, const std::string& text) {
    const auto at = scratch_.path() / path.substr(1);
    fs::create_directories(at.parent_path());
    std::ofstream(at) << text;
  }
  /// `mounts`: root and mount point of the hierarchy.
  void version2(const std::string& own,
                const std::vector<std::pair<std::string, std::string>>& mounts = {{"/", "/sys/fs/cgroup"}}) {
    cgroup_ += "0::" + own + "\n";
    for (const auto& [root, point] : mounts)
      mounts_ += "29 23 0:26 " + root + " " + point + " rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
    write();
  }
  void version1(const std::string& own, const std::string& root = "/") {
    cgroup_ += "7:cpu,cpuacct:/elsewhere\n4:memory:" + own + "\n";
    mounts_ += "34 31 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";
    mounts_ += "35 31 0:32 " + root + " /sys/fs/cgroup/memory rw,relatime shared:4 - cgroup cgroup rw,memory\n";
    write();
  }
  void group2(const std::string& path, const std::string& max, std::int64_t used_mib = 0, std::int64_t cached_mib = 0,
              const std::string& high = "max") {
    file("/sys/fs/cgroup" + path + "/memory.max", max + "\n");
    file("/sys/fs/cgroup" + path + "/memory.high", high + "\n");
    file("/sys/fs/cgroup" + path + "/memory.current", std::to_string(used_mib * kMiB) + "\n");
    file("/sys/fs/cgroup" + path + "/memory.stat",
         "anon 1\nfile 999\nactive_file 5\ninactive_file " + std::to_string(cached_mib * kMiB) + "\n");
  }
  void group1(const std::string& path, std::int64_t limit, std::int64_t used_mib = 0, std::int64_t cached_mib = 0,
              std::int64_t hierarchical = kNoLimit, bool counts_children = true) {
    const std::string at = "/sys/fs/cgroup/memory" + path;
    file(at + "/memory.limit_in_bytes", std::to_string(limit) + "\n");
    file(at + "/memory.usage_in_bytes", std::to_string(used_mib * kMiB) + "\n");
    file(at + "/memory.use_hierarchy", counts_children ? "1\n" : "0\n");
    file(at + "/memory.stat", "inactive_file 1\nhierarchical_memory_limit " + std::to_string(hierarchical) +
                                  "\ntotal_inactive_file " + std::to_string(cached_mib * kMiB) + "\n");
  }
  SystemView view() const {
    return {.root = scratch_.path(), .environment = [this](const char* name) -> const char* {
              const auto found = variables_.find(name);
              return found == variables_.end() ? nullptr : found->second.c_str();
            }};
  }
  std::vector<MemoryBound> bounds() const { return memory_bounds(view()); }

  static constexpr std::int64_t kNoLimit = 9223372036854771712;  // as version 1 says it

 private:
  void write() {
    file("/proc/self/cgroup", cgroup_);
    file("/proc/self/mountinfo", "23 1 8:1 / / rw - ext4 /dev/sda1 rw\n" + mounts_);
  }
  ScratchFolder scratch_;
  Variables variables_;
  std::string cgroup_, mounts_;
};

std::string mib(std::int64_t n) { return std::to_string(n * kMiB); }

TEST(MemoryBounds, TheGroupOfVersion2BoundsItsProcess) {
  FakeSystem system("bounds_v2");
  system.version2("/work");
  system.group2("/work", mib(1000), 600, 150);
  const auto bounds = system.bounds();
  ASSERT_EQ(bounds.size(), 1u);
  EXPECT_EQ(bounds[0].of, "control group /work");
  EXPECT_EQ(bounds[0].limit_bytes, 1000 * kMiB);
  EXPECT_EQ(bounds[0].free_bytes, (1000 - 600 + 150) * kMiB) << "cached files that nobody uses are free";
}

TEST(MemoryBounds, EveryGroupAboveCountsToo) {
  FakeSystem system("bounds_nested");
  system.version2("/system.slice/slurmstepd.scope/job_7/step_0/user/task_0");
  system.group2("/system.slice/slurmstepd.scope/job_7/step_0/user/task_0", "max", 100);
  system.group2("/system.slice/slurmstepd.scope/job_7/step_0", mib(900), 200);
  system.group2("/system.slice/slurmstepd.scope/job_7", mib(2000), 1800);
  system.group2("/system.slice", "max", 5000);
  const auto bounds = system.bounds();
  ASSERT_EQ(bounds.size(), 2u);
  EXPECT_EQ(bounds[0].limit_bytes, 900 * kMiB);
  EXPECT_EQ(bounds[0].free_bytes, 700 * kMiB);
  EXPECT_EQ(bounds[1].of, "control group /system.slice/slurmstepd.scope/job_7");
  EXPECT_EQ(bounds[1].free_bytes, 200 * kMiB) << "a wider limit leaves less";
  EXPECT_EQ(available_memory_bytes(system.view()), 200 * kMiB / 10 * 9);
  const MachineFacts facts = machine_facts(".", system.view());
  EXPECT_EQ(facts.memory_bytes, 900 * kMiB);
  EXPECT_EQ(facts.memory_of, "control group /system.slice/slurmstepd.scope/job_7/step_0");
  EXPECT_EQ(facts.available_bytes, 200 * kMiB);
}

TEST(MemoryBounds, WhatHoldsAGroupUpBoundsItAsItsLimitDoes) {  // systemd's MemoryHigh=
  FakeSystem system("bounds_high");
  system.version2("/user.slice");
  system.group2("/user.slice", mib(2000), 100, 0, mib(500));
  ASSERT_EQ(system.bounds().size(), 1u);
  EXPECT_EQ(system.bounds()[0].free_bytes, 400 * kMiB);
}

TEST(MemoryBounds, AGroupThatTookMoreThanItMayHasNothingFree) {
  FakeSystem system("bounds_over");
  system.version2("/");
  system.group2("", mib(100), 300);
  ASSERT_EQ(system.bounds().size(), 1u);
  EXPECT_EQ(system.bounds()[0].of, "control group /");
  EXPECT_EQ(system.bounds()[0].free_bytes, 0);
  EXPECT_EQ(available_memory_bytes(system.view()), 1) << "0 would be no limit";
}

TEST(MemoryBounds, GroupsOfVersion1AndThoseAboveBoundTheirProcess) {
  FakeSystem system("bounds_v1");
  system.version1("/slurm/uid_1000/job_7/step_0");
  system.group1("/slurm/uid_1000/job_7/step_0", FakeSystem::kNoLimit, 50, 0, 800 * kMiB);
  system.group1("/slurm/uid_1000/job_7", 800 * kMiB, 500, 30);
  system.group1("/slurm", FakeSystem::kNoLimit, 9000);
  const auto bounds = system.bounds();
  ASSERT_EQ(bounds.size(), 2u);
  EXPECT_EQ(bounds[0].of, "what control group /slurm/uid_1000/job_7/step_0 lies in");
  EXPECT_EQ(bounds[0].limit_bytes, 800 * kMiB);
  EXPECT_EQ(bounds[1].of, "control group /slurm/uid_1000/job_7");
  EXPECT_EQ(bounds[1].free_bytes, 330 * kMiB);
}

TEST(MemoryBounds, AGroupOfVersion1ThatDoesNotCountItsChildrenDoesNotBoundThem) {
  FakeSystem system("bounds_flat");
  system.version1("/a/b");
  system.group1("/a/b", 800 * kMiB, 100);
  system.group1("/a", 50 * kMiB, 0, 0, FakeSystem::kNoLimit, false);
  ASSERT_EQ(system.bounds().size(), 1u);
  EXPECT_EQ(system.bounds()[0].limit_bytes, 800 * kMiB);
}

TEST(MemoryBounds, OfBothVersionsSideBySideTheOneWithMemoryCounts) {
  FakeSystem system("bounds_hybrid");
  system.version1("/job");
  system.group1("/job", 700 * kMiB, 100);
  system.version2("/job", {{"/", "/sys/fs/cgroup/unified"}});  // it has processes and no controllers
  ASSERT_EQ(system.bounds().size(), 1u);
  EXPECT_EQ(system.bounds()[0].limit_bytes, 700 * kMiB);
}

TEST(MemoryBounds, AContainerSeesItsOwnGroupAtTheMount) {
  FakeSystem docker("bounds_docker");  // the path of the host, and a mount of that part of the hierarchy
  docker.version1("/docker/7/job", "/docker/7");
  docker.group1("/job", FakeSystem::kNoLimit, 100);
  docker.group1("", 600 * kMiB, 150);
  ASSERT_EQ(docker.bounds().size(), 1u);
  EXPECT_EQ(docker.bounds()[0].of, "control group /docker/7");
  EXPECT_EQ(docker.bounds()[0].free_bytes, 450 * kMiB);

  FakeSystem namespaced("bounds_namespace");  // a namespace of its own: its group is "/"
  namespaced.version2("/");
  namespaced.group2("", mib(512), 112);
  ASSERT_EQ(namespaced.bounds().size(), 1u);
  EXPECT_EQ(namespaced.bounds()[0].free_bytes, 400 * kMiB);
}

TEST(MemoryBounds, AGroupThatTheMountDoesNotShowIsBoundedByTheMount) {
  for (const char* outside : {"/../other", "/kubepods/pod3/9"}) {
    FakeSystem system("bounds_outside");
    system.version2(outside, {{"/kubepods/pod2", "/sys/fs/cgroup"}});
    system.group2("", mib(256), 56);
    system.group2("/other", mib(1), 0);  // of another group
    ASSERT_EQ(system.bounds().size(), 1u) << outside;
    EXPECT_EQ(system.bounds()[0].free_bytes, 200 * kMiB);
  }
}

TEST(MemoryBounds, OfSeveralMountsTheOneThatShowsMostAboveIsTaken) {
  FakeSystem system("bounds_mounts");
  system.version2("/a/b", {{"/a/b", "/mnt/with\\040blank"}, {"/x", "/mnt/x"}, {"/", "/sys/fs/cgroup"}});
  system.file("/mnt/with blank/memory.max", mib(300));
  system.group2("/a/b", mib(300), 0);
  system.group2("/a", mib(200), 0);
  ASSERT_EQ(system.bounds().size(), 2u);
  EXPECT_EQ(system.bounds()[1].of, "control group /a");
  FakeSystem alone("bounds_blank");
  alone.version2("/a/b", {{"/a/b", "/mnt/with\\040blank"}});
  alone.file("/mnt/with blank/memory.max", mib(300));
  ASSERT_EQ(alone.bounds().size(), 1u);
  EXPECT_EQ(alone.bounds()[0].free_bytes, 300 * kMiB) << "nothing tells what is used of it";
}

TEST(MemoryBounds, WhereNothingIsSaidNothingBounds) {
  FakeSystem missing("bounds_missing");
  EXPECT_TRUE(missing.bounds().empty());
  EXPECT_EQ(available_memory_bytes(missing.view()), std::int64_t{6291456} * 1024 / 10 * 9);
  FakeSystem unlimited("bounds_unlimited");
  unlimited.version2("/a/b");
  unlimited.group2("/a/b", "max", 100);
  EXPECT_TRUE(unlimited.bounds().empty());
  EXPECT_EQ(machine_facts(".", unlimited.view()).memory_bytes, std::int64_t{8388608} * 1024);
  EXPECT_EQ(machine_facts(".", unlimited.view()).memory_of, "");
  FakeSystem damaged("bounds_damaged");
  damaged.version2("/a");
  damaged.group2("/a", "4e9 or so");
  damaged.file("/proc/self/cgroup", "0::/a\nnonsense\n::\n4:memory\n");
  EXPECT_TRUE(damaged.bounds().empty());
}

TEST(MemoryBounds, SlurmsGrantCountsWhereNoGroupConfines) {
  const std::int64_t resident = 100 * kMiB;
  for (const auto& [variables, granted_mib] : std::vector<std::pair<Variables, std::int64_t>>{
           {{{"SLURM_MEM_PER_NODE", "4096"}}, 4096},
           {{{"SLURM_MEM_PER_CPU", "1000"}, {"SLURM_CPUS_ON_NODE", "3"}}, 3000},
           {{{"SLURM_MEM_PER_CPU", "1000"}}, 0},  // the number of CPUs is not given
           {{{"SLURM_MEM_PER_NODE", "0"}}, 0},    // all that the node has
           {{{"SLURM_MEM_PER_NODE", "much"}}, 0},
           {{{"SLURM_MEM_PER_CPU", "9223372036854775807"}, {"SLURM_CPUS_ON_NODE", "64"}}, std::int64_t{1} << 40}}) {
    FakeSystem system("bounds_slurm", variables);
    system.version2("/system.slice/slurmd.service");
    system.group2("/system.slice/slurmd.service", "max", 100);
    const auto bounds = system.bounds();
    ASSERT_EQ(bounds.size(), granted_mib > 0 ? 1u : 0u) << variables.begin()->second;
    if (granted_mib == 0) continue;
    EXPECT_EQ(bounds[0].limit_bytes, granted_mib * kMiB);
    EXPECT_EQ(bounds[0].free_bytes, granted_mib * kMiB - resident);
    EXPECT_EQ(bounds[0].of, variables.rbegin()->first);
  }
  FakeSystem confined("bounds_slurm_group", {{"SLURM_MEM_PER_NODE", "4096"}});
  confined.version2("/job_7");
  confined.group2("/job_7", mib(5000), 0);
  ASSERT_EQ(confined.bounds().size(), 1u);
  EXPECT_EQ(confined.bounds()[0].of, "control group /job_7") << "the kernel's word counts";
}

}  // namespace
}  // namespace voxshard
