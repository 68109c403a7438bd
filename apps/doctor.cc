// voxshard doctor: checks the machine and measures it for --device host.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/command.h"
#include "apps/terminal/flags.h"
#include "apps/terminal/progress.h"
#include "libcore/base/text.h"
#include "pipelines/commands/run_doctor.h"
#include "pipelines/profile/device_files.h"

namespace voxshard {
namespace {

struct Options {
  std::string output;
  bool quick = false, check = false;
};

std::string rate_text(double value, const std::string& unit) {
  if (unit == "flop/s") return fixed_text(value * 1e-9, 1) + " GFLOP/s";
  if (unit == "byte/s") return fixed_text(value * 1e-9, 2) + " GB/s";
  return fixed_text(value * 1e-6, 0) + " M elements/s";
}

/// One row per table: the range over channels and sizes.
std::string rates_text(const HostRates& rates) {
  std::vector<std::vector<std::string>> rows = {{"work", "stored", "window", "slowest", "median", "fastest"}};
  for (const RateTable& t : rates.tables) {
    std::vector<double> sorted = t.values;
    std::sort(sorted.begin(), sorted.end());
    const std::string window =
        t.window.taps == 0 ? "" : std::to_string(t.window.taps) + " taps" + (t.window.patch ? ", patches" : "");
    rows.push_back({t.op, dtype_name(t.stored), window, rate_text(sorted.front(), t.unit),
                    rate_text(sorted[sorted.size() / 2], t.unit), rate_text(sorted.back(), t.unit)});
  }
  return text_table(rows);
}

std::string report_text(const DoctorReport& r) {
  std::string text;
  for (const auto& check : r.checks)
    text += (check.state == DoctorCheck::State::kOk        ? "ok       "
             : check.state == DoctorCheck::State::kWarning ? "WARNING  "
                                                           : "FAILED   ") +
            check.name + ": " + check.text + "\n";
  text += "libraries:";
  for (const auto& [name, version] : r.libraries) text += (name == "kernels" ? " " : ", " + name + " ") + version;
  if (r.rates.tables.empty()) return text + "\n";
  text += "\n\nOne worker while all " + std::to_string(r.rates.threads) + " work, over channels and sizes:\n" +
          rates_text(r.rates);
  text += "a task " + fixed_text(r.rates.task_s * 1e6, 1) + " us, a barrier " + fixed_text(r.rates.barrier_s * 1e6, 1) +
          " us; a worker alone is " + fixed_text(r.rates.alone_compute, 2) + " (arithmetic) and " +
          fixed_text(r.rates.alone_memory, 2) + " (memory) times as fast\n";
  return text + "measured in " + duration_text(r.seconds) + ", written to " + r.output.string() +
         ": use it as --device host\n";
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("-o,--output", o->output,
                 "File to write; default: where --device host looks ($VOXSHARD_HOST_DEVICE, else voxshard/host.json in "
                 "$XDG_CONFIG_HOME or ~/.config)");
  app.add_flag("--quick", o->quick, "A quarter of a minute instead of a minute, coarser");
  app.add_flag("--check", o->check, "Looks at the machine and its kernels only; nothing is measured or written")
      ->excludes("--quick");
  return [o](const Context& context) {
    const DoctorOptions options{.output = o->output.empty() ? host_device_path() : std::filesystem::path(o->output),
                                .threads = context.threads,
                                .quick = o->quick,
                                .measure = !o->check,
                                .command = o->quick ? "doctor --quick" : "doctor"};
    DoctorReport report = run_doctor(options, *context.progress);
    for (auto& check : report.checks) check.text = with_flags(check.text);
    return Outcome{.json = to_json(report),
                   .text = report_text(report),
                   .next = o->check ? std::vector<std::string>{"doctor", "--quick"}
                                    : std::vector<std::string>{"plan", "--size", "64x64x64", "--device",
                                                               o->output.empty() ? "host" : o->output}};
  };
}

}  // namespace

Command doctor_command() {
  return {"doctor", "Checks that this machine can run voxshard and measures what it does, for --device host.",
          "voxshard doctor --quick", add};
}

}  // namespace voxshard
