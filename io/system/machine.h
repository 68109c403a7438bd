// Facts of the machine from the kernel's own files: memory, limits of control groups, huge pages, disk.
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
  std::int64_t memory_bytes = 0;     // of the machine, or what bounds this job (memory_bounds.h); 0 when unknown
  std::string memory_of;             // what bounds it; empty: the machine
  std::int64_t available_bytes = 0;  // without swapping, and within what bounds the job
  std::int64_t swap_bytes = 0;
  std::string huge_pages;            // "always", "madvise" or "never"; empty when unknown
  std::int64_t free_disk_bytes = 0;  // on the file system of the folder; -1 when unknown
};

MachineFacts machine_facts(const std::filesystem::path& folder, const SystemView& system = {});

/// Name and version of each library that files go through.
std::vector<std::pair<std::string, std::string>> io_library_versions();

}  // namespace voxshard
