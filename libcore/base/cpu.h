// Facts of the processor, and the one limit on what the kernels use of it: VOXSHARD_ISA. Each room of kernels applies
// instruction_set() to its own library or code before the first call; what oneDNN makes of it is in kernels/conv.h.
//
//   VOXSHARD_ISA=avx512 voxshard train ...                  // as on a processor without bf16 and AMX
//   if (instruction_set() >= InstructionSet::kAmx) ...
#pragma once

#include <string>
#include <vector>

namespace voxshard {

/// AVX2 and FMA, which the kernels are compiled for: without them the process would die of an illegal instruction.
bool cpu_runs_kernels();

/// "AMD EPYC 7763"; empty when unknown.
std::string cpu_name();

/// Those that the kernels can use, as Linux names them.
std::vector<std::string> cpu_features();

/// What kernels are written for; each has all those before it.
enum class InstructionSet { kAvx2, kAvx512, kAvx512Bf16, kAmx };
inline constexpr const char* kInstructionSetNames[] = {"avx2", "avx512", "avx512_bf16", "amx"};
inline const char* instruction_set_name(InstructionSet set) { return kInstructionSetNames[static_cast<int>(set)]; }

/// Those that the processor has and the system lets this process use, the narrowest first; empty without AVX2 and FMA.
/// Asked once.
const std::vector<InstructionSet>& instruction_sets();

/// The widest that the kernels may use: what VOXSHARD_ISA names, else the last of instruction_sets(). Decided at the
/// first call. Errors: see allowed_instruction_set.
InstructionSet instruction_set();

/// The one that `wanted`, the value of VOXSHARD_ISA, allows on a machine that has `sets`; null or empty: the widest.
/// Errors: kConfig for a name that is none, for a set that the machine lacks, and for a machine without any.
InstructionSet allowed_instruction_set(const char* wanted, const std::vector<InstructionSet>& sets);

}  // namespace voxshard
