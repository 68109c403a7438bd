// A kernel with a planted fault: it runs the real kernel and damages one of its inputs or its result.
//
//   DamagedKernel wrong(std::move(real), {.written = [](const TensorView& block) { scale(block, channel, 1.01); }});
//   DamagedKernel deaf(std::move(real), {.read = 1, .before = [](const TensorView& w) { fill_zero(w.sub(tap)); }});
//
// Made by the faults of fault.h, bound by a scene (fault_scene.h) or handed in as the kernel of an op table.
#pragma once

#include "libcore/kernels/kernel.h"

namespace voxshard::test {

struct Damage {
  std::function<void(const TensorView& block)> written = {};  // damages a block (global coordinates) after its run
  int read = -1;                                              // the input of which the kernel is given a damaged copy
  std::function<void(const TensorView& copy)> before = {};    // damages that copy
};

class DamagedKernel : public Kernel {
 public:
  DamagedKernel(std::shared_ptr<const Kernel> real, Damage damage)
      : real_(std::move(real)), damage_(std::move(damage)) {}

  std::string code() const override { return real_->code(); }
  std::int64_t packed_bytes() const override { return real_->packed_bytes(); }
  int packed_input() const override { return real_->packed_input(); }
  std::int64_t pack_tasks() const override { return real_->pack_tasks(); }
  std::int64_t workspace_bytes(const KernelCall& call) const override { return real_->workspace_bytes(call); }
  void pack(const TensorView& weights, std::byte* packed, std::int64_t task) const override;
  void run(const KernelCall& call) const override;

 private:
  std::shared_ptr<const Kernel> real_;
  Damage damage_;
};

}  // namespace voxshard::test
