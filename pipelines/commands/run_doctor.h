// `voxshard doctor`: can this machine run voxshard, and what does it do per second? Writes the device `host`, by which
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
  bool measure = true;             // else nothing is measured or written
  std::string command = "doctor";  // as it was called, for the record in the file
  double call_seconds = 8e-4;      // see MeasureOptions; a test takes less
  double most_flops = 2e9;
};

/// One thing that was looked at.
struct DoctorCheck {
  enum class State { kOk, kWarning, kFailed };
  std::string name;
  State state = State::kOk;
  std::string text;  // what is there, and what to do when that is not well
};

struct DoctorReport {
  std::vector<DoctorCheck> checks;
  std::vector<InstructionSet> instruction_sets;  // of the machine
  InstructionSet instruction_set = {};           // in force
  SelfCheck self_check;
  std::string unseen;  // why nothing is known of this processor and set; empty: the file that is there is of them
  std::vector<std::pair<std::string, std::string>> libraries;
  HostRates rates;  // without tables where nothing was measured
  std::filesystem::path output;
  double seconds = 0;
};

/// Checks, measures, writes. Errors: kConfig when this machine cannot run voxshard (names each failed check; nothing is
/// measured), kOutput.
DoctorReport run_doctor(const DoctorOptions& options, Progress& progress);

/// {"instruction_sets", "instruction_set", "self_check", "checks", "libraries", "seconds"}, and if it measured "output"
/// and "host", the document that was written.
nlohmann::ordered_json to_json(const DoctorReport& report);

}  // namespace voxshard
