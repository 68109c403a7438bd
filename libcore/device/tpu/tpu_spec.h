// A TPU as data: the speeds and sizes of a core, a chip, a slice and its hosts. Read from data/devices/*.json or a
// user's file; each figure keeps its source.
//
//   TpuSpec v3 = tpu_from_json(json, "tpu-v3.json", "tpu-v3");   // tpu_json.h
//   v3.peak_flops_s()       // 61.6e12 of one core: 2 units x 128 x 128 x 2 flops x 940 MHz
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace voxshard {

/// A number of a device and its source.
struct Figure {
  std::string key;                     // "core.clock"
  double value = 0;                    // in `unit`
  std::string unit;                    // "MHz"
  std::string kind;                    // published, derived, assumed, measured or fitted
  std::string source;                  // empty when fitted
  std::string mechanism;               // the mechanism that a fitted figure models
  std::vector<std::string> fitted_to;  // the published rows that it was fitted to
};

/// A rectangle of chips that can be used as one machine. An axis that wraps round is a ring, else a line.
struct Slice {
  std::int64_t cores = 0;
  std::int64_t chips_x = 1, chips_y = 1;
  bool wrap_x = false, wrap_y = false;
};

struct TpuSpec {
  // x and a residual, or a gradient and what it is the gradient of
  static constexpr std::int64_t kUsualFusedTensors = 2;

  std::string name;

  // One core.
  std::int64_t core_bytes = 0;      // memory of one core
  std::int64_t reserved_bytes = 0;  // part of core_bytes that programs cannot use
  std::int64_t matrix_units = 1;
  std::int64_t matrix_tile = 128;  // rows and columns of one unit
  std::int64_t strip_rows = 0;     // rows that pass through a tile before the next load (matrix_tile ticks); 0: all
  double clock_hz = 0;             // each unit takes one row of a tile per tick
  double vector_flops_s = 0;
  double memory_bytes_s = 0;
  double pass_bytes_s = 0;  // bytes read and written by a pass that only moves data and overlaps with nothing
  std::int64_t fused_tensors = kUsualFusedTensors;  // the most tensors that a fusion reads to compute one (fusion.h)
  // even parts are masked for their zero padding too: an assumption (halo_passes.h), not a figure
  bool masks_padding = true;
  // The cost of samples that do not fill the 8 sublanes: memory, by the padding rule of convolutions; products of the
  // padding rows, assumed to be free (no figure; product_layout.h; `bench tpu-tables` prints the rows under the other
  // assumption).
  bool samples_pad_memory = true, samples_pad_products = false;
  double dispatch_s = 0;  // per instruction; overlaps with nothing

  // One chip. Its links go to the next chips along x and y, both ways.
  std::int64_t cores_per_chip = 1;
  std::int64_t links_per_chip = 4;
  double link_bytes_s = 0;  // per link and direction
  double hop_s = 0;
  double core_path_bytes_s = 0;  // between the cores of one chip, each way

  // One host.
  std::int64_t host_chips_x = 1, host_chips_y = 1;
  double unpack_bytes_s = 0;    // inflating and parsing records, counted in unpacked bytes
  double transfer_bytes_s = 0;  // to each chip of the host
  double network_bytes_s = 0;   // to other hosts

  std::int64_t pod_chips_x = 1, pod_chips_y = 1;
  std::vector<Slice> slices;  // ascending
  std::vector<Figure> figures;

  std::int64_t usable_bytes() const { return core_bytes - reserved_bytes; }
  /// Multiply-adds count two.
  double peak_flops_s() const { return 2 * clock_hz * static_cast<double>(matrix_units * matrix_tile * matrix_tile); }
  /// The slice of exactly `cores` cores or null.
  const Slice* slice(std::int64_t cores) const;
  /// "8, 32, 64, 128".
  std::string slice_names() const;
};

}  // namespace voxshard
