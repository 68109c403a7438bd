// Measures the check of the table of convolutions before its first use: processor time per row and in total.
//
//   bench_agreement                       VOXSHARD_ISA=avx2 bench_agreement

#include <cstdio>
#include <ctime>

#include "libcore/base/cpu.h"
#include "libcore/kernels/conv_table.h"

namespace {

double thread_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

}  // namespace

int main() {
  std::printf("%s\n", voxshard::instruction_set_name(voxshard::instruction_set()));
  const double begin = thread_ms();
  for (const voxshard::ConvRow& row : voxshard::conv_rows()) {
    const double start = thread_ms();
    const bool trusted = voxshard::conv_is_trusted(row);
    std::printf("  %-10s pass %d  %7.1f ms  %s\n", voxshard::kConvKernelNames[static_cast<int>(row.kernel)],
                static_cast<int>(row.pass), thread_ms() - start, trusted ? "trusted" : "NOT TRUSTED");
  }
  std::printf("  all                %7.1f ms\n", thread_ms() - begin);
  return 0;
}
