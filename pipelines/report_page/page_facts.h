// The facts of a run beside its curves: what made it, its settings, plan, memory, time and data, from run.json,
// plans.json and quarantine.csv. Only what is named here gets into a page, so that no path of a machine and no list of
// training cases does.
//
//   Json facts = page_facts("run");
//   facts["settings"];       // [{"option": "norm", "value": "instance", "layer": "recipe", "reason": "..."}, ...]
//   fact(facts, "/model/partition");      // "1x2x2x1x1"
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace voxshard {

/// Errors: kInput when the folder has no run.json or a file cannot be read; kCheckpoint as read_run_record().
nlohmann::ordered_json page_facts(const std::filesystem::path& run);

/// Returns the value at a JSON pointer as text, a list as "a, b"; empty when there is none.
std::string fact(const nlohmann::ordered_json& facts, const std::string& pointer);
/// Returns the number at a JSON pointer; none when there is none.
std::optional<double> number_fact(const nlohmann::ordered_json& facts, const std::string& pointer);
/// Returns the value at a JSON pointer; null when there is none.
const nlohmann::ordered_json& part_of(const nlohmann::ordered_json& facts, const std::string& pointer);

}  // namespace voxshard
