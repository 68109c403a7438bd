// What a process takes at its widest moment, by what takes it: the one table that is planned from headers and graphs
// before anything is allocated, asked by the gate, printed by a refusal, and set beside the measured peak in the
// report.
//
//   ProcessPlan plan = base_plan(resident_bytes());
//   plan += plan_of(executable.bytes);                      // arenas, weights, optimizer, ...
//   plan = widest(plan, {{MemoryPart::kReading, 960 << 20}});   // one moment after another: the widest counts
//   memory_report(plan, peak_resident_bytes()).text;        // "memory: 1.2 GiB planned (...), 1.1 GiB resident at the
//   peak"
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

#include "libcore/memory/footprint.h"

namespace voxshard {

enum class MemoryPart : std::uint8_t {
  kBase,        // program and libraries as they start
  kLibraries,   // what libraries loaded at their first use, and lists of the data: measured when the plan is made
  kArenas,      // of all cores in this process
  kWeights,     // parameters and states
  kGradients,   // and other replicated results: converted weights, statistics
  kOptimizer,   // what the optimizer keeps for each parameter
  kPacked,      // weights in the order of the kernels
  kWorkspaces,  // scratch of the workers, messages to other ranks
  kPlans,       // graphs, programs and compiled kernels of the sizes that are kept
  kReading,     // files: what they hold as it is decoded, and as volumes or images
  kResampling,  // volumes on other grids, turned or normalised
  kFeeding,     // samples on their way to the cores, mapped pages of their files
  kTargets,     // what samples should become
  kResults,     // label maps and detections on their way back and to the disk
  kMetrics,     // references and masks that results are counted against
  kCheckpoint,  // a checkpoint that is restored
};
inline constexpr std::size_t kMemoryParts = static_cast<std::size_t>(MemoryPart::kCheckpoint) + 1;

class ProcessPlan {
 public:
  ProcessPlan() = default;
  ProcessPlan(std::initializer_list<std::pair<MemoryPart, std::int64_t>> parts) {
    for (const auto& [part, bytes] : parts) (*this)[part] += bytes;
  }

  std::int64_t& operator[](MemoryPart part) { return bytes_[static_cast<std::size_t>(part)]; }
  std::int64_t operator[](MemoryPart part) const { return bytes_[static_cast<std::size_t>(part)]; }
  /// At most 2^62, as each part is.
  std::int64_t total() const;
  ProcessPlan& operator+=(const ProcessPlan& other);
  ProcessPlan& operator-=(const ProcessPlan& other);
  friend ProcessPlan operator+(ProcessPlan a, const ProcessPlan& b) { return a += b; }
  bool operator==(const ProcessPlan&) const = default;

 private:
  std::array<std::int64_t, kMemoryParts> bytes_{};
};

/// Of moments that follow each other the one that takes most.
ProcessPlan widest(const ProcessPlan& a, const ProcessPlan& b);

/// Bytes as a part; what a header promises beyond 2^62 stays there.
std::int64_t planned_bytes(double bytes);

/// A process that has done nothing but load.
inline ProcessPlan base_plan(std::int64_t resident_bytes) { return {{MemoryPart::kBase, resident_bytes}}; }
/// What is resident when a plan is made beyond what is planned of it: code and tables that libraries load when they are
/// first used (kernels are compiled to be planned, codecs are loaded before), and lists of the data. `held`: what of
/// the plan is there already. Nothing where its base is 0, nobody having measured it.
ProcessPlan libraries_plan(std::int64_t resident_bytes, const ProcessPlan& held);
/// What the core set of an executable and its parameters take.
ProcessPlan plan_of(const Footprint& bytes);

/// What is left for a case of a process that may take `most` bytes and holds `held`; 0 for no limit stays 0, and less
/// than a byte is 1.
std::int64_t left_of(std::int64_t most_bytes, std::int64_t held_bytes);

/// How much of the plans of all sizes is kept when the largest takes `largest` bytes, all `all`, and `room` is left
/// beside what else the process takes (0: no limit): all of them up to 64 MiB and the room, but always the largest.
std::int64_t kept_plans_bytes(std::int64_t largest, std::int64_t all, std::int64_t room);

/// "412.0 MiB (arenas 300.0 MiB, program and libraries 78.0 MiB, ...)": the widest parts first.
std::string to_text(const ProcessPlan& plan);

/// For the end of a command, and for its JSON: "planned_bytes", "planned" by part, "peak_resident_bytes",
/// "budget_bytes", and "warning" {"code", "message"} for a peak over the budget.
///   budget_bytes  of the process; 0: no limit
struct ProcessReport {
  ProcessPlan plan;
  std::int64_t peak_resident_bytes = 0;
  std::int64_t budget_bytes = 0;

  /// W_PEAK, with what it took and what to do, where the peak is over the budget.
  std::optional<std::string> warning() const;
};
nlohmann::ordered_json to_json(const ProcessReport& report);
/// "memory: 412.0 MiB planned (...), 398.0 MiB resident at the peak\n"
std::string to_text(const ProcessReport& report);

/// Refuses a plan over `most_bytes` (0: no limit). `what` takes it; `fits` says what would fit.
/// Errors: `kind` E_BUDGET with the table.
void require_fits(const ProcessPlan& plan, std::int64_t most_bytes, ErrorKind kind, const std::string& what,
                  const std::string& fits);

}  // namespace voxshard
