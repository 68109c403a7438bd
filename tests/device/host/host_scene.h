// Rates with round numbers, so that the wall time of a step on this machine can be computed by hand.
//
//   HostRates rates = round_rates(2);    // two workers: 1 GFLOP/s, 1 GB/s, a barrier 1 ms, a task 10 us
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libcore/base/cpu.h"
#include "libcore/device/host/host_rates.h"
#include "libcore/ops/op_table.h"

namespace voxshard::test {

inline constexpr double kFlops = 1e9, kBytes = 1e9, kBarrier = 1e-3, kTask = 1e-5;

inline RateTable flat_table(const std::string& op, DType stored, int taps, double value) {
  RateTable t{.op = op, .stored = stored, .window = {.taps = taps}, .how = "made up", .values = {value}};
  t.unit = taps > 0 ? "flop/s" : op == "join" || op == "update" ? "element/s" : "byte/s";
  if (taps > 0)
    t.axes = {{"in", {1}}, {"out", {1}}, {"row", {1}}, {"rows", {1}}};
  else if (t.unit == "byte/s" && op != "pack" && op != "feed")
    t.axes = {{"channels", {1}}, {"bytes", {1}}};
  return t;
}

inline HostRates round_rates(int threads) {
  HostRates rates{.cpu = "made up",
                  .how = "by hand",
                  .instruction_set = instruction_set_name(instruction_set()),
                  .threads = threads,
                  .memory_bytes = 1 << 30};
  rates.task_s = kTask;
  rates.barrier_s = kBarrier;
  for (const char* op : {"conv", "conv_input_grad", "conv_weight_grad"})
    rates.tables.push_back(flat_table(op, DType::kF32, 27, kFlops));
  for (const auto& [op, def] : op_table().all())
    if (def.sample.products == nullptr) rates.tables.push_back(flat_table(op, DType::kF32, 0, kBytes));
  for (const char* work : kHostWork) rates.tables.push_back(flat_table(work, DType::kF32, 0, kBytes));
  return rates;
}

}  // namespace voxshard::test
