// A Cloud TPU slice as a device: its cores run a program in lock step while its hosts feed the next step.
//
//   TpuDevice v3(tpu_from_json(json, "tpu-v3.json", "tpu-v3"));
#pragma once

#include "libcore/device/device.h"
#include "libcore/device/tpu/tpu_spec.h"

namespace voxshard {

class TpuDevice final : public Device {
 public:
  explicit TpuDevice(TpuSpec spec) : spec_(std::move(spec)) {}

  const std::string& name() const override { return spec_.name; }
  bool emulated() const override { return true; }
  bool tiled() const override { return true; }
  std::int64_t core_bytes() const override { return spec_.usable_bytes(); }
  std::vector<std::int64_t> slices() const override;
  /// Errors: kConfig when there is no slice of program.mesh().cores() cores.
  StepPrice price(const Program& program, const OpTable& ops, const Feed& feed) const override;
  const TpuSpec* tpu() const override { return &spec_; }

 private:
  TpuSpec spec_;
};

}  // namespace voxshard
