// VOXSHARD_ISA limits all code that depends on the processor: oneDNN, Highway and our own AMX. The value is read once
// in a process, so each value is tested in a process of its own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

#include "libcore/base/cpu.h"
#include "libcore/base/error.h"
#include "libcore/kernels/amx/processor.h"
#include "libcore/kernels/conv.h"
#include "libcore/kernels/conv_table.h"
#include "libcore/kernels/convolution/weight_grad_tile.h"
#include "libcore/kernels/winograd/routines.h"
#include "libcore/kernels/winograd/vector_targets.h"

namespace voxshard {
namespace {

/// Returns Highway's index of the code that its next call uses.
std::size_t chosen_index() { return hwy::GetChosenTarget().GetIndex(); }

/// Runs kernels, prints on standard error which instruction sets are in use, and ends the process.
[[noreturn]] void report() {
  try {
    for (const ConvRow& row : conv_rows())
      if (row.kernel == ConvKernel::kWinograd2 && !conv_is_trusted(row))
        std::cerr << "a kernel computes something else; ";
    const std::size_t used = chosen_index();
    const std::int64_t target = vector_targets() & HWY_TARGETS;
    hwy::GetChosenTarget().Update(target & -target);
    std::cerr << (used == chosen_index() ? "" : "dispatched to another; ") << "library " << kernel_instruction_set()
              << ", vectors " << winograd::instruction_set() << " " << fast::outer_products_code() << ", bf16 "
              << cpu_has_native_bf16() << ", tiles " << amx::available() << ";" << std::endl;
    std::_Exit(0);
  } catch (const Error& e) {
    std::cerr << e.code() << " " << e.what() << std::endl;
    std::_Exit(1);
  }
}

/// Tests that start this program once more for each question, with these variables.
class InstructionSetDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  void TearDown() override {
    restore("VOXSHARD_ISA", own_);
    restore("ONEDNN_MAX_CPU_ISA", library_);
  }
  static void ask(const char* own, const char* library) {
    restore("VOXSHARD_ISA", own);
    restore("ONEDNN_MAX_CPU_ISA", library);
  }
  static bool has(InstructionSet set) { return !instruction_sets().empty() && set <= instruction_sets().back(); }

 private:
  using Value = std::optional<std::string>;
  static Value value_of(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? Value() : Value(value);
  }
  static void restore(const char* name, const Value& value) {
    value ? setenv(name, value->c_str(), 1) : unsetenv(name);
  }
  static void restore(const char* name, const char* value) { restore(name, value == nullptr ? Value() : Value(value)); }
  Value own_ = value_of("VOXSHARD_ISA"), library_ = value_of("ONEDNN_MAX_CPU_ISA");
};

TEST_F(InstructionSetDeathTest, OneVariableLimitsTheLibraryHighwayAndOurTilesTogether) {
  // Libraries may use a newer set of the same width: oneDNN where the widest set of the machine is wanted, Highway from
  // 1.0.4 on (AVX3_ZEN4).
  const char* wanted[] = {"^library avx2(_vnni)?, vectors AVX2 AVX2, bf16 0, tiles 0;",
                          "^library avx512_core(_vnni)?, vectors AVX3(_[A-Z0-9]+)? AVX3(_[A-Z0-9]+)?, bf16 0, tiles 0;",
                          "^library avx512_core_bf16, vectors AVX3(_[A-Z0-9]+)? AVX3(_[A-Z0-9]+)?, bf16 1, tiles 0;",
                          "^library avx512_core_amx, vectors AVX3(_[A-Z0-9]+)? AVX3(_[A-Z0-9]+)?, bf16 1, tiles 1;"};
  for (InstructionSet set : instruction_sets()) {
    ask(instruction_set_name(set), nullptr);
    EXPECT_EXIT(report(), testing::ExitedWithCode(0), wanted[static_cast<std::size_t>(set)]);
  }
  ask(nullptr, nullptr);
  EXPECT_EXIT(report(), testing::ExitedWithCode(0), wanted[static_cast<std::size_t>(instruction_sets().back())]);
}

TEST_F(InstructionSetDeathTest, TheLibrarysOwnVariableLimitsItFurtherAndNothingElse) {
  if (!has(InstructionSet::kAvx512)) GTEST_SKIP() << "this processor has no AVX-512";
  ask("avx512", "AVX2");
  EXPECT_EXIT(report(), testing::ExitedWithCode(0),
              "^library avx2, vectors AVX3(_[A-Z0-9]+)? AVX3(_[A-Z0-9]+)?, bf16 0, tiles 0;");
  ask("avx2", "AVX512_CORE");
  EXPECT_EXIT(report(), testing::ExitedWithCode(0), "^library avx2, vectors AVX2 AVX2, bf16 0, tiles 0;");
  ask("avx512", "no such set");  // the library reads this as no limit, and what it has of this width is its own choice
  EXPECT_EXIT(report(), testing::ExitedWithCode(0),
              "^library avx512_core(_vnni)?, vectors AVX3(_[A-Z0-9]+)? AVX3(_[A-Z0-9]+)?, bf16 0, tiles 0;");
}

TEST_F(InstructionSetDeathTest, NoKernelRunsUnderAValueThatCannotBeFollowed) {
  ask("avx3", nullptr);
  EXPECT_EXIT(report(), testing::ExitedWithCode(1), "^E_CONFIG \\[cpu\\] VOXSHARD_ISA is avx3; expected one of avx2");
  ask("AMX", nullptr);  // names are written as doctor writes them
  EXPECT_EXIT(report(), testing::ExitedWithCode(1), "^E_CONFIG \\[cpu\\] VOXSHARD_ISA is AMX; expected one of");
}

}  // namespace
}  // namespace voxshard
