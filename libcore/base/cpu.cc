#include "libcore/base/cpu.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace voxshard {

bool cpu_runs_kernels() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

std::string cpu_name() { return value_in_lines("/proc/cpuinfo", "model name"); }

std::vector<std::string> cpu_features() {
  const std::vector<std::string> useful = {"avx2", "fma", "f16c", "avx512f", "avx512_bf16", "avx512vnni", "amx_tile", "amx_bf16"};
  std::vector<std::string> features;
  std::istringstream flags(value_in_lines("/proc/cpuinfo", "flags"));
  for (std::string flag; flags >> flag;)
    if (std::find(useful.begin(), useful.end(), flag) != useful.end()) features.push_back(flag);
  return features;
}

std::string value_in_lines(const char* path, const std::string& key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.find_first_not_of(" \t", key.size()) != colon) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

}  // namespace voxshard
