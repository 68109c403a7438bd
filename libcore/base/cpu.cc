#include "libcore/base/cpu.h"

#include <cpuid.h>

#include <array>
#include <cstring>

namespace voxshard {

bool cpu_runs_kernels() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

std::string cpu_name() {
  constexpr unsigned kFirst = 0x80000002, kLeaves = 3;  // 16 characters each
  if (__get_cpuid_max(kFirst & 0x80000000, nullptr) < kFirst + kLeaves - 1) return "";
  std::array<unsigned, 4 * kLeaves> words{};
  for (unsigned i = 0; i < kLeaves; ++i)
    __get_cpuid(kFirst + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]);
  std::string name(sizeof(words), '\0');
  std::memcpy(name.data(), words.data(), sizeof(words));
  name.resize(name.find_first_of('\0') == std::string::npos ? name.size() : name.find_first_of('\0'));
  const std::size_t begin = name.find_first_not_of(' ');
  return begin == std::string::npos ? "" : name.substr(begin, name.find_last_not_of(' ') - begin + 1);
}

std::vector<std::string> cpu_features() {
  constexpr unsigned kBasic = 1, kExtended = 7;
  unsigned eax = 0, ebx = 0, ecx = 0, amx = 0, basic = 0;
  __get_cpuid(kBasic, &eax, &ebx, &basic, &amx);
  __get_cpuid_count(kExtended, 0, &eax, &ebx, &ecx, &amx);
  std::vector<std::string> features;
  const auto add = [&](const char* name, bool has) {
    if (has) features.push_back(name);
  };
  add("fma", __builtin_cpu_supports("fma"));
  add("f16c", (basic >> 29 & 1) != 0 && __builtin_cpu_supports("avx"));  // clang 14 does not know the word
  add("avx2", __builtin_cpu_supports("avx2"));
  add("avx512f", __builtin_cpu_supports("avx512f"));
  add("avx512_bf16", __builtin_cpu_supports("avx512bf16"));
  add("avx512_vnni", __builtin_cpu_supports("avx512vnni"));
  add("amx_bf16", (amx >> 22 & 1) != 0);
  add("amx_tile", (amx >> 24 & 1) != 0);
  return features;
}

}  // namespace voxshard
