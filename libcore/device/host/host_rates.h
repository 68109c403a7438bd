// What this machine does, measured by `voxshard doctor` on the engine's own kernels: rates by op, stored type, channels
// and size, and what the engine takes per task and per barrier. Read by host_price.h, for any model.
//
//   const RateTable& t = rates.at("conv", DType::kF32, {.taps = 27});
//   t.at({16, 32, 64, 4096})      // flop/s of 16 -> 32 channels, rows of 64 voxels, 4096 such rows on the core
//
// Rates are of one worker while all work. In JSON each figure has value, unit, kind "measured" and how.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/graph/op_def.h"

namespace voxshard {

/// Which kernel of an op: taps and `patch` tell windows apart (patch: kernel == stride, a matrix product of patches);
/// taps is 0 where nothing is multiplied. `kernel`: the one that was chosen, of ops with a choice; rates are of the
/// direct count.
struct RateWindow {
  int taps = 0;
  bool patch = false;
  ConvKernel kernel = ConvKernel::kAny;
  friend bool operator==(const RateWindow&, const RateWindow&) = default;
};
RateWindow rate_window(const Attributes& attrs, const Work& work);

/// A rate over a grid of points; between points the logarithm of the rate is linear in the logarithms of the
/// coordinates, beyond the ends it stays.
struct RateTable {
  struct Axis {
    std::string name;            // "in", "out", "row", "rows" (channels, voxels) or "channels", "bytes"
    std::vector<double> points;  // ascending
  };
  static constexpr std::size_t kMostAxes = 4;

  std::string op;  // of the op table, or one of kHostWork
  DType stored = DType::kF32;
  RateWindow window;
  std::string unit;  // "flop/s", "byte/s" or "element/s"
  std::string how;
  std::vector<Axis> axes;
  std::vector<double> values;  // row-major over the axes

  double at(const std::array<double, kMostAxes>& coordinates) const;
};

/// Work of the engine that is no op. exchange, fill_margin: bytes written by (channels, bytes); join: elements of
/// partial results added; pack: bytes of weights reordered; feed: bytes of samples written; update: parameters of an
/// optimizer.
inline constexpr const char* kHostWork[] = {"exchange", "fill_margin", "join", "pack", "feed", "update"};

struct HostRates {
  std::string cpu, how;
  std::string instruction_set;  // that was in force (base/cpu.h)
  bool native_bf16 = false;     // multiplies bf16; else in f32 on converted copies
  int threads = 1;              // workers that were measured together
  std::int64_t memory_bytes = 0;
  double task_s = 0;     // handing out one task
  double barrier_s = 0;  // waking all workers and waiting for all
  /// The speed of one worker alone over its speed while all work: bound by arithmetic, bound by memory. >= about 1.
  double alone_compute = 1, alone_memory = 1;
  std::vector<RateTable> tables;

  /// The table of that op and type; with the nearest window, and the other kernel or type where its own was not
  /// measured. Errors: kConfig when the op was not measured.
  const RateTable& at(std::string_view op, DType stored, RateWindow window) const;
};

/// The type that a kernel mostly moves: bf16 if any input or the result is.
DType stored_type(std::span<const TensorType> inputs, const TensorType& result);

nlohmann::ordered_json to_json(const HostRates& rates);
/// Errors: kConfig names `name`, the key and what is wrong with it.
HostRates host_rates_from_json(const nlohmann::json& json, const std::string& name);

}  // namespace voxshard
