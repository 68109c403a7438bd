// The planned peak memory of a process, split by use. It is computed from headers and graphs before anything is
// allocated. The memory check compares it with the budget, its error message prints it, and the report shows it beside
// the measured peak.
//
//   ProcessPlan plan = base_plan(resident_bytes());
//   plan += plan_of(executable.bytes);                      // arenas, weights, optimizer, ...
//   plan = widest(plan, {{MemoryPart::kReading, 960 << 20}});   // phases run one after another: the largest counts
//   memory_report(plan, peak_resident_bytes()).text;        // "memory: 1.2 GiB planned, 1.1 GiB resident at the
//   peak"
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

#include "libcore/memory/footprint.h"

namespace voxshard {

enum class MemoryPart : std::uint8_t {
  kBase,        // program and libraries as they start
  kLibraries,   // memory that libraries take at their first use, and lists of the data: measured when the plan is made
  kArenas,      // arenas of all cores in this process
  kWeights,     // parameters and states
  kGradients,   // gradients and other replicated results: converted weights, statistics
  kOptimizer,   // optimizer state for each parameter
  kPacked,      // weights in the order of the kernels
  kWorkspaces,  // scratch of the workers, messages to other ranks
  kPlans,       // graphs, programs and compiled kernels of the sizes that are kept
  kReading,     // contents of files: as they are decoded, and as volumes or images
  kResampling,  // volumes on other grids, turned or normalised
  kFeeding,     // samples on their way to the cores, mapped pages of their files
  kTargets,     // training targets of the samples
  kResults,     // label maps and detections on their way back and to the disk
  kMetrics,     // references and masks for scoring the results
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
  /// Sum of the parts, at most 2^62, as is each part.
  std::int64_t total() const;
  ProcessPlan& operator+=(const ProcessPlan& other);
  ProcessPlan& operator-=(const ProcessPlan& other);
  friend ProcessPlan operator+(ProcessPlan a, const ProcessPlan& b) { return a += b; }
  bool operator==(const ProcessPlan&) const = default;

 private:
  std::array<std::int64_t, kMemoryParts> bytes_{};
};

/// Returns the larger of two plans, for phases that run one after another.
ProcessPlan widest(const ProcessPlan& a, const ProcessPlan& b);

/// Returns bytes as a part of a plan, limited to 2^62 (headers may claim more).
std::int64_t planned_bytes(double bytes);

/// Returns the bytes of memory that it takes to parse a JSON file, 6 per byte: its text, the nlohmann document and the
/// values. Measured: 4.2 on 48 MB of COCO annotations and results, 5.1 on 9 MB of class predictions with the data set
/// beside them. 0 when there is no such file: the reader reports that.
double json_bytes(const std::filesystem::path& file);

/// Returns the plan of a process that was only started.
inline ProcessPlan base_plan(std::int64_t resident_bytes) { return {{MemoryPart::kBase, resident_bytes}}; }
/// Returns the resident memory that no other part of the plan covers: code and tables that libraries load at their
/// first use (planning compiles kernels, codecs are loaded before), and lists of the data. `held`: the part of the plan
/// that is already allocated. Empty when the base of `held` is 0, which means not measured.
ProcessPlan libraries_plan(std::int64_t resident_bytes, const ProcessPlan& held);
/// Returns the memory of the core set of an executable and its parameters.
ProcessPlan plan_of(const Footprint& bytes);

/// Returns the bytes left for a case in a process that may take `most_bytes` and already holds `held_bytes`, at least
/// 1; 0 (no limit) stays 0.
std::int64_t left_of(std::int64_t most_bytes, std::int64_t held_bytes);

/// Returns the bytes of plans to keep, when the plan of the largest size takes `largest` bytes and those of all sizes
/// take `all`. `room`: memory that the rest of the process leaves; 0: no limit. Plans are kept up to 64 MiB and `room`,
/// but always the largest one.
std::int64_t kept_plans_bytes(std::int64_t largest, std::int64_t all, std::int64_t room);

/// "412.0 MiB (arenas 300.0 MiB, program and libraries 78.0 MiB, ...)": the widest parts first.
std::string to_text(const ProcessPlan& plan);

/// The memory report at the end of a command. In JSON: "planned_bytes", "planned" by part, "peak_resident_bytes",
/// "budget_bytes", and "warning" {"code", "message"} for a peak over the budget.
///   budget_bytes  of the process; 0: no limit
struct ProcessReport {
  ProcessPlan plan;
  std::int64_t peak_resident_bytes = 0;
  std::int64_t budget_bytes = 0;

  /// Returns W_PEAK with the peak and advice when the peak is over the budget; else none.
  std::optional<std::string> warning() const;
};
nlohmann::ordered_json to_json(const ProcessReport& report);
/// "memory: 412.0 MiB planned, 398.0 MiB resident at the peak\n"
std::string to_text(const ProcessReport& report);

/// Finds a {host-memory} that would do.
///   returns  bytes; none: no {host-memory} would
using WouldDo = std::function<std::optional<std::int64_t>()>;

/// Refuses a plan over `most_bytes` (0: no limit). `what` names the user of the memory; `fits` says what would fit, and
/// is empty where nothing would. The text also names the {host-memory} that would do: of a plan with a base its own
/// bytes, of one beside the base what is lacking, or what `would_do` finds for a plan that would itself be another one
/// within more memory. Errors: `kind` E_BUDGET with the table.
void require_fits(const ProcessPlan& plan, std::int64_t most_bytes, ErrorKind kind, const std::string& what,
                  const std::string& fits, const WouldDo& would_do = {});

/// By how many bytes the measured parts of a plan, its base and its libraries, differ from run to run.
inline constexpr std::int64_t kMeasuredDiffer = std::int64_t{8} << 20;

/// Returns a budget, in bytes and whole MiB, within which a process is planned that is refused within `from_bytes`:
/// what is planned may grow with its budget, so that the bytes of a plan alone need not do.
///   needed  returns the bytes of the plan that is made within a budget, also of one over it; none where there is none
///   returns none when nothing is planned within any budget
std::optional<std::int64_t> budget_that_does(
    std::int64_t from_bytes, const std::function<std::optional<std::int64_t>(std::int64_t budget_bytes)>& needed);

}  // namespace voxshard
