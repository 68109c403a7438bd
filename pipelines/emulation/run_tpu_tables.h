// `voxshard bench tpu-tables`: compares step times published in Cloud TPU's documentation with the emulation, and lists
// the rows to which the emulation was fitted. For an honest comparison the table gives two errors per row: with the
// fitted constants, and with constants fitted without that row.
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
  Recompute recompute = Recompute::kNone;  // besides values that fusions recompute: the least with which the step fits
  StepPrice price;
  double published_seconds = 0;
  double leave_one_out_seconds = 0;  // with the constants of this row refitted without it
  std::vector<std::string> fitted;   // keys of the constants that were fitted to this row
  std::string bound_by;              // feed, matrix, vector, memory, links, passes or overhead
  std::int64_t core_bytes = 0;       // of the fullest core, in the device's tiles, optimizer included
  std::int64_t kept_core_bytes = 0;  // the same if the results that fusions recompute were kept
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
  double refitted = 0;  // value fitted to the current rows, in the figure's unit; the file should hold the same
};

/// One replica of a model on increasing numbers of cores.
struct TpuWays {
  std::string model, extents;
  struct Row {
    Dims partition;
    StepPrice price;
    double efficiency = 1;        // of the cores relative to one core, which is hypothetical if one core does not fit
    std::int64_t core_bytes = 0;  // of the fullest core, optimizer included
    bool fits = false;
  };
  std::vector<Row> rows;
};

/// The rows under a different assumption from the device's.
struct TpuAssumption {
  std::string what;
  std::vector<double> residuals;           // of the rows, with constants as in the file
  std::vector<double> refitted_residuals;  // of the rows, with all constants refitted
  std::string refitted;                    // the refitted constants, as text
  bool fits = true;                        // true: every row fits without recomputation
};

struct TpuTables {
  std::vector<TpuTableRow> rows;
  std::vector<TpuWays> ways;
  std::vector<FittedConstant> fitted_constants;
  std::vector<TpuAssumption> assumptions;
  double least_unpack_bytes_s = 0;       // rate of a host from which on no row waits for its hosts
  std::vector<std::string> unexplained;  // sentences
};

TpuTables run_tpu_tables(Progress& progress);

}  // namespace voxshard
