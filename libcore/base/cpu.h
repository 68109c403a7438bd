// Properties of the processor, and VOXSHARD_ISA, the one limit on the instructions that the kernels use. Each folder of
// kernels applies instruction_set() to its own library or code before the first call; kernels/conv.h describes the
// effect on oneDNN.
//
//   VOXSHARD_ISA=avx512 voxshard train ...                  // as on a processor without bf16 and AMX
//   if (instruction_set() >= InstructionSet::kAmx) ...
#pragma once

#include <string>
#include <vector>

namespace voxshard {

/// True with AVX2 and FMA, which the kernels are compiled for: without them the process would die of an illegal
/// instruction.
bool cpu_runs_kernels();

/// The model name, "AMD EPYC 7763"; empty when unknown.
std::string cpu_name();

/// The features that the kernels can use, by their Linux names.
std::vector<std::string> cpu_features();

/// Instruction sets that kernels are written for; each includes all those before it.
enum class InstructionSet { kAvx2, kAvx512, kAvx512Bf16, kAmx };
inline constexpr const char* kInstructionSetNames[] = {"avx2", "avx512", "avx512_bf16", "amx"};
inline const char* instruction_set_name(InstructionSet set) { return kInstructionSetNames[static_cast<int>(set)]; }

/// The sets that the processor has and that the system lets this process use, narrowest first; empty without AVX2 and
/// FMA. Detected once.
const std::vector<InstructionSet>& instruction_sets();

/// The widest set that the kernels may use: the one named by VOXSHARD_ISA, else the last of instruction_sets(). Decided
/// at the first call. Errors: see allowed_instruction_set.
InstructionSet instruction_set();

/// The set that `wanted`, the value of VOXSHARD_ISA, allows on a machine that has `sets`; null or empty means the
/// widest. Errors: kConfig for an unknown name, for a set that the machine lacks, and for a machine without any.
InstructionSet allowed_instruction_set(const char* wanted, const std::vector<InstructionSet>& sets);

}  // namespace voxshard
