// Facts about the machine from the kernel's own files: memory, limits of control groups, huge pages, disk.
//
//   MachineFacts facts = machine_facts(".");   // facts.memory_bytes is the job's limit where that is lower
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "io/system/kernel_files.h"

namespace voxshard {

struct MachineFacts {
  std::int64_t memory_bytes = 0;     // of the machine, or the limit of this job (memory_bounds.h); 0 when unknown
  std::string memory_of;             // name of that limit; empty: the machine
  std::int64_t available_bytes = 0;  // without swapping, within the limits of the job
  std::int64_t swap_bytes = 0;
  std::string huge_pages;            // "always", "madvise" or "never"; empty when unknown
  std::int64_t free_disk_bytes = 0;  // on the file system of the folder; -1 when unknown
};

MachineFacts machine_facts(const std::filesystem::path& folder, const SystemView& system = {});

/// Returns name and version of each library that reads or writes files.
std::vector<std::pair<std::string, std::string>> io_library_versions();

}  // namespace voxshard
