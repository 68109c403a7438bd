// `voxshard bench tpu-tables`: the step times that Cloud TPU's documentation published beside what the emulation says,
// with what the emulation was fitted to. Honest only because the table says both: how far each row is off, and how far
// it is off when the fitted constants are chosen without it.
//
//   TpuTables tables = run_tpu_tables(progress);
//   tables.rows[0].residual()      // emulated / published - 1
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libcore/device/tpu/tpu_device.h"
#include "pipelines/emulation/tpu_fit.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

/// The published steps. A row is an entry of the table in run_tpu_tables.cc and nothing else.
std::span<const PublishedStep> published_steps();

struct EmulatedStep {
  Recompute recompute = Recompute::kNone;  // beyond what fusions make again: the least with which the step fits
  StepPrice price;
  double published_seconds = 0;
  double leave_one_out_seconds = 0;  // with the constants that were fitted to this row chosen without it
  std::vector<std::string> fitted;   // their keys
  std::string bound_by;              // feed, matrix, vector, memory, links, passes or overhead
  std::int64_t core_bytes = 0;       // of the fullest core, in the device's tiles, optimizer included
  std::int64_t kept_core_bytes = 0;  // the same with the results kept that fusions make again
  std::int64_t usable_bytes = 0;

  bool fits() const { return core_bytes <= usable_bytes; }
  double residual() const { return price.step_s / published_seconds - 1; }
  double leave_one_out_residual() const { return leave_one_out_seconds / published_seconds - 1; }
};

struct TpuTableRow {
  PublishedStep published;
  EmulatedStep emulated;
};

struct FittedConstant {
  std::string device;
  Figure figure;
  double refitted = 0;  // what the rows give now, in the figure's unit; the file should say the same
};

/// One replica of a model on more and more cores.
struct TpuWays {
  std::string model, extents;
  struct Row {
    Dims partition;
    StepPrice price;
    double efficiency = 1;        // of the cores, against one core, though that may not fit: then it could not exist
    std::int64_t core_bytes = 0;  // of the fullest core, optimizer included
    bool fits = false;
  };
  std::vector<Row> rows;
};

/// The rows under another assumption than the device's.
struct TpuAssumption {
  std::string what;
  std::vector<double> residuals;           // of the rows, constants as in the file
  std::vector<double> refitted_residuals;  // of the rows, all constants fitted again
  std::string refitted;                    // those constants
  bool fits = true;                        // every row without recomputation
};

struct TpuTables {
  std::vector<TpuTableRow> rows;
  std::vector<TpuWays> ways;
  std::vector<FittedConstant> fitted_constants;
  std::vector<TpuAssumption> assumptions;
  double least_unpack_bytes_s = 0;       // of a host: from this rate on no row waits for its hosts
  std::vector<std::string> unexplained;  // sentences
};

TpuTables run_tpu_tables(Progress& progress);

}  // namespace voxshard
