// The table of `voxshard bench tpu-tables` for people: a line per published row, the fitted constants, and what they
// leave unexplained.
//
//   std::cout << tpu_tables_text(run_tpu_tables(progress));
#pragma once

#include <string>

#include "pipelines/commands/run_tpu_tables.h"

namespace voxshard {

std::string tpu_tables_text(const TpuTables& tables);

}  // namespace voxshard
