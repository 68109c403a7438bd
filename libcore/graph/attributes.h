// The parameters of an op besides its inputs: one small struct per op family, and the variant of them that a node
// holds. An op's row in the table says which struct it takes (OpDef::attributes).
//
//   b.op("conv", {x, w}, ConvAttrs{.window = window, .dtype = DType::kBF16}, "stem");      {} gives an op its defaults
//   const Window& window = attrs_of<ConvAttrs>(op.attrs).window;
//
// each() calls f(name, field) for every field: the text form (text.h) is written and read by it.
#pragma once

#include <variant>
#include <vector>

#include "libcore/kernels/conv_kernel.h"
#include "libcore/kernels/detection_loss.h"
#include "libcore/kernels/loss.h"
#include "libcore/kernels/window.h"
#include "libcore/tensor/dtype.h"

namespace voxshard {

struct NoAttrs {
  static void each(auto&, auto) {}
  friend bool operator==(const NoAttrs&, const NoAttrs&) = default;
};

struct ConvAttrs {
  Window window;
  std::int64_t parts = 1;                     // number of inputs that lie side by side in its channels
  DType dtype = DType::kF32;                  // of the result
  ConvKernel computed_by = ConvKernel::kAny;  // the chosen kernel (OpDef::choose)
  std::int64_t slices = 1;                    // tasks that the output channels are split into (OpDef::slices)
  static void each(auto& a, auto f) {
    f("window", a.window), f("parts", a.parts), f("dtype", a.dtype);
    f("computed_by", a.computed_by), f("slices", a.slices);
  }
  friend bool operator==(const ConvAttrs&, const ConvAttrs&) = default;
};

struct ConvInputGradAttrs {
  Window window;
  Shape shape;                                // of the result
  std::int64_t first_channel = 0;             // the weights' input channel that is the result's channel 0
  DType dtype = DType::kF32;                  // of the result
  ConvKernel computed_by = ConvKernel::kAny;  // the chosen kernel
  std::int64_t slices = 1;                    // tasks that the result's channels are split into
  static void each(auto& a, auto f) {
    f("window", a.window), f("shape", a.shape), f("first_channel", a.first_channel), f("dtype", a.dtype);
    f("computed_by", a.computed_by), f("slices", a.slices);
  }
  friend bool operator==(const ConvInputGradAttrs&, const ConvInputGradAttrs&) = default;
};

struct ConvWeightGradAttrs {
  Window window;
  ConvKernel computed_by = ConvKernel::kAny;  // the chosen kernel
  std::int64_t slices = 1;                    // tasks that the result's channels are split into
  static void each(auto& a, auto f) { f("window", a.window), f("computed_by", a.computed_by), f("slices", a.slices); }
  friend bool operator==(const ConvWeightGradAttrs&, const ConvWeightGradAttrs&) = default;
};

struct PoolAttrs {
  Window window;
  static void each(auto& a, auto f) { f("window", a.window); }
  friend bool operator==(const PoolAttrs&, const PoolAttrs&) = default;
};

struct PoolGradAttrs {
  Window window;
  Shape shape;  // of the result
  static void each(auto& a, auto f) { f("window", a.window), f("shape", a.shape); }
  friend bool operator==(const PoolGradAttrs&, const PoolGradAttrs&) = default;
};

/// Up-sampling and its gradient.
struct ResizeAttrs {
  Dims factor;  // per spatial axis
  Shape shape;  // of the result
  static void each(auto& a, auto f) { f("factor", a.factor), f("shape", a.shape); }
  friend bool operator==(const ResizeAttrs&, const ResizeAttrs&) = default;
};

struct NormAttrs {
  std::int64_t groups = 1;  // of samples that share sums
  std::int64_t batch = 1;   // global N
  double count = 1;         // elements that a group sums over
  double epsilon = 0;
  double slope = 1;           // activation below zero; 1 = none, 0 = ReLU
  DType dtype = DType::kF32;  // of the statistics
  static void each(auto& a, auto f) {
    f("groups", a.groups), f("batch", a.batch), f("count", a.count), f("epsilon", a.epsilon), f("slope", a.slope);
    f("dtype", a.dtype);
  }
  friend bool operator==(const NormAttrs&, const NormAttrs&) = default;
};

struct ColumnAttrs {
  std::int64_t column = 0;
  static void each(auto& a, auto f) { f("column", a.column); }
  friend bool operator==(const ColumnAttrs&, const ColumnAttrs&) = default;
};

struct ActivationAttrs {
  double slope = 1;  // below zero; 1 = none, 0 = ReLU
  static void each(auto& a, auto f) { f("slope", a.slope); }
  friend bool operator==(const ActivationAttrs&, const ActivationAttrs&) = default;
};

struct DropoutAttrs {
  double rate = 0;          // the fraction that becomes zero
  std::int64_t stream = 0;  // random number stream, different for each layer
  static void each(auto& a, auto f) { f("rate", a.rate), f("stream", a.stream); }
  friend bool operator==(const DropoutAttrs&, const DropoutAttrs&) = default;
};

struct ScaleAttrs {
  double by = 1;
  static void each(auto& a, auto f) { f("by", a.by); }
  friend bool operator==(const ScaleAttrs&, const ScaleAttrs&) = default;
};

struct ConvertAttrs {
  DType dtype = DType::kF32;
  static void each(auto& a, auto f) { f("dtype", a.dtype); }
  friend bool operator==(const ConvertAttrs&, const ConvertAttrs&) = default;
};

struct LerpAttrs {
  double momentum = 1;  // the fraction kept of the old value
  static void each(auto& a, auto f) { f("momentum", a.momentum); }
  friend bool operator==(const LerpAttrs&, const LerpAttrs&) = default;
};

struct ConcatAttrs {
  int axis = 0;
  static void each(auto& a, auto f) { f("axis", a.axis); }
  friend bool operator==(const ConcatAttrs&, const ConcatAttrs&) = default;
};

struct SliceAttrs {
  int axis = 0;
  std::int64_t first = 0;  // index along the axis
  Shape shape;             // of the result
  static void each(auto& a, auto f) { f("axis", a.axis), f("first", a.first), f("shape", a.shape); }
  friend bool operator==(const SliceAttrs&, const SliceAttrs&) = default;
};

struct SegmentationAttrs {
  LossKind loss = LossKind::kCrossEntropy;
  std::int64_t groups = 1;           // of samples that share sums
  std::int64_t batch = 1;            // global N
  DType dtype = DType::kF32;         // of the gradient
  double smoothing = 0;              // of labels
  std::vector<double> weights = {};  // of classes; empty: 1 each
  static void each(auto& a, auto f) {
    f("loss", a.loss), f("groups", a.groups), f("batch", a.batch), f("dtype", a.dtype), f("smoothing", a.smoothing);
    f("weights", a.weights);
  }
  friend bool operator==(const SegmentationAttrs&, const SegmentationAttrs&) = default;
};

struct DetectionAttrs {
  std::int64_t groups = 1;      // of samples that share sums
  std::int64_t batch = 1;       // global N
  double box_weight = 1;        // of the box loss
  double alpha = 0, gamma = 0;  // focal loss
  double delta = 0;             // Huber loss
  BoxLossKind box_loss = BoxLossKind::kHuber;
  DType dtype = DType::kF32;  // of the gradients
  static void each(auto& a, auto f) {
    f("groups", a.groups), f("batch", a.batch), f("box_weight", a.box_weight), f("alpha", a.alpha), f("gamma", a.gamma);
    f("delta", a.delta), f("box_loss", a.box_loss), f("dtype", a.dtype);
  }
  friend bool operator==(const DetectionAttrs&, const DetectionAttrs&) = default;
};

using Attributes = std::variant<NoAttrs, ConvAttrs, ConvInputGradAttrs, ConvWeightGradAttrs, PoolAttrs, PoolGradAttrs,
                                ResizeAttrs, NormAttrs, ColumnAttrs, ActivationAttrs, DropoutAttrs, ScaleAttrs,
                                ConvertAttrs, LerpAttrs, ConcatAttrs, SliceAttrs, SegmentationAttrs, DetectionAttrs>;

/// The attributes as those of one family. Errors: kInternal when they belong to another family.
template <class Family>
const Family& attrs_of(const Attributes& attrs) {
  const auto* family = std::get_if<Family>(&attrs);
  ensure(family != nullptr, "an op is given the attributes of its family");
  return *family;
}

/// The kernel chosen for an op of a family with a choice; kAny: no choice, or none made yet.
inline ConvKernel kernel_of(const Attributes& attrs) {
  return std::visit(
      [](const auto& a) {
        if constexpr (requires { a.computed_by; }) return a.computed_by;
        return ConvKernel::kAny;
      },
      attrs);
}

/// The window of an op that has one, else null.
inline const Window* window_of(const Attributes& attrs) {
  return std::visit(
      [](const auto& a) -> const Window* {
        if constexpr (requires { a.window; }) return &a.window;
        return nullptr;
      },
      attrs);
}

}  // namespace voxshard
