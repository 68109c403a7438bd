// The instruction sets that VOXSHARD_ISA can select for the command.
#pragma once

#include <optional>
#include <vector>

#include "tests/cli/run_voxshard.h"

namespace voxshard {

/// Sets VOXSHARD_ISA for the commands that are started during its lifetime; nullopt: the machine's widest set.
class UseInstructionSet {
 public:
  explicit UseInstructionSet(const std::optional<std::string>& set) {
    if (const char* before = std::getenv(kName)) before_ = before;
    put(set);
  }
  ~UseInstructionSet() { put(before_); }
  UseInstructionSet(const UseInstructionSet&) = delete;
  UseInstructionSet& operator=(const UseInstructionSet&) = delete;

 private:
  static constexpr const char* kName = "VOXSHARD_ISA";
  static void put(const std::optional<std::string>& set) { set ? setenv(kName, set->c_str(), 1) : unsetenv(kName); }
  std::optional<std::string> before_;
};

/// Returns the instruction sets of this machine, the narrowest first.
inline std::vector<std::string> machine_sets() {
  const UseInstructionSet widest(std::nullopt);
  Folder folder("sets");
  return run_voxshard("doctor --check --json -o " + (folder / "host.json")).json().at("instruction_sets");
}

}  // namespace voxshard
