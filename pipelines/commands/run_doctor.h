// `voxshard doctor`: checks that this machine can run voxshard and measures its rates. Writes the device `host`, with
// which
// `--device host` prices plans and steps in wall time.
//
//   DoctorReport r = run_doctor({.output = host_device_path(), .threads = 2}, progress);
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "libcore/base/cpu.h"
#include "libcore/device/host/host_rates.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/profile/self_check.h"

namespace voxshard {

struct DoctorOptions {
  std::filesystem::path output;  // host.json
  int threads = 1;
  bool quick = false;              // a quarter of the time, coarser
  bool measure = true;             // false: nothing is measured or written
  std::string command = "doctor";  // the command line, recorded in the file
  double call_seconds = 8e-4;      // see MeasureOptions; a test takes less
  double most_flops = 2e9;
};

/// The result of one check.
struct DoctorCheck {
  enum class State { kOk, kWarning, kFailed };
  std::string name;
  State state = State::kOk;
  std::string text;  // the finding, and a remedy when it is not good
};

struct DoctorReport {
  std::vector<DoctorCheck> checks;
  std::vector<InstructionSet> instruction_sets;  // supported by the machine
  InstructionSet instruction_set = {};           // in use
  SelfCheck self_check;
  // reason why no measurement applies to this processor and instruction set; empty: the existing file does
  std::string unseen;
  std::vector<std::pair<std::string, std::string>> libraries;
  HostRates rates;  // without tables when nothing was measured
  std::filesystem::path output;
  double seconds = 0;
};

/// Checks, measures, writes. Errors: kConfig when this machine cannot run voxshard (with each failed check; nothing is
/// measured), kOutput.
DoctorReport run_doctor(const DoctorOptions& options, Progress& progress);

/// {"instruction_sets", "instruction_set", "self_check", "checks", "libraries", "seconds"}, and if it measured "output"
/// and "host", the document that was written.
nlohmann::ordered_json to_json(const DoctorReport& report);

}  // namespace voxshard
