#include "libcore/kernels/fast/library_set.h"

#include <cstdlib>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>

#include "libcore/base/cpu.h"
#include "libcore/base/error.h"
#include "libcore/base/text.h"
#include "libcore/kernels/conv.h"

namespace voxshard {
namespace {

constexpr std::pair<dnnl::cpu_isa, const char*> kLibrarySets[] = {
    {dnnl::cpu_isa::sse41, "sse41"},
    {dnnl::cpu_isa::avx, "avx"},
    {dnnl::cpu_isa::avx2, "avx2"},
    {dnnl::cpu_isa::avx2_vnni, "avx2_vnni"},
    {dnnl::cpu_isa::avx512_core, "avx512_core"},
    {dnnl::cpu_isa::avx512_core_vnni, "avx512_core_vnni"},
    {dnnl::cpu_isa::avx512_core_bf16, "avx512_core_bf16"},
#if DNNL_VERSION_MAJOR >= 3  // Debian 13
    {dnnl::cpu_isa(dnnl_cpu_isa_avx512_core_fp16), "avx512_core_fp16"},
    {dnnl::cpu_isa(dnnl_cpu_isa_avx512_core_amx_fp16), "avx512_core_amx_fp16"},
#endif
    {dnnl::cpu_isa::avx512_core_amx, "avx512_core_amx"}};

/// The library's constant for each InstructionSet.
constexpr dnnl::cpu_isa kLimits[] = {dnnl::cpu_isa::avx2, dnnl::cpu_isa::avx512_core, dnnl::cpu_isa::avx512_core_bf16,
                                     dnnl::cpu_isa::avx512_core_amx};

/// True when all instructions of `set` are in `all`: a set's value contains the bits of all its subsets.
bool is_within(dnnl::cpu_isa set, dnnl::cpu_isa all) { return (static_cast<int>(set) & ~static_cast<int>(all)) == 0; }

/// True when the user already limits the library to a subset of `limit` by its own variable.
bool limits_itself_within(dnnl::cpu_isa limit) {
  const char* own = std::getenv("ONEDNN_MAX_CPU_ISA");
  if (own == nullptr) own = std::getenv("DNNL_MAX_CPU_ISA");  // its older name
  if (own == nullptr) return false;
  for (const auto& [set, name] : kLibrarySets)
    if (lower_case(own) == name) return is_within(set, limit);
  return false;
}

/// Passes the limit of instruction_set() to the library, which accepts only one limit and only before its first use.
void set_limit() {
  if (instruction_set() == instruction_sets().back()) return;
  const dnnl::cpu_isa limit = kLimits[static_cast<int>(instruction_set())];
  if (limits_itself_within(limit)) return;
  ensure(dnnl::set_max_cpu_isa(limit) == dnnl::status::success, "oneDNN takes VOXSHARD_ISA before its first use");
}

dnnl::cpu_isa library_set() {
  fast::limit_library();
  return dnnl::get_effective_cpu_isa();
}

}  // namespace

bool cpu_has_native_bf16() { return is_within(dnnl::cpu_isa::avx512_core_bf16, library_set()); }

std::string kernel_library_version() {
  const dnnl_version_t* v = dnnl_version();
  return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
}

std::string kernel_instruction_set() {
  const dnnl::cpu_isa in_use = library_set();
  for (const auto& [set, name] : kLibrarySets)
    if (set == in_use) return name;
  return "set " + std::to_string(static_cast<int>(in_use));
}

void fast::limit_library() {
  static const bool limited = (set_limit(), true);
  (void)limited;
}

}  // namespace voxshard
