// The interface of a kernel: it computes one block of a result from views of the inputs. A kernel is made once with the
// plan, is const afterwards, and is called from several worker threads at once, each with its own workspace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// kReference: naive and obvious, any dtype, double accumulation. kFast: oneDNN and vectorised code, f32 and bf16.
enum class KernelSet { kReference, kFast };

/// The arguments for one block. Views carry global boxes; while planning, data pointers are null and only the geometry
/// counts.
struct KernelCall {
  std::span<const TensorView> inputs;
  TensorView output;
  const std::byte* packed = nullptr;  // the copy that pack() wrote
  std::byte* workspace = nullptr;     // workspace_bytes() of scratch, 64-byte aligned, contents undefined
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  /// The name of the code that runs, for people: "jit:avx2".
  virtual std::string code() const { return "plain loops"; }
  /// The number of codes that it has compiled: a library's are of one shape each, so that parts of a block at its
  /// borders have codes of their own. Known once workspace_bytes() was asked for all blocks.
  virtual std::int64_t programs() const { return 1; }
  /// Bytes of a reordered copy of the weights, which lives from its packing to run(); 0 when the kernel needs none.
  virtual std::int64_t packed_bytes() const { return 0; }
  /// The input that pack() reads, as an index into KernelCall::inputs; it is replicated. -1 when the kernel needs no
  /// copy.
  virtual int packed_input() const { return -1; }
  /// The number of packing tasks, by shapes alone: they write disjoint parts of the copy, in any order.
  virtual std::int64_t pack_tasks() const { return 1; }
  /// Writes one task's part of the reordered copy of that input; all are written before any run().
  virtual void pack(const TensorView& weights, std::byte* packed, std::int64_t task) const {
    (void)weights;
    (void)packed;
    (void)task;
  }
  /// Packs all parts.
  void pack_all(const TensorView& weights, std::byte* packed) const {
    for (std::int64_t task = 0; task < pack_tasks(); ++task) pack(weights, packed, task);
  }
  /// Scratch that run() needs for a block of this geometry. May build and cache library primitives.
  virtual std::int64_t workspace_bytes(const KernelCall& call) const {
    (void)call;
    return 0;
  }
  virtual void run(const KernelCall& call) const = 0;
};

/// A kernel that is one function without scratch.
class FunctionKernel : public Kernel {
 public:
  explicit FunctionKernel(std::function<void(const KernelCall&)> body) : body_(std::move(body)) {}
  void run(const KernelCall& call) const override { body_(call); }

 private:
  std::function<void(const KernelCall&)> body_;
};

}  // namespace voxshard
