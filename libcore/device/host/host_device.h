// This machine as a device, by the rates that `voxshard doctor` measured: its seconds are wall time, its bytes those of
// a run.
#pragma once

#include "libcore/device/device.h"
#include "libcore/device/host/host_rates.h"

namespace voxshard {

class HostDevice final : public Device {
 public:
  HostDevice(std::string name, HostRates rates) : name_(std::move(name)), rates_(std::move(rates)) {}

  const std::string& name() const override { return name_; }
  bool emulated() const override { return false; }
  bool tiled() const override { return false; }
  std::int64_t core_bytes() const override { return 0; }  // the cores share what the process may take
  /// host_price.h. Errors: kConfig for an op that was not measured.
  StepPrice price(const Program& program, const OpTable& ops, const Feed& feed) const override;

 private:
  std::string name_;
  HostRates rates_;
};

}  // namespace voxshard
