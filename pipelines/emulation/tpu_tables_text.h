// The table of `voxshard bench tpu-tables` for people and for scripts: a line per published row, its corrections, the
// fitted constants, the rows under other assumptions, and unexplained discrepancies.
//
//   std::cout << tpu_tables_text(run_tpu_tables(progress));
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "pipelines/emulation/run_tpu_tables.h"

namespace voxshard {

std::string tpu_tables_text(const TpuTables& tables);

nlohmann::ordered_json to_json(const TpuTables& tables);

}  // namespace voxshard
