#include "pipelines/commands/run_doctor.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "io/files/output_file.h"
#include "io/files/output_folder.h"
#include "io/system/machine.h"
#include "libcore/base/cpu.h"
#include "libcore/base/parallel.h"
#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"
#include "libcore/kernels/conv.h"
#include "libcore/kernels/conv_table.h"
#include "libcore/runtime/mpi.h"
#include "libcore/runtime/session.h"
#include "pipelines/profile/measure_host.h"

namespace voxshard {
namespace {

using State = DoctorCheck::State;
using Json = nlohmann::ordered_json;

constexpr std::int64_t kLeastMemoryBytes = std::int64_t{1} << 30;   // the smallest useful model and its data
constexpr std::int64_t kLeastDiskBytes = std::int64_t{5} << 30;     // a small data set, prepared, and a run

std::string known_cpu() {
  const std::string name = cpu_name();
  return name.empty() ? "unknown" : name;
}

std::vector<DoctorCheck> check_machine(const MachineFacts& facts, const DoctorOptions& options) {
  std::vector<DoctorCheck> checks;
  auto add = [&](const char* name, State state, const std::string& text) { checks.push_back({name, state, text}); };
  const bool avx2 = cpu_runs_kernels();
  add("processor", avx2 ? State::kOk : State::kFailed,
      known_cpu() + ": " + joined(cpu_features(), " ") +
          (avx2 ? "" : "; AVX2 and FMA are needed (x86-64 since about 2013)"));
  add("bf16", State::kOk,
      cpu_has_native_bf16() ? "multiplied natively" : "stored as bf16, multiplied in f32: it saves memory, not time");
  std::set<std::string> differing;
  for (const ConvRow& row : conv_rows())
    if (!conv_is_trusted(row)) differing.insert(kConvKernelNames[static_cast<std::size_t>(row.kernel)]);
  add("convolutions", differing.empty() ? State::kOk : State::kWarning,
      differing.empty() ? "every kernel computes a small case as the reference does"
                        : "not used, because they compute a small case otherwise than the reference: " + joined(differing, ", "));
  const int usable = hardware_workers();
  add("workers", options.threads <= usable ? State::kOk : State::kWarning,
      std::to_string(options.threads) + " on " + std::to_string(usable) + " processors that this process may use" +
          (options.threads <= usable ? "" : "; more workers than processors take turns, use {threads} " + std::to_string(usable)));
  add("mpi", State::kOk, built_with_mpi() ? mpi_library() : "none, one process only (Debian: libopenmpi-dev openmpi-bin)");
  const bool roomy = facts.memory_bytes == 0 || facts.memory_bytes >= kLeastMemoryBytes;
  add("memory", roomy ? State::kOk : State::kFailed,
      bytes_text(facts.memory_bytes) + (facts.memory_of.empty() ? "" : " by " + facts.memory_of) + ", " + bytes_text(facts.available_bytes) + " available, " +
          bytes_text(facts.swap_bytes) + " of swap" + (roomy ? "" : "; at least " + bytes_text(kLeastMemoryBytes) + " are needed"));
  const bool huge = facts.huge_pages == "always" || facts.huge_pages == "madvise";
  add("huge pages", huge ? State::kOk : State::kWarning,
      facts.huge_pages.empty() ? "not offered by this system"
                               : facts.huge_pages + (huge ? "" : "; large arenas are slower without: set transparent_hugepage to madvise"));
  const bool space = facts.free_disk_bytes < 0 || facts.free_disk_bytes >= kLeastDiskBytes;
  add("disk", space ? State::kOk : State::kWarning,
      (facts.free_disk_bytes < 0 ? "unknown" : bytes_text(facts.free_disk_bytes) + " free in this folder") +
          (space ? "" : "; prepared data sets and runs may not fit"));
  return checks;
}

void require_sound(const std::vector<DoctorCheck>& checks) {
  std::string failed;
  for (const auto& check : checks)
    if (check.state == State::kFailed) failed += (failed.empty() ? "" : "; ") + check.name + ": " + check.text;
  if (!failed.empty()) throw Error(ErrorKind::kConfig, "[doctor] this machine cannot run voxshard: " + failed);
}

const char* state_name(State state) {
  return state == State::kOk ? "ok" : state == State::kWarning ? "warning" : "failed";
}

}  // namespace

DoctorReport run_doctor(const DoctorOptions& options, Progress& progress) {
  const Stopwatch watch;
  DoctorReport report{.output = options.output};
  const MachineFacts facts = machine_facts(".");
  report.checks = check_machine(facts, options);
  report.libraries = io_library_versions();
  report.libraries.insert(report.libraries.begin(), {"kernels", kernel_library_version()});
  require_sound(report.checks);
  const OutputKind measured = {"what voxshard doctor measured", {".json"}, begins_with({R"({"measured_host":true)"})};
  require_output_file(options.output, measured);
  if (!options.output.parent_path().empty()) make_output_folder(options.output.parent_path());
  report.rates = measure_host({.threads = options.threads,
                               .quick = options.quick,
                               .call_seconds = options.call_seconds,
                               .most_flops = options.most_flops},
                              progress);
  report.rates.cpu = known_cpu();
  report.rates.memory_bytes = std::max<std::int64_t>(1, facts.memory_bytes);
  report.rates.how = std::string("voxshard ") + VOXSHARD_VERSION + " " + options.command + ", " +
                     kernel_library_version();
  write_json(options.output, to_json(report.rates));
  report.seconds = watch.seconds();
  return report;
}

nlohmann::ordered_json to_json(const DoctorReport& report) {
  Json checks = Json::array(), libraries = Json::object();
  for (const auto& check : report.checks)
    checks.push_back({{"name", check.name}, {"state", state_name(check.state)}, {"text", check.text}});
  for (const auto& [name, version] : report.libraries) libraries[name] = version;
  return {{"checks", checks},
          {"libraries", libraries},
          {"output", report.output.string()},
          {"seconds", report.seconds},
          {"host", to_json(report.rates)}};
}

}  // namespace voxshard
