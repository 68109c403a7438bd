// The seam for exchanges: how bytes get from one core to another. In one process it is a copy; a fake in a test may lose
// or change some, MPI will send them.
#pragma once

#include "libcore/tensor/tensor.h"

namespace voxshard {

class Transport {
 public:
  virtual ~Transport() = default;
  /// Begins to copy `src` of core `from` to `dst` of core `to` (equal boxes). Called from several workers at once.
  virtual void start(std::int64_t from, std::int64_t to, const TensorView& src, const TensorView& dst) = 0;
  /// Returns when all that was started has arrived.
  virtual void wait() = 0;
};

class InProcessTransport : public Transport {
 public:
  void start(std::int64_t, std::int64_t, const TensorView& src, const TensorView& dst) override { copy(src, dst); }
  void wait() override {}
};

}  // namespace voxshard
