// The table of `voxshard bench tpu-tables` for people and for scripts: a line per published row, what was corrected in
// it, the fitted constants, the rows under other assumptions, and what is left unexplained.
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
