#include "libcore/base/cpu.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

/// True when CPUID reports AMX with bf16.
bool has_tiles() {
  constexpr unsigned kExtended = 7;
  unsigned eax = 0, ebx = 0, ecx = 0, amx = 0;
  return __get_cpuid_count(kExtended, 0, &eax, &ebx, &ecx, &amx) != 0 && (amx >> 22 & 1) != 0 && (amx >> 24 & 1) != 0;
}

/// Requests permission for AMX tiles; Linux gives them only to a process that asks: Documentation/arch/x86/xstate.rst.
bool may_keep_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

std::vector<InstructionSet> found_instruction_sets() {
  // The subset of AVX-512 that oneDNN and Highway require, which Skylake servers introduced.
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  std::vector<InstructionSet> sets;
  const auto add = [&](InstructionSet set, bool has) {
    if (has && sets.size() == static_cast<std::size_t>(set)) sets.push_back(set);  // only on top of all earlier sets
  };
  add(InstructionSet::kAvx2, cpu_runs_kernels());
  add(InstructionSet::kAvx512, avx512);
  add(InstructionSet::kAvx512Bf16, __builtin_cpu_supports("avx512bf16"));
  add(InstructionSet::kAmx, has_tiles() && may_keep_tiles());
  return sets;
}

}  // namespace

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
  add("f16c", (basic >> 29 & 1) != 0 && __builtin_cpu_supports("avx"));  // clang 14's builtin does not accept "f16c"
  add("avx2", __builtin_cpu_supports("avx2"));
  add("avx512f", __builtin_cpu_supports("avx512f"));
  add("avx512_bf16", __builtin_cpu_supports("avx512bf16"));
  add("avx512_vnni", __builtin_cpu_supports("avx512vnni"));
  add("amx_bf16", (amx >> 22 & 1) != 0);
  add("amx_tile", (amx >> 24 & 1) != 0);
  return features;
}

const std::vector<InstructionSet>& instruction_sets() {
  static const std::vector<InstructionSet> sets = found_instruction_sets();
  return sets;
}

InstructionSet allowed_instruction_set(const char* wanted, const std::vector<InstructionSet>& sets) {
  if (sets.empty())
    throw Error(
        ErrorKind::kConfig,
        "[cpu] this processor has no AVX2 and FMA instructions, which voxshard needs (x86-64 since about 2013)");
  if (wanted == nullptr || *wanted == '\0') return sets.back();
  const auto* name = std::find(std::begin(kInstructionSetNames), std::end(kInstructionSetNames), std::string(wanted));
  if (name == std::end(kInstructionSetNames))
    throw Error(ErrorKind::kConfig, std::string("[cpu] VOXSHARD_ISA is ") + wanted + "; expected one of " +
                                        joined(kInstructionSetNames, ", "));
  const auto set = static_cast<InstructionSet>(name - kInstructionSetNames);
  if (set > sets.back())
    throw Error(ErrorKind::kConfig, std::string("[cpu] VOXSHARD_ISA is ") + wanted +
                                        ", which this processor does not have, or its system does not give; it has " +
                                        joined(sets, ", ", instruction_set_name) +
                                        ": give one of them or leave VOXSHARD_ISA out");
  return set;
}

InstructionSet instruction_set() {
  static const InstructionSet set = allowed_instruction_set(std::getenv("VOXSHARD_ISA"), instruction_sets());
  return set;
}

}  // namespace voxshard
