#include "pipelines/engine/rehearsal.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libcore/base/text.h"
#include "pipelines/model_runs/rank_json.h"

namespace voxshard {

std::string rehearsal_text(const std::vector<PlannedInput>& planned, std::size_t left_out, const std::string& done) {
  std::int64_t most = 0, kept = 0;
  std::size_t refused = 0;
  for (const PlannedInput& one : planned)
    kept += one.kept, most = std::max(most, one.bytes), refused += one.not_written.size();
  return "dry run: " + std::to_string(std::ssize(planned) - kept) + " would be " + done + ", " + std::to_string(kept) +
         " kept, " + std::to_string(left_out) + " left out" +
         (refused == 0 ? "" : ", " + std::to_string(refused) + " outputs beside them not written") + "; at most " +
         bytes_text(most) + " of memory";
}

nlohmann::ordered_json to_json(const std::vector<PlannedInput>& planned) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const PlannedInput& one : planned) {
    json.push_back({{"id", one.id}, {"extents", shape_json(one.extents)}, {"bytes", one.bytes}, {"kept", one.kept}});
    json.back()["seconds"] = one.seconds ? nlohmann::ordered_json(*one.seconds) : nlohmann::ordered_json(nullptr);
    for (const RefusedOutput& refused : one.not_written)
      json.back()["not_written"].push_back(
          {{"output", refused.output}, {"code", refused.code}, {"reason", refused.reason}});
  }
  return json;
}

}  // namespace voxshard
