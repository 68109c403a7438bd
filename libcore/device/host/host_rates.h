// The speed of this machine, measured by `voxshard doctor` on the engine's own kernels: rates by op, stored type,
// channels and size, and the engine's time per task and per barrier. Read by host_price.h, for any model.
//
//   const RateTable& t = rates.at("conv", DType::kF32, {.taps = 27});
//   t.at({16, 32, 64, 4096})      // flop/s of 16 -> 32 channels, rows of 64 voxels, 4096 such rows on the core
//
// Each rate is that of one worker while all workers are busy. In JSON each figure has value, unit, kind "measured" and
// how.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/graph/op_def.h"

namespace voxshard {

/// Identifies a kernel of an op. taps and `patch` distinguish windows (patch: kernel == stride, a matrix product of
/// patches); taps is 0 where nothing is multiplied. `kernel`: the chosen one, for ops with a choice; rates count the
/// flops of the direct algorithm.
struct RateWindow {
  int taps = 0;
  bool patch = false;
  ConvKernel kernel = ConvKernel::kAny;
  friend bool operator==(const RateWindow&, const RateWindow&) = default;
};
RateWindow rate_window(const Attributes& attrs, const Work& work);

/// A rate over a grid of points. Between points the logarithm of the rate is linear in the logarithms of the
/// coordinates; beyond the ends it stays constant.
struct RateTable {
  struct Axis {
    std::string name;            // "in", "out", "row", "rows" (channels, voxels) or "channels", "bytes"
    std::vector<double> points;  // ascending
  };
  static constexpr std::size_t kMostAxes = 4;

  std::string op;  // a name of the op table, or one of kHostWork
  DType stored = DType::kF32;
  RateWindow window;
  std::string unit;  // "flop/s", "byte/s" or "element/s"
  std::string how;
  std::vector<Axis> axes;
  std::vector<double> values;  // row-major over the axes

  double at(const std::array<double, kMostAxes>& coordinates) const;
};

/// Work of the engine that is no op, and the unit that its rate counts. exchange, fill_margin: bytes written by
/// (channels, bytes); join: elements of partial results added; pack: bytes of weights reordered; feed: bytes of samples
/// written; update: parameters of an optimizer.
inline constexpr const char* kHostWork[] = {"exchange", "fill_margin", "join", "pack", "feed", "update"};

struct HostRates {
  std::string cpu, how;
  std::string instruction_set;  // in use during the measurement (base/cpu.h)
  bool native_bf16 = false;     // true: the CPU multiplies bf16; false: in f32 on converted copies
  int threads = 1;              // workers that were measured together
  std::int64_t memory_bytes = 0;
  double task_s = 0;     // scheduling one task
  double barrier_s = 0;  // waking all workers and waiting for them
  /// Speed of one worker alone divided by its speed while all work, for tasks bound by arithmetic and by memory. >=
  /// about 1.
  double alone_compute = 1, alone_memory = 1;
  std::vector<RateTable> tables;

  /// Returns the table of that op and type with the nearest window; falls back to another kernel or type when the
  /// requested one was not measured. Errors: kConfig when the op was not measured.
  const RateTable& at(std::string_view op, DType stored, RateWindow window) const;
};

/// The type that a kernel mostly moves: bf16 if any input or the result is bf16.
DType stored_type(std::span<const TensorType> inputs, const TensorType& result);

nlohmann::ordered_json to_json(const HostRates& rates);
/// Errors: kConfig with `name`, the key and the fault.
HostRates host_rates_from_json(const nlohmann::json& json, const std::string& name);

}  // namespace voxshard
