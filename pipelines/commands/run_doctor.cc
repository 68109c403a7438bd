#include "pipelines/commands/run_doctor.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "io/image/image.h"
#include "io/output/output_file.h"
#include "io/output/output_folder.h"
#include "io/system/machine.h"
#include "libcore/base/cpu.h"
#include "libcore/base/parallel.h"
#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"
#include "libcore/kernels/conv.h"
#include "libcore/kernels/conv_table.h"
#include "libcore/ranks/mpi.h"
#include "libcore/runtime/session.h"
#include "pipelines/profile/measure_host.h"

namespace voxshard {
namespace {

using State = DoctorCheck::State;
using Json = nlohmann::ordered_json;

constexpr std::int64_t kLeastMemoryBytes = std::int64_t{1} << 30;  // the smallest useful model and its data
constexpr std::int64_t kLeastDiskBytes = std::int64_t{5} << 30;    // a small data set, prepared, and a run

std::string known_cpu() {
  const std::string name = cpu_name();
  return name.empty() ? "unknown" : name;
}

/// Returns the reason why the stored measurement does not apply to this processor; empty when it matches the processor
/// and the instruction set in use.
std::string why_unseen(const std::filesystem::path& stored) {
  std::error_code unknown;
  if (!std::filesystem::exists(stored, unknown)) return "nothing is stored of it";
  try {
    const HostRates rates = host_rates_from_json(read_config(stored), stored.string());
    if (rates.cpu == known_cpu() && rates.instruction_set == instruction_set_name(instruction_set())) return "";
    return stored.string() + " is of " + rates.cpu + " with " + rates.instruction_set;
  } catch (const Error&) {  // damaged, of another version, or not such a file: the measurement overwrites or refuses it
    return stored.string() + " does not say of which it is";
  }
}

std::string instruction_sets_text() {
  const std::string in_force = instruction_set_name(instruction_set());
  return joined(instruction_sets(), " ", instruction_set_name) + "; in force: " + in_force +
         (instruction_set() < instruction_sets().back() ? " (VOXSHARD_ISA)" : "") + ", of which oneDNN uses " +
         kernel_instruction_set();
}

DoctorCheck convolutions_check(const SelfCheck& check, const std::string& unseen) {
  return {"convolutions", check.differ.empty() ? State::kOk : State::kWarning,
          (unseen.empty() ? ""
                          : "this processor with " + std::string(instruction_set_name(instruction_set())) +
                                " was not seen before (" + unseen + "), self-check of all kernels: ") +
              text_of(check)};
}

/// Whether OpenCV's codecs, which no command loads before its first picture, are here.
DoctorCheck pictures_check() {
  try {
    load_codecs();
    return {"pictures", State::kOk, "read and written"};
  } catch (const Error& error) {
    return {"pictures", State::kWarning, error.what()};
  }
}

std::vector<DoctorCheck> check_machine(const MachineFacts& facts, const DoctorOptions& options,
                                       const DoctorReport& report) {
  std::vector<DoctorCheck> checks;
  auto add = [&](const char* name, State state, const std::string& text) { checks.push_back({name, state, text}); };
  const bool avx2 = cpu_runs_kernels();
  add("processor", avx2 ? State::kOk : State::kFailed,
      known_cpu() + ": " + joined(cpu_features(), " ") +
          (avx2 ? "" : "; AVX2 and FMA are needed (x86-64 since about 2013)"));
  add("instruction sets", State::kOk, instruction_sets_text());
  add("bf16", State::kOk,
      cpu_has_native_bf16() ? "multiplied natively" : "stored as bf16, multiplied in f32: it saves memory, not time");
  checks.push_back(convolutions_check(report.self_check, report.unseen));
  const int usable = hardware_workers();
  add("workers", options.threads <= usable ? State::kOk : State::kWarning,
      std::to_string(options.threads) + " on " + std::to_string(usable) + " processors that this process may use" +
          (options.threads <= usable
               ? ""
               : "; more workers than processors take turns, use {threads} " + std::to_string(usable)));
  add("mpi", State::kOk,
      built_with_mpi() ? mpi_library() : "none, one process only (Debian: libopenmpi-dev openmpi-bin)");
  const bool roomy = facts.memory_bytes == 0 || facts.memory_bytes >= kLeastMemoryBytes;
  add("memory", roomy ? State::kOk : State::kFailed,
      bytes_text(facts.memory_bytes) + (facts.memory_of.empty() ? "" : " by " + facts.memory_of) + ", " +
          bytes_text(facts.available_bytes) + " available, " + bytes_text(facts.swap_bytes) + " of swap" +
          (roomy ? "" : "; at least " + bytes_text(kLeastMemoryBytes) + " are needed"));
  const bool huge = facts.huge_pages == "always" || facts.huge_pages == "madvise";
  add("huge pages", huge ? State::kOk : State::kWarning,
      facts.huge_pages.empty()
          ? "not offered by this system"
          : facts.huge_pages + (huge ? "" : "; large arenas are slower without: set transparent_hugepage to madvise"));
  checks.push_back(pictures_check());
  const bool space = facts.free_disk_bytes < 0 || facts.free_disk_bytes >= kLeastDiskBytes;
  add("disk", space ? State::kOk : State::kWarning,
      (facts.free_disk_bytes < 0 ? "unknown" : bytes_text(facts.free_disk_bytes) + " free in this folder") +
          (space ? "" : "; prepared data sets and runs may not fit"));
  return checks;
}

void require_valid(const std::vector<DoctorCheck>& checks) {
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
  DoctorReport report{.instruction_sets = instruction_sets(),
                      .instruction_set = instruction_set(),
                      .self_check = self_check(conv_rows(), conv_is_trusted),
                      .unseen = why_unseen(options.output),
                      .output = options.output};
  const MachineFacts facts = machine_facts(".");
  report.checks = check_machine(facts, options, report);
  report.libraries = io_library_versions();
  report.libraries.insert(report.libraries.begin(), {"kernels", kernel_library_version()});
  require_valid(report.checks);
  if (!options.measure) {
    report.seconds = watch.seconds();
    return report;
  }
  const OutputKind measured = {"what voxshard doctor measured", {".json"}, begins_with({R"({"measured_host":true)"})};
  require_output_file(options.output, measured);
  if (!options.output.parent_path().empty()) make_output_folder(options.output.parent_path());
  report.rates = measure_host({.threads = options.threads,
                               .quick = options.quick,
                               .call_seconds = options.call_seconds,
                               .most_flops = options.most_flops},
                              progress);
  report.rates.cpu = known_cpu();
  report.rates.instruction_set = instruction_set_name(instruction_set());
  report.rates.memory_bytes = std::max<std::int64_t>(1, facts.memory_bytes);
  report.rates.how =
      std::string("voxshard ") + VOXSHARD_VERSION + " " + options.command + ", " + kernel_library_version();
  write_json(options.output, to_json(report.rates));
  report.seconds = watch.seconds();
  return report;
}

nlohmann::ordered_json to_json(const DoctorReport& report) {
  Json checks = Json::array(), libraries = Json::object();
  for (const auto& check : report.checks)
    checks.push_back({{"name", check.name}, {"state", state_name(check.state)}, {"text", check.text}});
  for (const auto& [name, version] : report.libraries) libraries[name] = version;
  Json sets = Json::array();
  for (InstructionSet set : report.instruction_sets) sets.push_back(instruction_set_name(set));
  Json json = {{"instruction_sets", sets},
               {"instruction_set", instruction_set_name(report.instruction_set)},
               {"self_check",
                {{"unseen", report.unseen},
                 {"agree", report.self_check.agree},
                 {"differ", report.self_check.differ},
                 {"absent", report.self_check.absent}}},
               {"checks", checks},
               {"libraries", libraries},
               {"seconds", report.seconds}};
  if (!report.rates.tables.empty()) json["output"] = report.output.string(), json["host"] = to_json(report.rates);
  return json;
}

}  // namespace voxshard
